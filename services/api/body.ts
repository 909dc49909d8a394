import { isUtf8 } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import express, { type RequestHandler, type Response } from 'express';
import { ApiError } from './problem.ts';
import { enterRequest } from './request-label.ts';

/** The body parser's error: `type` names what went wrong. */
interface ParserError {
  readonly type?: string;
}

/** The most values in a merchant's body: the validator examines each, and reports each that is wrong. */
const VALUES_MAX = 200;

/** JSON is UTF-8 (RFC 8259 §8.1). Decoding would silently replace invalid bytes. */
class NotUtf8 extends Error {
  override readonly name = 'NotUtf8';
}

/**
 * Reads a JSON body of at most `bytesMax` bytes into request.body; without a body it stays undefined. Refuses
 * compressed bodies: a small one can expand far beyond the limit.
 */
export function readJson(bytesMax: number): RequestHandler {
  const leaving = new WeakMap<ServerResponse, () => void>();
  const parser = express.json({
    limit: bytesMax,
    strict: false,
    inflate: false,
    type: 'application/json',
    verify: (_request, response, bytes) => {
      // The parser goes on with the bytes when this returns, and then calls back.
      leaving.set(response, enterRequest(response as Response));
      if (!isUtf8(bytes)) throw new NotUtf8('the body is not UTF-8');
    },
  });
  return (request, response, next) => {
    const hasBody =
      request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0;
    if (hasBody && !request.is('application/json')) {
      const sent =
        request.headers['content-type'] === undefined ? 'no Content-Type' : 'a different Content-Type';
      throw new ApiError('unsupported_media_type', `The request came with ${sent}.`);
    }
    parser(request, response, (error?: unknown) => {
      try {
        next(error ? translate(error as ParserError, bytesMax) : undefined);
      } finally {
        leaving.get(response)?.();
      }
    });
  };
}

/** Refuses a body with more values than any operation takes, before the validator spends time on each. */
export const boundValues: RequestHandler = (request, _response, next) => {
  const waiting: unknown[] = [request.body];
  for (let count = 1; waiting.length > 0; count += 1) {
    if (count > VALUES_MAX) {
      const detail = `must have at most ${VALUES_MAX} values in total`;
      throw new ApiError('validation_error', `The body ${detail}.`, {
        errors: [{ pointer: '', code: 'too_long', detail }],
      });
    }
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const inner of Object.values(value)) {
      if (waiting.length > VALUES_MAX) break;
      waiting.push(inner);
    }
  }
  next();
};

function translate(error: ParserError, bytesMax: number): unknown {
  switch (error.type) {
    case 'entity.parse.failed':
      return new ApiError('malformed_json', 'The body cannot be parsed.');
    case 'entity.verify.failed':
      return new ApiError('malformed_json', 'The body is not UTF-8.');
    case 'entity.too.large':
      return new ApiError('payload_too_large', `The body exceeds the limit of ${bytesMax} bytes.`);
    case 'encoding.unsupported':
      return new ApiError('unsupported_media_type', 'The body is compressed.');
    case 'charset.unsupported':
      return new ApiError('unsupported_media_type', 'The body’s charset is not UTF-8.');
    case 'request.aborted':
    case 'request.size.invalid':
      return new ApiError('malformed_request', 'The length of the body differs from Content-Length.');
    default:
      return error;
  }
}
