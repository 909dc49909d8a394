import { readFileSync } from 'node:fs';
import type { Request, RequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import type { EndpointUrlRule } from '../domain/endpoint-url.ts';
import { EVENT_TYPES } from '../domain/event.ts';
import { NOTICE_TYPES } from '../domain/notices/notice.ts';
import { didYouMean } from '../messages/did-you-mean.ts';
import { OPERATIONS_FILE } from './description.ts';
import type { ErrorCode } from './error-codes.ts';
import type { FieldCode } from './field-codes.ts';
import { queryOf } from './pagination.ts';
import { ApiError, type FieldError } from './problem.ts';
import { timeDetail } from './reading/time-words.ts';

/** One finding of the validator. `errorCode` is the schema keyword and a suffix. */
interface Finding {
  readonly path: string;
  readonly message: string;
  readonly errorCode?: string;
}

const CODE_OF_KEYWORD: Readonly<Record<string, FieldCode>> = {
  required: 'required',
  type: 'invalid_type',
  additionalProperties: 'unknown_field',
  enum: 'invalid_enum',
  format: 'invalid_format',
  pattern: 'invalid_format',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
  multipleOf: 'out_of_range',
  minLength: 'too_short',
  maxLength: 'too_long',
  maxItems: 'too_long',
  minProperties: 'empty_update',
};

/** Findings that have a code of their own, if the request has no other fault. */
const OWN_CODES: readonly {
  readonly path: RegExp;
  readonly keyword: string;
  readonly code: ErrorCode;
  readonly detail?: string;
  /** The code of the entry in errors[], where it differs. */
  readonly fieldCode?: EndpointUrlRule;
}[] = [
  { path: /^\/params\//, keyword: 'format', code: 'invalid_uuid' },
  {
    path: /^\/body\/(subscribed_events|types)\/\d+$/,
    keyword: 'enum',
    code: 'unknown_event_type',
    detail: `Allowed: ${EVENT_TYPES.join(', ')}; of operational endpoints: ${NOTICE_TYPES.join(', ')}.`,
  },
  { path: /^\/body\/(subscribed_events|types)$/, keyword: 'minItems', code: 'empty_filter' },
  {
    path: /^\/body\/(webhook_)?url$/,
    keyword: 'pattern',
    code: 'url_scheme_not_https',
    detail: 'The URL must start with "https://".',
    fieldCode: 'https_only',
  },
  { path: /^\/headers\/api-version$/, keyword: 'enum', code: 'unsupported_api_version' },
  { path: /^\/body\/api_version$/, keyword: 'enum', code: 'unsupported_api_version' },
  { path: /^\/body$/, keyword: 'oneOf', code: 'exactly_one_entity_required' },
];

/** Every name that any operation accepts in its query. */
const QUERY_PARAMETERS: ReadonlySet<string> = new Set([
  'status',
  'state',
  'merchant_id',
  'reason',
  'about',
  'failing',
  'type',
  'subType',
  'verdict',
  'seconds',
  'endpoint_uuid',
  'entity_uuid',
  'subject_uuid',
  'transaction_uuid',
  'since',
  'until',
  'from',
  'to',
  'step',
  'by',
  'limit',
  'cursor',
  'order',
  'include',
  'api_version',
  'dry_run',
]);

/** Parameters and properties that are times. */
const TIMES: ReadonlySet<string> = new Set(['since', 'until', 'replay_since', 'from', 'to']);
/** A text that is empty or only white space says nothing. */
const BLANK = { code: 'required', detail: 'is required: it has nothing but white space' } as const;

const ERRORS_MAX = 20;
const DETAIL_CHARACTERS_MAX = 300;

/**
 * Validates requests against openapi.yaml. Runs after the route's own body parser; throws ApiError with every finding.
 * Lengths are counted in code points.
 */
export function validateRequests(): RequestHandler[] {
  const parts = middleware({
    apiSpec: JSON.parse(readFileSync(OPERATIONS_FILE, 'utf8')),
    // It is generated from openapi.yaml, which `npm run lint:openapi` checks.
    validateApiSpec: false,
    validateRequests: { allErrors: true, allowUnknownQueryParameters: false },
    validateResponses: false,
    validateSecurity: false,
    validateFormats: true,
    ajvFormats: { mode: 'full' },
    fileUploader: false,
  });
  const translate =
    (part: RequestHandler): RequestHandler =>
    (request, response, next) => {
      const translated = (thrown?: unknown) =>
        next(thrown === undefined ? undefined : translateError(thrown, request));
      return part(request, response, translated);
    };
  return [normaliseContentType, normaliseSpaces, ...(parts as RequestHandler[]).map(translate)];
}

/**
 * The validator compiles and keeps one schema per operation and Content-Type as sent, parameters included. The body
 * parser has checked the header; here it becomes one of two values, so callers cannot grow that memory.
 */
const normaliseContentType: RequestHandler = (request, _response, next) => {
  if (request.body === undefined) delete request.headers['content-type'];
  else request.headers['content-type'] = 'application/json';
  next();
};

/**
 * Writes a space of the query as `%20`. Form encoding, which is what `URLSearchParams` and most clients write, has `+`;
 * the validator takes that for a reserved character and refuses it.
 */
const normaliseSpaces: RequestHandler = (request, _response, next) => {
  const start = request.originalUrl.indexOf('?');
  if (start >= 0) {
    request.originalUrl =
      request.originalUrl.slice(0, start) + request.originalUrl.slice(start).replaceAll('+', '%20');
  }
  next();
};

function translateError(thrown: unknown, request: Request): unknown {
  if (typeof thrown !== 'object' || thrown === null || !('errors' in thrown)) return thrown;
  const { errors, status } = thrown as { errors: readonly Finding[]; status?: number };
  // No Content-Type and no body, where a body is required.
  if (status === 415) return missingBody();
  if (!Array.isArray(errors) || errors.length === 0 || status !== 400) return thrown;
  const findings = withoutConsequences(errors).slice(0, ERRORS_MAX);
  const fields = findings.map((finding) => fieldError(finding, request));
  const own = findings.map((finding) => ownCode(finding));
  const [first] = own;
  // All findings have the same code of their own: that becomes the response's code. Otherwise errors[] lists them.
  if (first && own.every((candidate) => candidate?.code === first.code)) {
    return new ApiError(first.code, first.detail ?? '', { errors: fields });
  }
  const where = fields.map((field) => `${field.pointer || '/'}: ${field.detail}`).join('; ');
  return new ApiError('validation_error', `${where}.`, { errors: fields });
}

function missingBody(): ApiError {
  const errors = [{ pointer: '', code: 'required', detail: 'a JSON body is required' }];
  return new ApiError('validation_error', 'The request has no body.', { errors });
}

/** Drops consequences: "exactly one of" also reports what each branch asks for, which adds nothing. */
function withoutConsequences(findings: readonly Finding[]): readonly Finding[] {
  if (!findings.some((finding) => keywordOf(finding) === 'oneOf')) return findings;
  return findings.filter(
    (finding) =>
      !CONSEQUENCES.some(([path, keyword]) => path.test(finding.path) && keyword === keywordOf(finding)),
  );
}

/** The findings of the branches of a test's `oneOf`: an event needs an entity, a notice has none. */
const CONSEQUENCES: readonly (readonly [path: RegExp, keyword: string])[] = [
  [/^\/body\/(user|corporate)_uuid$/, 'required'],
  [/^\/body\/type$/, 'pattern'],
  [/^\/body$/, 'not'],
];

function keywordOf(finding: Finding): string {
  return finding.errorCode?.split('.')[0] ?? '';
}

function ownCode(finding: Finding) {
  return OWN_CODES.find((own) => own.keyword === keywordOf(finding) && own.path.test(finding.path));
}

/** Returns the fault of a query parameter: findings made while the query is parsed have no schema keyword. */
function queryFault(name: string, request: Request): Omit<FieldError, 'pointer'> {
  const value = queryOf(request).get(name);
  if (value === '') return { code: 'too_short', detail: 'must not be empty' };
  if (QUERY_PARAMETERS.has(name)) {
    const detail = listDetail(name, request) ?? `must be percent-encoded: ${encodeURIComponent(value ?? '')}`;
    return { code: 'invalid_format', detail: detail.slice(0, DETAIL_CHARACTERS_MAX) };
  }
  const near = didYouMean(name, [...QUERY_PARAMETERS]);
  return { code: 'unknown_field', detail: `is not a parameter of this operation${near}` };
}

/** Returns the words for a list where one value is taken: `a,b`, or the parameter twice. */
function listDetail(name: string, request: Request): string | undefined {
  const values = queryOf(request).getAll(name);
  if (values.length < 2 && !values[0]?.includes(',')) return undefined;
  return 'takes one value, not a list: send a request for each value, or leave it out for all';
}

/** Returns better words than the validator's for a value of the query or the body, where there are any. */
function ownDetail({ path }: Finding, keyword: string, request: Request): string | undefined {
  const [, place, name = ''] = path.split('/');
  if (place === 'query' && keyword !== 'required') {
    const detail = listDetail(name, request);
    if (detail !== undefined) return detail;
  }
  if (keyword !== 'format' || !TIMES.has(name)) return undefined;
  if (place === 'query') return timeDetail(queryOf(request).get(name) ?? '', 'query');
  return timeDetail(String(request.body?.[name]), 'body');
}

function fieldError(finding: Finding, request: Request): FieldError {
  const keyword = keywordOf(finding);
  const pointer = finding.path.startsWith('/body') ? finding.path.slice('/body'.length) : finding.path;
  if (keyword === '') return { pointer, ...queryFault(finding.path.slice('/query/'.length), request) };
  if (keyword === 'pattern' && pointer === '/description') return { pointer, ...BLANK };
  const own = ownCode(finding);
  const code = own?.fieldCode ?? own?.code ?? CODE_OF_KEYWORD[keyword] ?? 'invalid_format';
  return {
    pointer,
    code,
    detail: ownDetail(finding, keyword, request) ?? detailOf(keyword, finding.message),
  };
}

function detailOf(keyword: string, message: string): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a property of this request';
    case 'minProperties':
      return 'must have at least one of the properties';
    case 'oneOf':
      return 'must have exactly one of user_uuid and corporate_uuid';
    default:
      return message;
  }
}
