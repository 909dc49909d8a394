/** Guarantee: what a name server, a socket or a response can fail with is told in words that help, also after an upgrade of Node or undici. */
import dns from 'node:dns';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { FAILURE_CODES } from '../../services/domain/attempt.ts';
import { CODE_SIGNS } from '../../services/domain/failures/failure-codes.ts';
import { describedFailure, describedResponse, SIGNS } from '../../services/domain/failures/failure-signs.ts';

/** Returns every text that undici's parser (llhttp, compiled to WebAssembly) has for a failure. */
function parserReasons(): readonly string[] {
  const wasm: unknown = createRequire(import.meta.url)('undici/lib/llhttp/llhttp-wasm.js');
  const bytes = Buffer.isBuffer(wasm) ? wasm : Buffer.from(String(wasm), 'base64');
  const texts = bytes.toString('latin1').match(/[A-Z][A-Za-z]+[ -][\x20-\x7e]+/g) ?? [];
  return texts.filter((text) =>
    /^(Invalid|Expected|Missing|Unexpected|Duplicate|Empty)\b|overflow$|present with|^Data /.test(text),
  );
}

/** Texts of the parser about requests, URLs and other protocols, which no response to a POST leads to. */
const OF_REQUESTS = [
  /\b(in|char in|@ in) url\b|url (path|query|fragment|server|schema)|characters in url|char in url/,
  /^Invalid method for|^Expected SOURCE method|^Expected space after method/,
];

describe('every failure has a cause and a remedy', () => {
  const reasons = parserReasons().filter((reason) => !OF_REQUESTS.some((pattern) => pattern.test(reason)));

  test('the list of reasons is read from the library', () => {
    expect(reasons).toContain('Invalid header value char');
    expect(reasons.length).toBeGreaterThan(30);
  });

  test.each(reasons)('of the HTTP parser: %s', (reason) => {
    const error = new Error(`Response does not match the HTTP/1.1 protocol (${reason})`);
    expect(describedResponse(error)).toMatch(/^[^:]+: [^;]+; .{10,}$/);
    expect(describedResponse(error)).toContain(reason);
  });

  /** Codes of wrong calls and of our own memory: none is an answer about a name. */
  const own = [
    'EBADSTR',
    'EBADFLAGS',
    'EBADHINTS',
    'ENOMEM',
    'ELOADIPHLPAPI',
    'EADDRGETNETWORKPARAMS',
    'ECONNREFUSED',
  ];
  const codes = Object.values(dns).filter((value) => /^E[A-Z_]+$/.test(String(value)));
  test.each(codes.filter((code) => !own.includes(String(code))))('of the resolver: %s', (code) => {
    expect(describedFailure(String(code), '')).toMatch(/^E[A-Z]+: [^;]+; .{10,}$/);
  });

  test.each(FAILURE_CODES)('of the delivery log: %s', (code) => {
    expect(CODE_SIGNS[code].says).toMatch(/\.$/);
    expect(CODE_SIGNS[code].remedy).toMatch(/\.$/);
  });
});

test.each(Object.entries(SIGNS))(
  '%s is one line without the marks that separate its parts',
  (code, { says, remedy }) => {
    expect(`${code}${says}${remedy}`).not.toMatch(/[\n|]/);
    expect(says).not.toContain(';');
  },
);

test('an unknown failure has the text of the library, on one line and without hiding characters', () => {
  expect(describedFailure('E_ODD', 'two\nlines \u202eback')).toBe('E_ODD: two lines \\u202eback');
  expect(describedFailure('E_ODD', '')).toBe('E_ODD');
  expect(describedResponse(new Error('odd\r\n'))).toBe('odd');
  expect(describedFailure('__proto__', 'x')).toBe('__proto__: x');
});
