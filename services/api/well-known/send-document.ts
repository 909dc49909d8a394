import { createHash } from 'node:crypto';
import type { Response } from 'express';

/** A public text that caches may keep. */
export interface PublicDocument {
  readonly type: string;
  readonly text: string;
  /** By default that of the text. */
  readonly etag?: string;
  /** How long a cache may answer with it; 0 = it asks each time whether it is still the same. */
  readonly maxAgeSeconds: number;
}

/** Returns the entity tag of a text (RFC 9110, section 8.8.3). */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** Sends a document. A client that has it already, as its If-None-Match says, gets 304 without a body. */
export function sendDocument(
  response: Response,
  { type, text, etag = etagOf(text), maxAgeSeconds }: PublicDocument,
): void {
  response.setHeader('Cache-Control', maxAgeSeconds === 0 ? 'no-cache' : `public, max-age=${maxAgeSeconds}`);
  response.setHeader('ETag', etag);
  if (isNamed(etag, response.req.headers['if-none-match'])) {
    response.status(304).end();
    return;
  }
  response.setHeader('Content-Type', type);
  response.send(text);
}

/**
 * Returns whether If-None-Match names the content (RFC 9110, section 13.1.2). Express ignores the header
 * where the request also has `Cache-Control: no-cache`, as every request of Node's `fetch` with this header has.
 */
function isNamed(etag: string, given: string | undefined): boolean {
  const names = given?.split(',').map((name) => name.trim().replace(/^W\//, '')) ?? [];
  return names.includes(etag) || names.includes('*');
}
