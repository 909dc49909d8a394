/**
 * Guarantee: `listen --write-env` sets WEBHOOK_SECRET as programs will read it, and changes no other byte of the file,
 * whatever its encoding; a file in UTF-16 is refused by name and stays as it is.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { writeEnvFile } from '../../../simulator/listen/env-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'hookrail-env-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const SECRET = 'whsec_$&new/+=';
const path = join(folder, '.env');

function written(before: Buffer): Buffer {
  writeFileSync(path, before);
  expect(writeEnvFile(path, SECRET)).toBe(true);
  const after = readFileSync(path);
  expect(writeEnvFile(path, SECRET), 'a second time nothing changes').toBe(false);
  return after;
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');

test.each([
  ['ISO-8859-1', 'NAME=M\xfcller\n', 'CITY=K\xf6ln\n'],
  ['Windows-1252', 'PRICE=5 \x80\r\n', '# \x93x\x94\r\n'],
  ['Shift_JIS', 'NAME=\x83\x5c\x82\xa0\n', '# \x8a\xbf\n'],
  ['broken UTF-8', 'NAME=\xc3\n', '\xff\xff=1'],
  ['UTF-8', Buffer.from('NAME=Zoë 漢\n').toString('latin1'), ''],
  ['UTF-8 and a mark', '\xef\xbb\xbfA=1\n', 'B=2\n'],
])('every other byte of a file in %s stays', (_name, before, after) => {
  const end = before.includes('\r\n') ? '\r\n' : '\n';
  expect(written(latin1(`${before}WEBHOOK_SECRET=old${end}${after}`))).toEqual(
    latin1(`${before}WEBHOOK_SECRET=${SECRET}${end}${after}`),
  );
  const last = after === '' || after.endsWith('\n') ? '' : end;
  expect(written(latin1(before + after))).toEqual(
    latin1(`${before}${after}${last}WEBHOOK_SECRET=${SECRET}${end}`),
  );
});

test.each([
  ['twice', 'WEBHOOK_SECRET=a\nB=2\nWEBHOOK_SECRET=b\n', { B: '2' }],
  ['twice, in other spellings', 'export WEBHOOK_SECRET="a"\nB=2\n  WEBHOOK_SECRET = \'b\' # c\n', { B: '2' }],
  ['three times', 'WEBHOOK_SECRET=a\nWEBHOOK_SECRET=\nWEBHOOK_SECRET=b', {}],
  ['after a mark', '\xef\xbb\xbfWEBHOOK_SECRET=a\nB=2\n', { B: '2' }],
  ['over several lines', 'WEBHOOK_SECRET="a\nb\nc"\nB=2\n', { B: '2' }],
  [
    'beside names that begin or end like it',
    'MY_WEBHOOK_SECRET=m\nWEBHOOK_SECRET_2=n\n# WEBHOOK_SECRET=c\n',
    {
      MY_WEBHOOK_SECRET: 'm',
      WEBHOOK_SECRET_2: 'n',
    },
  ],
  [
    'in the value of another',
    'K="x\nWEBHOOK_SECRET=inside\n"\nB=2\n',
    { K: 'x\nWEBHOOK_SECRET=inside\n', B: '2' },
  ],
])('a file that has the name %s is read with the new secret', (_name, before, others) => {
  const after = written(latin1(before)).toString().replace('\ufeff', '');
  expect(parseEnv(after)).toEqual({ ...others, WEBHOOK_SECRET: SECRET });
  // Some programs take the first, some the last.
  expect(after).not.toMatch(/^(export )?\s*WEBHOOK_SECRET\s*=(?!whsec_|inside)/m);
});

describe('a file is refused and stays as it is', () => {
  const text = 'A=1\r\nWEBHOOK_SECRET=old\r\n';
  const utf16le = Buffer.from(text, 'utf16le');
  test.each([
    ['UTF-16LE', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16LE', utf16le],
    ['UTF-16BE', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['UTF-16BE', Buffer.from(utf16le).swap16()],
    [
      'UTF-32LE',
      Buffer.from(
        [...`\ufeff${text}`].flatMap((letter) => {
          const code = letter.charCodeAt(0);
          return [code & 255, code >> 8, 0, 0];
        }),
      ),
    ],
  ])('in %s', (name, before) => {
    writeFileSync(path, before);
    expect(() => writeEnvFile(path, SECRET)).toThrow(`is in ${name}`);
    expect(readFileSync(path)).toEqual(before);
  });
});
