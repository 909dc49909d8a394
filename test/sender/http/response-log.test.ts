/**
 * What the log keeps of a response: a compressed body as the text that it stands for, so that it can be searched for the
 * secret and read; none that cannot be decompressed.
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { newSecret } from '../../../services/domain/secret.ts';
import { SecretMask } from '../../../services/sender/http/masking/secret-mask.ts';
import { ResponseLog } from '../../../services/sender/http/response-log.ts';

const SECRET = newSecret(Uint8Array.from({ length: 32 }, (_, i) => i * 7));
const TEXT = `{"error":"bad key","got":"API-Key ${SECRET}"}`;
const MASKED = /^\{"error":"bad key","got":"API-Key whsec_\[secret removed\]=*"\}$/;

function kept(body: Buffer, ...headers: string[]) {
  const log = new ResponseLog(400, new SecretMask(SECRET), { take: () => true });
  log.addHeaders(headers);
  for (let i = 0; i < body.length; i += 5000) log.addBody(body.subarray(i, i + 5000));
  const response = log.kept();
  return { ...response, body: Buffer.from(response.body).toString() };
}

describe('a compressed body', () => {
  test.each([
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['GZIP', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
    ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
  ])('in %s is kept as the text, without the secret', (coding, body) => {
    expect(kept(body, 'Content-Encoding', coding).body).toMatch(MASKED);
  });

  test.each([gzipSync(TEXT), deflateSync(TEXT), zstdCompressSync(TEXT)])(
    'is recognised without the header',
    (body) => expect(kept(body, 'Content-Type', 'application/gzip').body).toMatch(MASKED),
  );

  test('that was cut off is kept as far as it came', () => {
    const body = gzipSync(`${TEXT}${'x'.repeat(500)}`);
    expect(kept(body.subarray(0, -12), 'content-encoding', 'gzip').body).toMatch(/^\{"error":"bad key"/);
    expect(kept(body.subarray(0, -12), 'content-encoding', 'gzip').body).not.toContain(SECRET.slice(6, 14));
  });

  test.each([
    ['an unknown coding', 'aws-chunked', Buffer.from(TEXT)],
    ['another coding than it says', 'br', gzipSync(TEXT)],
    ['three codings', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(TEXT)))],
    ['a coding named like a property of objects', 'constructor', Buffer.from(TEXT)],
    ['a text of many megabytes', 'gzip', gzipSync(Buffer.alloc(17_000_000))],
  ])('of %s is not kept', (_, coding, body) => {
    expect(kept(body, 'Content-Encoding', coding).body).toBe(
      '[not kept: its Content-Encoding cannot be undone]',
    );
  });

  test('that stands for more than is kept is truncated, and says so', () => {
    const { body, bodyTruncated } = kept(gzipSync('y'.repeat(100_000)), 'Content-Encoding', 'gzip');
    expect(body).toBe('y'.repeat(16 * 1024));
    expect(bodyTruncated).toBe(true);
  });

  test('that only begins like one is kept as it is', () => {
    expect(kept(Buffer.from('x^2 + y^2')).body).toBe('x^2 + y^2');
    expect(kept(Buffer.from('')).body).toBe('');
  });
});
