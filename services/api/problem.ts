import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { StoreUnavailable } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

/** One entry of errors[]: where (JSON pointer into the body, or /query/…, /headers/…, /params/…) and what. */
export interface FieldError {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** What a handler throws to answer with a problem document. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  /** Further members of the document (RFC 9457 §3.2). */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      readonly errors?: readonly FieldError[];
      readonly headers?: Readonly<Record<string, string>>;
      readonly extra?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
    this.extra = more.extra ?? {};
  }
}

/** The broker did not take what had to be durable. Its cause goes to the log only. */
export class BrokerUnavailable extends Error {
  override readonly name = 'BrokerUnavailable';
}

const RETRY_AFTER_SECONDS = '2';

/** The problem document of an error (RFC 9457). `instance` is the occurrence: the request, not the path, so that
 *  the answers for an unknown, a deleted and another merchant's id differ in nothing but the request id. */
export function problemDocument(error: ApiError, requestId: string): Record<string, unknown> {
  const { status, title, hint } = ERROR_CODES[error.code];
  return {
    type: `urn:hookrail:problem:${error.code}`,
    title,
    status,
    detail: error.message === '' ? hint : `${error.message} ${hint}`,
    instance: `urn:hookrail:request:${requestId}`,
    code: error.code,
    request_id: requestId,
    ...(error.errors.length > 0 ? { errors: error.errors } : {}),
    ...error.extra,
  };
}

/** The last handler of the app: turns whatever was thrown into a problem document. */
export function problemHandler(log: Logger): ErrorRequestHandler {
  return (thrown: unknown, _request: Request, response: Response, next: NextFunction) => {
    const requestId: string = response.locals.requestId;
    const error = asApiError(thrown);
    response.locals.errorCode = error.code;
    if (error.code === 'internal_error' || error.code === 'temporarily_unavailable') {
      // Name and stack only: a message may quote what was sent.
      const cause = thrown instanceof Error ? thrown : new Error('not an Error');
      const detail = cause instanceof StoreUnavailable || cause instanceof BrokerUnavailable;
      log[error.code === 'internal_error' ? 'error' : 'warn']({
        event: 'request_failed',
        request_id: requestId,
        error: cause.name,
        ...(detail ? { reason: cause.message } : { stack: cause.stack?.split('\n').slice(1, 8).join('\n') }),
      });
    }
    // Headers are out already: nothing but cutting the connection tells the caller that the answer is not whole.
    if (response.headersSent) return next(thrown);
    sendProblem(response, error, requestId);
  };
}

function sendProblem(response: Response, error: ApiError, requestId: string): void {
  response.status(ERROR_CODES[error.code].status);
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Type', 'application/problem+json');
  response.end(JSON.stringify(problemDocument(error, requestId)));
}

/** Maps what middleware and stations throw to the list of codes. */
function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof StoreUnavailable || thrown instanceof BrokerUnavailable) {
    const detail = 'The store or the broker cannot answer now; whether a change was kept is not known.';
    return new ApiError('temporarily_unavailable', detail, {
      headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    });
  }
  // An undecodable path parameter: Express says URIError with status 400.
  if (thrown instanceof URIError) return new ApiError('malformed_request', 'The path cannot be decoded.');
  return new ApiError('internal_error', '');
}
