/**
 * Guarantee: an endpoint's secret is found in its receiver's response in every encoding that a page, a log or a debugger
 * writes, in encodings within each other, and where the response is cut off in the middle of it.
 */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { SecretMask } from '../../../../services/sender/http/masking/secret-mask.ts';

const REMOVED = '[secret removed]';
const unlimited = { take: () => true };

const SECRETS: [string, string][] = [
  ['a secret that hookrail made', 'whsec_Zk9+/3pQ7xVb2LrT0uWn5sYcA8eJhD1gMiKo4fRtUvE='],
  ['a secret of symbols', '!@#$%^&*()_+{}|:<>?~;,./[]'],
  ['a secret of hexadecimal digits', 'deadbeef4fa19c7733aa01cc'],
  ['a secret with escapes in it', 'a%41b\\u0041c&#65;d\\xe=4Ff0x41-8'],
  ['a passphrase', 'Correct-Horse_battery.staple/42'],
];

const bytesOf = (text: string) => Array.from(Buffer.from(text));
const hexOf = (byte: number, digits = 2) => byte.toString(16).padStart(digits, '0');
const each = (text: string, write: (byte: number) => string) => bytesOf(text).map(write).join('');
const base64 = (text: string | Buffer) => Buffer.from(text as string).toString('base64');
const lines = (text: string, length: number, end: string) =>
  text.replace(new RegExp(`.{${length}}`, 'g'), (line) => line + end);
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
const latin1 = (bytes: Buffer) => bytes.toString('latin1');

/** Each writes a text another way; the strings are bytes, in Latin-1. */
const SPELLINGS: Record<string, (text: string) => string> = {
  'UTF-16, little end first': (text) => latin1(Buffer.from(text, 'utf16le')),
  'UTF-16, big end first': (text) => latin1(utf16be(text)),
  'UTF-32': (text) => each(text, (byte) => `${String.fromCharCode(byte)}\0\0\0`),
  'every character escaped for a URL': (text) => each(text, (byte) => `%${hexOf(byte)}`),
  'escaped for a URL five times': (text) => each(text, (byte) => `%25252525${hexOf(byte)}`),
  '%u': (text) => each(text, (byte) => `%u${hexOf(byte, 4)}`),
  'decimal references': (text) => each(text, (byte) => `&#${byte};`),
  'decimal references with zeros': (text) => each(text, (byte) => `&#000000${byte};`),
  'decimal references without semicolons': (text) => each(text, (byte) => `&#${byte}`),
  'hexadecimal references': (text) => each(text, (byte) => `&#X${hexOf(byte).toUpperCase()};`),
  'references escaped for HTML': (text) => each(text, (byte) => `&amp;amp;#${byte};`),
  '\\u': (text) => each(text, (byte) => `\\u${hexOf(byte, 4)}`),
  '\\u in JSON in JSON': (text) => each(text, (byte) => `\\\\\\\\u${hexOf(byte, 4)}`),
  '\\u with braces': (text) => each(text, (byte) => `\\u{${hexOf(byte)}}`),
  '\\U': (text) => each(text, (byte) => `\\U${hexOf(byte, 8)}`),
  '\\x': (text) => each(text, (byte) => `\\x${hexOf(byte)}`),
  octal: (text) => each(text, (byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  'octal of four digits': (text) => each(text, (byte) => `\\0${byte.toString(8).padStart(3, '0')}`),
  'quoted-printable': (text) => each(text, (byte) => `=${hexOf(byte).toUpperCase()}`),
  'soft line breaks': (text) => lines(text.replaceAll('=', '=3D'), 7, '=\r\n'),
  'lines that go on': (text) => lines(JSON.stringify(text).slice(1, -1), 9, '\\\n'),
  'lines of base64': (text) => lines(base64(text), 20, '\r\n '),
  'lines of base64 in JSON': (text) => lines(base64(text), 20, '\\r\\n'),
  'base64 escaped for a URL': (text) => encodeURIComponent(base64(`a=${text}&b`)),
  'base64 twice': (text) => base64(base64(text)),
  'base64 three times': (text) => base64(`xx${base64(`x${base64(text)}`)}`),
  'base64 of hexadecimal': (text) => base64(`-${Buffer.from(text).toString('hex')}`),
  'hexadecimal twice': (text) => Buffer.from(Buffer.from(text).toString('hex')).toString('hex'),
  'hexadecimal with spaces': (text) => `<Buffer ${each(text, (byte) => `${hexOf(byte)} `)}>`,
  'hexadecimal with colons': (text) =>
    bytesOf(text)
      .map((byte) => hexOf(byte).toUpperCase())
      .join(':'),
  'hexadecimal literals': (text) =>
    bytesOf(text)
      .map((byte) => `0x${hexOf(byte)}`)
      .join(', '),
  'a list of numbers': (text) => JSON.stringify(Buffer.from(text)),
  'base64 of UTF-16': (text) => base64(Buffer.from(text, 'utf16le')),
  'base64 of the JSON of PHP': (text) => base64(JSON.stringify({ key: text }).replaceAll('/', '\\/')),
  'base64 of gzip': (text) => base64(gzipSync(JSON.stringify({ authorization: `API-Key ${text}` }))),
  'hexadecimal of base64 of HTML': (text) =>
    Buffer.from(base64(each(text, (byte) => `&#${byte};`))).toString('hex'),
  'HTML in JSON': (text) => JSON.stringify(each(text, (byte) => `&#x${hexOf(byte)};`)),
  'JSON in HTML': (text) => JSON.stringify(JSON.stringify(text)).replaceAll('"', '&quot;'),
  'JSON in a URL': (text) => encodeURIComponent(encodeURIComponent(JSON.stringify({ key: text }))),
};
/** These have no beginning that could be read, or none that is as long as what it stands for. */
const NOT_CUT_OFF: readonly string[] = ['base64 of gzip', 'a secret with escapes in it'];

const maskedText = (secret: string, text: string) =>
  latin1(new SecretMask(secret).inBody(Buffer.from(text, 'latin1'), unlimited));

describe.each(SECRETS)('%s', (title, secret) => {
  test.each(Object.entries(SPELLINGS))('is found as %s', (_name, spelling) => {
    const empty = spelling('whsec_').length + spelling('=').length;
    const masked = maskedText(secret, `before ${spelling(secret)} after`);
    expect(masked).toContain(REMOVED);
    expect(masked).toMatch(/^before .* after$/s);
    const left = masked.slice('before '.length, -' after'.length).replaceAll(REMOVED, '');
    // The prefix, which is public, and what a spelling puts around a text, but no more of the secret than two characters.
    expect(left.length).toBeLessThanOrEqual(empty + spelling('ab').length + 3);
  });

  if (NOT_CUT_OFF.includes(title)) return;
  test.each(Object.entries(SPELLINGS).filter(([name]) => !NOT_CUT_OFF.includes(name)))(
    'is found as %s, cut off anywhere',
    (_name, spelling) => {
      const spelt = spelling(secret);
      // Up to five characters of the secret may be kept, and what comes before it.
      const kept = spelling(`${secret.slice(0, secret.startsWith('whsec_') ? 15 : 9)}`).length + 32;
      for (let end = kept; end < spelt.length; end += 1) {
        const masked = maskedText(secret, `before ${spelt.slice(0, end)}`);
        expect(masked.replaceAll(REMOVED, '').length - 'before '.length).toBeLessThan(kept);
      }
    },
  );
});

test('the characters around a secret may look like a part of its first or last escape', () => {
  for (const [, secret] of SECRETS) {
    for (const before of ['key=', 'at%', 'back\\', '&#', 'and&', '4', '=4', '%2', '\\x', '=\n']) {
      const url = Array.from(Buffer.from(secret), (byte) => `%${hexOf(byte)}`).join('');
      for (const spelt of [secret, JSON.stringify(secret).slice(1, -1), url, base64(secret)]) {
        const masked = maskedText(secret, `${before}${spelt};${before}`);
        expect(masked, `${before}${spelt}`).toContain(REMOVED);
        const left = masked.replaceAll(REMOVED, '').length;
        expect(left, `${before}${spelt}`).toBeLessThan(2 * before.length + 24);
      }
    }
  }
});
