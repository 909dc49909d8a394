import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { Refused } from '../management/refused.ts';
import { asError } from '../messages/error-message.ts';
import { MerchantClosed } from '../store/change.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

/** One entry of errors[]: where (JSON pointer into the body, or /query/…, /headers/…, /params/…) and what. */
export interface FieldError {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** Thrown by a handler to respond with a problem document. */
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

/** The broker did not accept a record that had to be durable. Its cause is only logged. */
export class BrokerUnavailable extends Error {
  override readonly name = 'BrokerUnavailable';
}

const RETRY_AFTER_SECONDS = '2';
/** Lines of an unexpected error's stack in the log. */
const CALLS_MAX = 7;

/**
 * Returns the problem document of an error (RFC 9457). `instance` is the occurrence: the request, not the path, so that
 * the responses for an unknown, a deleted and another merchant's id differ in nothing but the request id.
 */
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

/** The last handler of the app: converts anything thrown into a problem document. */
export function problemHandler(log: Logger): ErrorRequestHandler {
  return (thrown: unknown, _request: Request, response: Response, next: NextFunction) => {
    const requestId: string = response.locals.requestId;
    const error = asApiError(thrown);
    response.locals.errorCode = error.code;
    if (error.code === 'internal_error' || error.code === 'temporarily_unavailable') {
      const cause = asError(thrown);
      const detail = cause instanceof StoreUnavailable || cause instanceof BrokerUnavailable;
      log[error.code === 'internal_error' ? 'error' : 'warn']({
        event: 'request_failed',
        request_id: requestId,
        error: cause.name,
        ...(detail ? { reason: cause.message } : { stack: callsOf(cause) }),
      });
    }
    // Headers are already sent: only cutting the connection shows the caller that the response is incomplete.
    if (response.headersSent) return next(thrown);
    sendProblem(response, error, requestId);
  };
}

/** Returns the innermost calls of an error's stack, without its message, which may quote the request. */
function callsOf({ stack = '' }: Error): string {
  const calls = stack.split('\n').filter((line) => /^ +at /.test(line));
  return calls.slice(0, CALLS_MAX).join('\n');
}

function sendProblem(response: Response, error: ApiError, requestId: string): void {
  response.status(ERROR_CODES[error.code].status);
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Type', 'application/problem+json');
  response.end(JSON.stringify(problemDocument(error, requestId)));
}

const UNAVAILABLE: Readonly<Record<StoreUnavailable['state'], string>> = {
  away: 'The store or the broker is unavailable; a change may or may not have been saved.',
  unknown:
    'The connection to the store was lost while the change was saved: whether it was saved is not known. Send the same request with the same Idempotency-Key, or read what it changes.',
  reconciling:
    'The store was failed over or restored, and is being compared with what is in force: nothing was saved. Try again in a few seconds.',
};

/** Returns the refusal of what operators may do as well. */
function refusal({ code, about }: Refused): ApiError {
  return new ApiError(code, '', code === 'incident_replay_running' ? { extra: { replay_uuid: about } } : {});
}

/** Maps errors of middleware and stations to the list of codes. */
function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof Refused) return refusal(thrown);
  if (thrown instanceof StoreUnavailable || thrown instanceof BrokerUnavailable) {
    const state = thrown instanceof StoreUnavailable ? thrown.state : 'away';
    return new ApiError('temporarily_unavailable', UNAVAILABLE[state], {
      headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    });
  }
  // When the request is repeated, it gets the usual error of a closed merchant.
  if (thrown instanceof MerchantClosed)
    return new ApiError('temporarily_unavailable', 'The merchant was closed meanwhile: nothing was saved.', {
      headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    });
  // For a path parameter that cannot be decoded, Express throws URIError with status 400.
  if (thrown instanceof URIError) return new ApiError('malformed_request', 'The path cannot be decoded.');
  return new ApiError('internal_error', '');
}
