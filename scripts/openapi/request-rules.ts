/**
 * What openapi.yaml says of requests and nothing else: no responses, no texts, no examples, and every reference replaced
 * by what it names. The validator reads the whole document again for each operation that is called first.
 */

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
  const of = (value: Json) => (value === undefined ? {} : value);
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
  const rules = Object.entries(of(paths) as Readonly<Record<string, JsonObject>>).map(([path, item]) => {
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
    const named = rulesOf(at(description, reference), description, [...within, reference]);
    return { ...(named as JsonObject), ...(rulesOf(others, description, within) as JsonObject) };
  }
  const entries = Object.entries(others)
    .filter(([key]) => !FOR_READERS.has(key) && !key.startsWith('x-'))
    .map(([key, entry]) => {
      if (DATA.has(key)) return [key, entry];
      if (!NAMED.has(key)) return [key, rulesOf(entry, description, within)];
      const named = Object.entries(entry as JsonObject);
      return [
        key,
        Object.fromEntries(named.map(([name, each]) => [name, rulesOf(each, description, within)])),
      ];
    });
  return Object.fromEntries(entries);
}

/** Returns what a reference such as `#/components/schemas/Name` names. */
function at(description: JsonObject, reference: string): Json {
  const found = reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<Json>(
      (inside, name) => (inside as JsonObject | undefined)?.[name.replaceAll('~1', '/')],
      description,
    );
  if (found === undefined) throw new Error(`openapi.yaml has no ${reference}`);
  return found;
}
