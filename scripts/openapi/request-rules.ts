/**
 * Cuts openapi.yaml down to the rules for requests: no responses, no texts, no examples, and every reference replaced by
 * what it names. The validator reads the whole document again at the first request of each operation.
 */
import { named } from './references.ts';

type Json = unknown;
interface JsonObject {
  readonly [key: string]: Json;
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;
/** Keywords of schemas, parameters and media types that are for readers. */
const FOR_READERS: ReadonlySet<string> = new Set([
  'title',
  'summary',
  'description',
  'example',
  'examples',
  'externalDocs',
  'deprecated',
]);
/** Their keys are names that the API gave, not keywords. */
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'content']);
/** Their values are data. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default']);

/** Returns the document that validates requests as `description` does. Throws for a schema that contains itself. */
export function requestRules(description: JsonObject): JsonObject {
  const { openapi, info, servers, paths } = description;
  const operationOf = (operation: JsonObject, shared: Json): JsonObject => {
    const parameters = [...listOf(shared), ...listOf(operation.parameters)];
    return {
      ...(parameters.length > 0 && { parameters: rulesOf(parameters, description) }),
      ...(operation.requestBody !== undefined && {
        requestBody: rulesOf(operation.requestBody, description),
      }),
      responses: {},
    };
  };
  const rules = Object.entries(paths as Readonly<Record<string, JsonObject>>).map(([path, item]) => {
    const operations = METHODS.filter((method) => item[method] !== undefined).map((method) => [
      method,
      operationOf(item[method] as JsonObject, item.parameters),
    ]);
    return [path, Object.fromEntries(operations)];
  });
  return {
    openapi,
    info: { ...(info as JsonObject), description: '' },
    servers,
    paths: Object.fromEntries(rules),
  };
}

function listOf(value: Json): readonly Json[] {
  return (value as readonly Json[] | undefined) ?? [];
}

function rulesOf(value: Json, description: JsonObject, within: readonly string[] = []): Json {
  if (Array.isArray(value)) return value.map((each) => rulesOf(each, description, within));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: reference, ...others } = value as JsonObject;
  if (typeof reference === 'string') {
    if (within.includes(reference))
      throw new Error(`${reference} contains itself: the validator cannot have it inlined`);
    const target = named(description, reference, 'openapi.yaml') as JsonObject;
    return rulesOf({ ...target, ...others }, description, [...within, reference]);
  }
  const entries = Object.entries(others)
    .filter(([key]) => !FOR_READERS.has(key) && !key.startsWith('x-'))
    .map(([key, entry]) => {
      if (DATA.has(key)) return [key, entry];
      if (!NAMED.has(key)) return [key, rulesOf(entry, description, within)];
      const rules = Object.entries(entry as JsonObject).map(([name, each]) => [
        name,
        rulesOf(each, description, within),
      ]);
      return [key, Object.fromEntries(rules)];
    });
  return Object.fromEntries(entries);
}
