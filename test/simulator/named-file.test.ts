/** A file that a user names is replaced as a whole; a pipe that a user names stays a pipe, and gets the text. */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { writeEnvFile } from '../../simulator/listen/env-file.ts';
import { writeNamedFile } from '../../simulator/named-file.ts';
import { readPipe } from './support/pipe.ts';

const folder = mkdtempSync(join(tmpdir(), 'hookrail-named-'));
const path = join(folder, 'named');

beforeEach(() => {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const modeOf = (file: string) => statSync(file).mode & 0o777;

describe('a pipe', () => {
  test.each([
    ['itself', path],
    ['a symbolic link to it', join(folder, 'link')],
  ])('is written into, and stays: named by %s', (_, named) => {
    const pipe = readPipe(path);
    if (named !== path) symlinkSync(path, named);
    const names = readdirSync(folder);
    writeNamedFile(named, 'text\n');
    expect(pipe.text()).toBe('text\n');
    expect([lstatSync(path).isFIFO(), readdirSync(folder)]).toEqual([true, names]);
  });

  test('gets one line of --write-env, and is not read', () => {
    const pipe = readPipe(path);
    expect(writeEnvFile(path, 'whsec_a')).toBe(true);
    expect(pipe.text()).toBe('WEBHOOK_SECRET=whsec_a\n');
    expect([lstatSync(path).isFIFO(), readdirSync(folder)]).toEqual([true, ['named']]);
  });
});

describe('a regular file', () => {
  test('is replaced by another file, which its owner only reads', () => {
    writeFileSync(path, 'before, and longer\n', { mode: 0o644 });
    const { ino } = statSync(path);
    writeNamedFile(path, 'after\n');
    expect([readFileSync(path, 'utf8'), modeOf(path), readdirSync(folder)]).toEqual([
      'after\n',
      0o600,
      ['named'],
    ]);
    expect(statSync(path).ino).not.toBe(ino);
  });

  test('behind a symbolic link is replaced, and the link stays', () => {
    const link = join(folder, 'link');
    writeFileSync(path, 'before\n');
    symlinkSync(path, link);
    writeNamedFile(link, 'after\n');
    expect([lstatSync(link).isSymbolicLink(), readFileSync(path, 'utf8')]).toEqual([true, 'after\n']);
  });

  test('that is new may be read by its owner only', () => {
    writeNamedFile(path, 'new\n');
    expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['new\n', 0o600]);
  });
});

test('a folder is refused, and nothing is left beside it', () => {
  mkdirSync(path);
  expect(() => writeNamedFile(path, 'text\n')).toThrow('EISDIR');
  expect(() => writeNamedFile(join(folder, 'none', 'named'), 'text\n')).toThrow('ENOENT');
  expect(readdirSync(folder)).toEqual(['named']);
});
