import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * A pass to the sandbox's keys in /docs. Only who has the keys can write one: it is signed with them. A `link` opens the
 * reference once; the browser then has a `visit` in a cookie.
 */
export type DocsPassKind = 'link' | 'visit';

/** The keys that sign passes: those which the pages show. */
export interface SandboxKeys {
  readonly merchantKey: string;
  readonly producerKey: string;
}

/** Random bytes of a pass, so that no two are equal. */
export const DOCS_PASS_RANDOM_BYTES = 6;
/** The query parameter of a link. */
export const DOCS_PASS_PARAMETER = 'pass';

const TIME_BYTES = 4;
const MAC_BYTES = 14;
const SECOND_MS = 1000;
/** 24 bytes: no padding, and one spelling only. */
const PASS = /^[\w-]{32}$/;

/** Returns a pass; `at` is the system's time in milliseconds, of which it keeps the seconds. */
export function newDocsPass(kind: DocsPassKind, keys: SandboxKeys, at: number, random: Uint8Array): string {
  const content = Buffer.alloc(TIME_BYTES + DOCS_PASS_RANDOM_BYTES);
  content.writeUInt32BE(Math.floor(at / SECOND_MS));
  content.set(random.subarray(0, DOCS_PASS_RANDOM_BYTES), TIME_BYTES);
  return Buffer.concat([content, mac(kind, keys, content)]).toString('base64url');
}

/** Returns the second at which a pass was made, milliseconds since the epoch; null when these keys have not signed it. */
export function docsPassTime(kind: DocsPassKind, keys: SandboxKeys, pass: string): number | null {
  if (!PASS.test(pass)) return null;
  const bytes = Buffer.from(pass, 'base64url');
  const content = bytes.subarray(0, TIME_BYTES + DOCS_PASS_RANDOM_BYTES);
  const isSigned = timingSafeEqual(bytes.subarray(content.length), mac(kind, keys, content));
  return isSigned ? content.readUInt32BE() * SECOND_MS : null;
}

function mac(kind: DocsPassKind, { merchantKey, producerKey }: SandboxKeys, content: Uint8Array): Buffer {
  const key = createHash('sha256')
    .update(JSON.stringify(['docs', kind, merchantKey, producerKey]))
    .digest();
  return createHmac('sha256', key).update(content).digest().subarray(0, MAC_BYTES);
}
