import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DESCRIPTION_FILE = fileURLToPath(new URL('../../schemas/description.yaml', import.meta.url));
const PREFIX = '#/components/schemas/';

/** Returns the description of the API, as the service serves it at /openapi.yaml. */
export function descriptionText(): string {
  return readFileSync(DESCRIPTION_FILE, 'utf8');
}

type Schemas = Readonly<Record<string, unknown>>;

/** Reads the schemas of the description, by name: `KYC`, `KYC.FULL_USER.2.3.8`. */
export async function readSchemas(): Promise<Schemas> {
  const { parse } = await import('yaml');
  return parse(descriptionText()).components.schemas;
}

/**
 * Returns a schema of the description as a JSON Schema of its own (draft 2020-12): the schemas that it refers to are in
 * `$defs`.
 */
export function schemaOf(name: string, schemas: Schemas): object {
  const defs: Record<string, unknown> = {};
  const own = bundled(schemas[name], schemas, defs);
  const hasDefs = Object.keys(defs).length > 0;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    ...(own as object),
    ...(hasDefs ? { $defs: defs } : {}),
  };
}

/** Returns a copy whose references point to `$defs`, and adds what they name there. */
function bundled(value: unknown, schemas: Schemas, defs: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => bundled(item, schemas, defs));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    if (key === '$ref' && typeof item === 'string' && item.startsWith(PREFIX)) {
      const name = item.slice(PREFIX.length);
      if (!Object.hasOwn(defs, name)) {
        // Before its contents: schemas may refer to each other.
        defs[name] = {};
        defs[name] = bundled(schemas[name], schemas, defs);
      }
      return [key, `#/$defs/${name}`];
    }
    // A discriminator is OpenAPI's, and its mapping has references too.
    return key === 'discriminator' ? [] : [key, bundled(item, schemas, defs)];
  });
  return Object.fromEntries(entries.filter((entry) => entry.length > 0));
}
