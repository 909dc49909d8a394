import type { IncomingMessage, RequestListener } from 'node:http';
import type { RequestHandler } from 'express';
import { ApiError } from '../problem.ts';

const ABSOLUTE = /^https?:\/\//i;

/** Why a request is refused by its line or its headers, before any route. */
const faults = new WeakMap<IncomingMessage, ApiError>();

/** Has a request with an Expect header that nobody can meet refused where a response has its headers and its id. */
export function refuseExpectation(request: IncomingMessage): void {
  const detail = `The Expect header "${String(request.headers.expect).slice(0, 40)}" is not supported.`;
  faults.set(request, new ApiError('expectation_failed', detail));
}

/**
 * Replaces a request target in absolute form (RFC 9112 §3.2.2) by its path; its authority replaces the Host header.
 * Runs before Express, whose router fails on a target that it cannot parse.
 */
export function readTargets(app: RequestListener): RequestListener {
  return (request, response) => {
    const fault = readTarget(request);
    if (fault !== null) {
      if (!faults.has(request)) faults.set(request, new ApiError('malformed_request', fault));
      request.url = '/';
    }
    app(request, response);
  };
}

/** Refuses what `readTargets` found malformed. */
export const refuseMalformedTargets: RequestHandler = (request, _response, next) => {
  const fault = faults.get(request);
  if (fault !== undefined) throw fault;
  next();
};

function readTarget(request: IncomingMessage): string | null {
  const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
  if (names.filter((name) => name.toLowerCase() === 'host').length > 1) {
    return 'The request has more than one Host line.';
  }
  const { url = '' } = request;
  // HTTP/1.0 has none (RFC 9112 §3.2). Node's own refusal would not be a problem document.
  if (request.headers.host === undefined && request.httpVersion !== '1.0' && !ABSOLUTE.test(url)) {
    return 'The request has no Host line.';
  }
  if (url.startsWith('/')) return null;
  const begin = url.includes('#') ? 0 : (ABSOLUTE.exec(url)?.[0].length ?? 0);
  const length = begin === 0 ? 0 : url.slice(begin).search(/[/?]|$/);
  const authority = url.slice(begin, begin + length);
  const rest = url.slice(begin + length);
  if (authority === '' || authority.includes('@') || !URL.canParse(`http://${authority}/`)) {
    return 'The request target is neither a path nor an http URL.';
  }
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = authority;
  return null;
}
