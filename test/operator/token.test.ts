/** The token of the operator interface: made at each start, or given in a file. A place that cannot be used is named. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { operatorTokenFile, placeToken, readToken } from '../../services/operator/commands/token-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-token-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const GIVEN = 'a-token-of-one-s-own-0123456789abcdef';

test('a fresh token is written for its owner only, and the tool reads it', () => {
  const place = { dataDir: join(folder, 'data'), operatorTokenFile: '' };
  expect(readToken(place)).toBeUndefined();
  expect(placeToken(place, () => 'fresh')).toBe('fresh');
  expect(statSync(operatorTokenFile(place.dataDir)).mode & 0o777).toBe(0o600);
  expect(readToken(place)).toBe('fresh');
});

describe('a token that is given in a file', () => {
  test.each([GIVEN, `${GIVEN}\n`, `  ${GIVEN}\r\n`])('is used, and nothing is written: %j', (text) => {
    const file = join(folder, 'secret');
    writeFileSync(file, text);
    // A data directory that cannot be made.
    const place = { dataDir: join(file, 'data'), operatorTokenFile: file };
    expect(placeToken(place, () => 'fresh')).toBe(GIVEN);
    expect(readToken(place)).toBe(GIVEN);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each(['', 'short', 'x'.repeat(31), `${GIVEN} ${GIVEN}`, `${GIVEN}\n${GIVEN}`, `${GIVEN}ä`])(
    'is refused when it is too short or no line: %j',
    (text) => {
      const file = join(folder, 'secret');
      writeFileSync(file, text);
      const place = { dataDir: folder, operatorTokenFile: file };
      const refusal = /^HOOKRAIL_OPERATOR_TOKEN_FILE=".*" must hold one line of 32 .* openssl rand -hex 32$/;
      expect(() => placeToken(place, () => 'fresh')).toThrow(refusal);
      expect(() => readToken(place)).toThrow(refusal);
    },
  );

  test('is refused when its file cannot be read', () => {
    for (const file of [join(folder, 'none'), folder]) {
      const place = { dataDir: folder, operatorTokenFile: file };
      expect(() => placeToken(place, () => 'fresh')).toThrow(
        /^HOOKRAIL_OPERATOR_TOKEN_FILE=".*" cannot be read: E/,
      );
    }
  });
});

test('a token that cannot be written is an error that names the settings', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const dataDir of [file, join(file, 'data'), '/sys']) {
    expect(() => placeToken({ dataDir, operatorTokenFile: '' }, () => 'fresh')).toThrow(
      /cannot be written: E.*HOOKRAIL_DATA_DIR.*HOOKRAIL_OPERATOR_TOKEN_FILE$/,
    );
  }
});
