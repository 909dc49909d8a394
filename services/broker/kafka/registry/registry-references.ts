import { RegisteredSchema, TEXT_CHARACTERS_MAX } from '../../../codec/written/written-schema.ts';

/** The registry reports that it lacks a schema, or one that the schema refers to. */
export class MissingSchema {
  /** A clause such as `the registry has no schema 7`. */
  readonly detail: string;

  constructor(detail: string) {
    this.detail = detail;
  }
}

/** The registry's response with a schema. */
export interface SchemaAnswer {
  readonly schema: string;
  /** Absent = Avro. */
  readonly schemaType?: unknown;
  readonly references?: unknown;
}

interface Reference {
  readonly subject: string;
  readonly version: number;
}

/** A schema that refers to more is refused: each is a request while records wait. */
const REFERENCES_MAX = 32;
const DEPTH_MAX = 8;

type Ask = (reference: Reference) => Promise<SchemaAnswer | undefined>;

/** Returns the schema with all that it refers to, directly or through others. Rejects as `ask` does. */
export async function withReferences(
  id: number,
  { schema, schemaType, references }: SchemaAnswer,
  ask: Ask,
): Promise<RegisteredSchema | MissingSchema> {
  const format = typeof schemaType === 'string' ? schemaType : 'AVRO';
  if (format !== 'AVRO') return new RegisteredSchema(schema, [], format);
  const found = new Map<string, string>();
  let characters = schema.length;
  /** Returns why the schema cannot be used; undefined = it can. */
  const collect = async (wanted: unknown, depth: number): Promise<MissingSchema | string | undefined> => {
    for (const reference of referencesIn(wanted)) {
      const name = `version ${reference.version} of the subject ${reference.subject}`;
      if (found.has(name)) continue;
      if (depth > DEPTH_MAX) return `its references are nested deeper than ${DEPTH_MAX}`;
      if (found.size === REFERENCES_MAX) return `it refers to more than ${REFERENCES_MAX} schemas`;
      const answer = await ask(reference);
      if (answer === undefined) {
        return new MissingSchema(`the registry has no ${name}, to which schema ${id} refers`);
      }
      characters += answer.schema.length;
      if (characters > TEXT_CHARACTERS_MAX)
        return `it has more than ${TEXT_CHARACTERS_MAX} characters with its references`;
      // Its place among the others: after those that it needs.
      found.set(name, answer.schema);
      const fault = await collect(answer.references, depth + 1);
      if (fault !== undefined) return fault;
      found.delete(name);
      found.set(name, answer.schema);
    }
    return undefined;
  };
  const fault = await collect(references, 1);
  if (fault instanceof MissingSchema) return fault;
  return new RegisteredSchema(schema, [...found.values()], format, fault);
}

function referencesIn(wanted: unknown): readonly Reference[] {
  if (!Array.isArray(wanted)) return [];
  return wanted.filter(
    (each): each is Reference => typeof each?.subject === 'string' && Number.isSafeInteger(each.version),
  );
}
