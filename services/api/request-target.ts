import type { IncomingMessage, RequestListener } from 'node:http';
import type { RequestHandler } from 'express';
import { ApiError } from './problem.ts';

const ABSOLUTE = /^https?:\/\//i;

/** Why a request's target or Host is refused. */
const faults = new WeakMap<IncomingMessage, string>();

/**
 * Replaces a request target in absolute form (RFC 9112 §3.2.2) by its path; its authority replaces the Host header.
 * Runs before Express, whose router fails on a target that it cannot parse.
 */
export function readTargets(app: RequestListener): RequestListener {
  return (request, response) => {
    const fault = readTarget(request);
    if (fault !== null) {
      faults.set(request, fault);
      request.url = '/';
    }
    app(request, response);
  };
}

/** Refuses targets that `readTargets` found malformed. */
export const refuseMalformedTargets: RequestHandler = (request, _response, next) => {
  const fault = faults.get(request);
  if (fault !== undefined) throw new ApiError('malformed_request', fault);
  next();
};

function readTarget(request: IncomingMessage): string | null {
  const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
  if (names.filter((name) => name.toLowerCase() === 'host').length > 1) {
    return 'The request has more than one Host line.';
  }
  const { url = '' } = request;
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
