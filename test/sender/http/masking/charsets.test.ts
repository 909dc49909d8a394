/**
 * Guarantee: the log shows a body as text, whatever charset it is in, and the secret is removed from it first. A body in a
 * charset that is unknown, or that is not its own and hides the secret, is not kept.
 */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { newSecret } from '../../../../services/domain/secret.ts';
import { SecretMask } from '../../../../services/sender/http/masking/secret-mask.ts';
import { ResponseLog } from '../../../../services/sender/http/response-log.ts';

const SECRET = newSecret(Uint8Array.from({ length: 32 }, (_, i) => i * 7));
const PART = SECRET.slice('whsec_'.length, -1);
const UNKNOWN = '[not kept: its charset is unknown]';
const HIDDEN = '[not kept: its charset hides the secret]';

function kept(body: Buffer, ...headers: string[]): string {
  const log = new ResponseLog(500, new SecretMask(SECRET), { take: () => true });
  log.addHeaders(headers);
  for (let i = 0; i < body.length; i += 1001) log.addBody(body.subarray(i, i + 1001));
  return Buffer.from(log.kept().body).toString();
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16le = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => utf16le(text).swap16();
/** The bytes of a text, with the bytes of "あ漢" in this encoding where it has them. */
const japanese = (hex: string) => (text: string) =>
  Buffer.concat(
    text.split('あ漢').flatMap((part, i) => [...(i ? [Buffer.from(hex, 'hex')] : []), latin1(part)]),
  );

const CHARSETS: [string, string, string, (text: string) => Buffer][] = [
  ['ISO-8859-1', 'text/plain; charset=ISO-8859-1', 'ungültig', latin1],
  ['a quoted label', 'text/plain; charset="latin1"', 'ungültig', latin1],
  ['single quotes', "text/plain; charset='iso-8859-1'", 'ungültig', latin1],
  ['windows-1252', 'text/html;charset=windows-1252', '€', (text) => latin1(text.replaceAll('€', '\x80'))],
  [
    'ISO-8859-15',
    'application/json; charset=ISO-8859-15',
    '€',
    (text) => latin1(text.replaceAll('€', '\xa4')),
  ],
  ['KOI8-R', 'text/plain; charset=koi8-r', 'Ю', (text) => latin1(text.replaceAll('Ю', '\xe0'))],
  ['Shift_JIS', 'text/html; charset=Shift_JIS', 'あ漢', japanese('82a08abf')],
  ['its other label', 'text/html; charset=x-sjis', 'あ漢', japanese('82a08abf')],
  ['EUC-JP', 'text/html; charset=EUC-JP', 'あ漢', japanese('a4a2b4c1')],
  ['ISO-2022-JP', 'text/html; charset=iso-2022-jp', 'あ漢', japanese('1b2442242234411b2842')],
  ['GB18030', 'application/json; charset=GB18030', 'あ漢', japanese('a4a29d68')],
  ['UTF-16LE', 'application/json; charset=utf-16le', 'あ漢', utf16le],
  ['UTF-16BE', 'application/json; charset=UTF-16BE', 'あ漢', utf16be],
  ['UTF-16, without a mark', 'text/plain; charset=utf-16', 'あ漢', utf16le],
  ['UTF-16 with a mark', 'text/plain; charset=utf-16', 'あ漢', (text) => utf16be(`\ufeff${text}`)],
  ['a mark alone', 'text/plain', 'あ漢', (text) => utf16le(`\ufeff${text}`)],
  ['a mark against the label', 'text/plain; charset=latin1', 'あ漢', (text) => utf16le(`\ufeff${text}`)],
  ['UTF-16 that nothing names', 'application/json', 'あ漢', utf16le],
  ['UTF-16BE that nothing names', '', 'あ漢', utf16be],
  ['UTF-8', 'text/plain; charset=utf8', 'あ漢', (text) => Buffer.from(text)],
  ['UTF-8 that nothing names', 'text/html', 'あ漢', (text) => Buffer.from(text)],
  ['a text that nothing names', 'text/plain', 'ungültig', latin1],
];

describe.each(CHARSETS)('a body in %s', (_name, contentType, letters, encode) => {
  const text = (got: string) => `{"error": "${letters}", "got": "API-Key ${got}", "more": "${letters}"}`;

  test('is kept as text, without the secret', () => {
    const body = kept(encode(text(SECRET)), 'Content-Type', contentType);
    expect(body).toMatch(/^\{"error": ".*\[secret removed\].*"\}$/);
    expect(body.split(letters).length).toBe(3);
    expect(body).not.toContain('\ufffd');
    for (let i = 0; i + 8 <= PART.length; i += 1) expect(body).not.toContain(PART.slice(i, i + 8));
    expect(kept(encode(text('none')), 'Content-Type', contentType)).toBe(text('none'));
  });

  test('that is compressed, too', () => {
    const headers = ['content-type', contentType, 'content-encoding', 'gzip'];
    expect(kept(gzipSync(encode(text(SECRET))), ...headers)).toContain('[secret removed]');
  });

  test('is cut off without a part of the secret, wherever that is', () => {
    for (const length of [7900, 8180, 16_320, 16_370, 16_384]) {
      const body = kept(
        encode(`{ "${'x'.repeat(length)}${SECRET} ${letters.repeat(9000)}`),
        'content-type',
        contentType,
      );
      for (let i = 0; i + 8 <= PART.length; i += 1) expect(body).not.toContain(PART.slice(i, i + 8));
      expect(body.slice(0, 100)).toBe(`{ "${'x'.repeat(97)}`);
    }
  });
});

describe('a page that names its charset itself', () => {
  test.each([
    ['<!doctype html><html><head><meta charset="shift_jis">', 'text/html'],
    ['<META http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', 'text/html'],
    ['<?xml version="1.0" encoding="Shift_JIS"?>', 'application/xml'],
    ['<?xml version="1.0" encoding="Shift_JIS"?>', 'application/problem+xml'],
  ])('is decoded: %s', (head, contentType) => {
    const page = japanese('82a08abf')(`${head}<p>あ漢 ${SECRET}</p>`);
    expect(kept(page, 'content-type', contentType)).toMatch(/<p>あ漢 (whsec_)?\[secret removed\]=*<\/p>$/);
  });
});

describe('a body is not kept', () => {
  const ebcdic = Buffer.from(Array.from(SECRET, (letter) => letter.charCodeAt(0) ^ 0x80));
  test.each([
    ['in EBCDIC', ebcdic, 'text/plain; charset=ibm037'],
    ['in UTF-7', latin1('+AHcAaABz-'), 'text/plain; charset=utf-7'],
    ['in UTF-32', utf16le('a\0'), 'text/plain; charset=utf-32'],
    ['in a charset that the standard refuses', latin1('x'), 'text/plain; charset=hz-gb-2312'],
    ['with a label of many letters', latin1('x'), `text/plain; charset=${'x'.repeat(300)}`],
    ['with the secret as its label', latin1('x'), `text/plain; charset="${SECRET}"`],
    ['in an unknown charset that its page names', latin1('<meta charset=ibm037>\xff'), 'text/html'],
  ])('%s', (_name, body, contentType) => {
    expect(kept(body, 'content-type', contentType)).toBe(UNKNOWN);
  });

  test.each([
    ['as UTF-16', latin1(` ${SECRET} `), 'text/plain; charset=utf-16le'],
    ['as UTF-16BE', latin1(`${SECRET} `), 'text/plain; charset=utf-16be'],
    ['by a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), latin1(SECRET)]), 'text/plain'],
    [
      'beside one that is read',
      Buffer.concat([latin1(`${SECRET} `), utf16le(` ${SECRET}`)]),
      'a/b; charset=utf-16',
    ],
    [
      'between lead bytes',
      Buffer.from(Array.from(SECRET, (letter) => `\x81${letter}`).join(''), 'latin1'),
      'a/b; charset=gbk',
    ],
    ['in base64', latin1(Buffer.from(`.${SECRET}..`).toString('base64')), 'text/plain; charset=utf-16le'],
  ])('whose charset hides the secret, %s', (_name, body, contentType) => {
    expect(kept(body, 'content-type', contentType)).toBe(HIDDEN);
  });
});

describe('a body that is no text', () => {
  test('is kept as its bytes', () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const log = new ResponseLog(500, new SecretMask(SECRET), { take: () => true });
    log.addHeaders(['content-type', 'image/png']);
    log.addBody(png);
    expect(Buffer.from(log.kept().body)).toEqual(png);
  });

  test.each(['nonsense', ';;', 'text/plain; charset', 'text/plain; charset=', '; charset=utf-16'])(
    'with the Content-Type "%s" is kept',
    (contentType) => {
      expect(kept(Buffer.from('it broke'), 'content-type', contentType)).toBe('it broke');
    },
  );
});

test('a budget that is used up keeps no body in another charset', () => {
  const log = new ResponseLog(500, new SecretMask(SECRET), { take: () => false });
  log.addHeaders(['content-type', 'text/plain; charset=utf-16le']);
  log.addBody(utf16le(`the secret is ${SECRET}`));
  expect(Buffer.from(log.kept().body).toString()).toMatch(/^\[not kept: too costly/);
});
