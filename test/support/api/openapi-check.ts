import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { named } from '../../../scripts/openapi/references.ts';
import { DESCRIPTION_FILE } from '../../../services/api/description.ts';
import { ERROR_CODES } from '../../../services/api/error-codes.ts';

interface Described {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: object;
  readonly headers?: Record<string, Described>;
  readonly content?: Record<string, { readonly schema?: object }>;
  readonly 'x-codes'?: readonly string[];
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly responses: Record<string, Described>;
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly 'x-scope'?: string;
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Record<string, { readonly examples?: Record<string, Described & { value?: unknown }> }>;
  };
}

/** The OpenAPI description as the API serves it, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape; tests read the fields they expect.
export const openapi: any = parse(readFileSync(DESCRIPTION_FILE, 'utf8'));

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...openapi, $id: 'openapi' });
const compiled = new Map<string, ValidateFunction>();

/** The paths of the description as patterns. */
const PATHS = Object.keys(openapi.paths).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

export interface CheckedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Headers that HTTP and helmet add to any response, and the one that the description documents globally. */
const GENERAL_HEADERS = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'keep-alive',
  'origin-agent-cluster',
  'referrer-policy',
  'transfer-encoding',
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
]);

/**
 * Throws when a response differs from its operation in openapi.yaml: status, media type, headers, body, error code.
 */
export function checkResponse(method: string, path: string, response: CheckedResponse): void {
  const where = `${method} ${path} → ${response.status}`;
  const pathname = path.split('?')[0] ?? '';
  const template = PATHS.find(({ pattern }) => pattern.test(pathname))?.template;
  const operation: Operation | undefined = template && openapi.paths[template][method.toLowerCase()];
  const { pointer, described } = describedResponse(operation, template, method, response.status, where);
  for (const [name, header] of Object.entries(described.headers ?? {}))
    checkHeader(where, name, header, response);
  for (const name of response.headers.keys()) {
    const isDescribed = Object.keys(described.headers ?? {}).some((known) => known.toLowerCase() === name);
    if (!isDescribed && !GENERAL_HEADERS.has(name))
      throw new Error(`${where}: header ${name} is not described`);
  }
  if (!response.headers.get('x-request-id')) throw new Error(`${where}: no X-Request-Id`);
  const [mediaType, content] = Object.entries(described.content ?? {})[0] ?? [];
  if (mediaType === undefined) {
    if (response.text !== '') throw new Error(`${where}: a body where none is described: ${response.text}`);
    return;
  }
  const sent = response.headers.get('content-type')?.split(';')[0];
  if (sent !== mediaType) throw new Error(`${where}: media type ${sent} instead of ${mediaType}`);
  if (mediaType === 'text/event-stream') return;
  const body = JSON.parse(response.text);
  if (content?.schema) validate(where, `${pointer}/content/${escapePart(mediaType)}/schema`, body);
  if (response.status >= 400) checkProblem(where, described, response, body);
}

function describedResponse(
  operation: Operation | undefined,
  template: string | undefined,
  method: string,
  status: number,
  where: string,
): { pointer: string; described: Described } {
  // Responses outside any operation: an unknown path, or a method that the path does not have.
  const general = template === undefined ? 'RouteNotFound' : 'MethodNotAllowed';
  if (operation === undefined) {
    return { pointer: `/components/responses/${general}`, described: openapi.components.responses[general] };
  }
  const entry = operation.responses[String(status)];
  if (entry === undefined) throw new Error(`${where}: this status is not described`);
  const own = `/paths/${escapePart(String(template))}/${method.toLowerCase()}/responses/${status}`;
  const pointer = entry.$ref === undefined ? own : entry.$ref.slice(1);
  return { pointer, described: resolve(entry) };
}

function checkHeader(where: string, name: string, header: Described, response: CheckedResponse): void {
  const { required, schema } = resolve(header);
  const value = response.headers.get(name);
  if (value === null) {
    if (required) throw new Error(`${where}: header ${name} is missing`);
    return;
  }
  if (schema && !ajv.validate(schema, value))
    throw new Error(`${where}: header ${name}: ${ajv.errorsText()}`);
}

// biome-ignore lint/suspicious/noExplicitAny: a parsed body.
function checkProblem(where: string, described: Described, response: CheckedResponse, body: any): void {
  if (!described['x-codes']?.includes(body.code))
    throw new Error(`${where}: code ${body.code} is not described for this response`);
  if (ERROR_CODES[body.code as keyof typeof ERROR_CODES].status !== response.status) {
    throw new Error(`${where}: ${body.code} belongs to a different status`);
  }
  if (body.status !== response.status)
    throw new Error(`${where}: the problem document has status ${body.status}`);
  if (body.request_id !== response.headers.get('x-request-id'))
    throw new Error(`${where}: request_id differs from X-Request-Id`);
  const known: string[] =
    openapi.components.schemas.Problem.properties.errors.items.properties.code['x-known-values'];
  for (const { code } of body.errors ?? []) {
    if (!known.includes(code)) throw new Error(`${where}: errors[].code ${code} is not described`);
  }
}

function validate(where: string, pointer: string, body: unknown): void {
  const found = mismatch(pointer, body);
  if (found !== undefined) throw new Error(`${where}: ${found}: ${JSON.stringify(body)}`);
}

/** Returns how a value differs from the schema at a pointer into the description; undefined when it is valid. */
export function mismatch(pointer: string, value: unknown): string | undefined {
  let check = compiled.get(pointer);
  if (check === undefined) {
    check = ajv.compile({ $ref: `openapi#${encodeURI(pointer)}` });
    compiled.set(pointer, check);
  }
  return check(value) ? undefined : ajv.errorsText(check.errors);
}

function resolve(described: Described): Described {
  if (described.$ref === undefined) return described;
  return named(openapi, described.$ref, DESCRIPTION_FILE) as Described;
}

function escapePart(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the first example of an operation's body; undefined when it takes no body or has no example. */
export function exampleBody({ requestBody }: Operation): unknown {
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  return example && (resolve(example) as { value?: unknown }).value;
}

/** Returns whether an operation responds with a stream, which ends by itself only when it is asked to. */
export function isStream({ responses }: Operation): boolean {
  return responses['200']?.content?.['text/event-stream'] !== undefined;
}

/** Returns the name of the security scheme that an operation requires. */
export function keySchemeOf(operation: Operation): string {
  const [scheme] = Object.keys((operation.security ?? openapi.security)[0] ?? {});
  if (scheme === undefined) throw new Error(`${operation.operationId} has no security scheme`);
  return scheme;
}

/** Returns every operation of the description, with its method in upper case. */
export function operations(): { method: string; path: string; operation: Operation }[] {
  return Object.entries<Record<string, Operation>>(openapi.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      method: method.toUpperCase(),
      path,
      operation: item[method] as Operation,
    })),
  );
}
