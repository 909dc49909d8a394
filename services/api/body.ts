import { isUtf8 } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import express, { type RequestHandler, type Response } from 'express';
import { ApiError } from './problem.ts';
import { contentTypeFault } from './reading/content-type.ts';
import { jsonTextFault, placeIn } from './reading/json-text.ts';
import { malformedJson, notUtf8 } from './reading/malformed-json.ts';
import { enterRequest } from './request-label.ts';

/** The body parser's error: `type` names what went wrong. */
interface ParserError {
  readonly type?: string;
}

/** The most values in a merchant's body: the validator examines each, and reports each that is wrong. */
const VALUES_MAX = 200;

/** A request's body, once it has been read. */
interface Read {
  /** Why a body cannot be taken: how it is sent is wrong. A body that turns out to be empty is none. */
  readonly fault: string | undefined;
  bytes: Buffer;
  leave?: () => void;
}

/**
 * Reads a JSON body of at most `bytesMax` bytes into request.body; without a body, or with an empty one, it stays
 * undefined. Refuses compressed bodies: a small one can expand far beyond the limit.
 */
export function readJson(bytesMax: number): RequestHandler {
  const reads = new WeakMap<ServerResponse, Read>();
  const parser = express.json({
    limit: bytesMax,
    strict: false,
    inflate: false,
    type: () => true,
    verify: (_request, response, bytes) => {
      const read = reads.get(response);
      if (read === undefined) return;
      read.bytes = bytes;
      if (bytes.length > 0 && read.fault !== undefined)
        throw new ApiError('unsupported_media_type', read.fault);
      // The parser goes on with the bytes when this returns, and then calls back.
      read.leave = enterRequest(response as Response);
      // JSON is UTF-8 (RFC 8259 §8.1). Decoding would silently replace invalid bytes.
      if (!isUtf8(bytes)) throw notUtf8(bytes);
    },
  });
  return (request, response, next) => {
    const { headers } = request;
    const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
    if (length === 0) return next();
    const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
    const fault =
      encoding === 'identity' ? contentTypeFault(headers['content-type']) : 'The body is compressed.';
    if (length !== null && fault !== undefined) throw new ApiError('unsupported_media_type', fault);
    const read: Read = { fault, bytes: Buffer.alloc(0) };
    reads.set(response, read);
    // Both were judged here: in the parser's list of charsets are few of the labels of UTF-8.
    headers['content-type'] = 'application/json';
    delete headers['content-encoding'];
    parser(request, response, (error?: unknown) => {
      try {
        if (isEmpty(read.bytes)) request.body = undefined;
        next(error ? translate(error as ParserError, read.bytes, bytesMax) : repeatedName(read.bytes));
      } finally {
        read.leave?.();
      }
    });
  };
}

/** A byte order mark is no part of a text: alone it is the text that has nothing in it. */
function isEmpty(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes.length === 3 && bytes.toString('utf8') === '\ufeff');
}

/** Returns the error for an object with a name twice: of two amounts, nobody can say which one was meant. */
function repeatedName(bytes: Buffer): ApiError | undefined {
  if (bytes.length === 0) return undefined;
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const fault = jsonTextFault(text);
  if (fault?.kind !== 'repeated') return undefined;
  const { pointer } = fault;
  const detail = `is given twice (the second time in ${placeIn(text, fault.at)})`;
  return new ApiError('validation_error', `${pointer} ${detail}.`, {
    errors: [{ pointer, code: 'repeated_field', detail }],
  });
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

function translate(error: ParserError, bytes: Buffer, bytesMax: number): unknown {
  if (error instanceof ApiError) return error;
  switch (error.type) {
    case 'entity.parse.failed':
      return malformedJson(bytes);
    case 'entity.too.large':
      return new ApiError('payload_too_large', `The body exceeds the limit of ${bytesMax} bytes.`);
    case 'request.aborted':
    case 'request.size.invalid':
      return new ApiError('malformed_request', 'The length of the body differs from Content-Length.');
    default:
      return error;
  }
}
