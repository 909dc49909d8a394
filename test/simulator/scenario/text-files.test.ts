/** Guarantee: a file or standard input that is not UTF-8 is refused with its encoding and a command that converts it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readMix } from '../../../simulator/load/mix.ts';
import { openScenario } from '../../../simulator/scenario/open-scenario.ts';
import { readText } from '../../../simulator/text-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'hookrail-text-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'mine.yaml');
const SCENARIO = 'name: mine.own\nsteps:\n  - { id: a, emit: KYC/KYC_NEEDED } # Müller\n';
const utf16le = Buffer.from(SCENARIO, 'utf16le');

const FOREIGN: [string, Buffer][] = [
  ['is in UTF-16LE', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16le])],
  ['is in UTF-16LE', utf16le],
  ['is in UTF-16BE', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16le]).swap16()],
  ['is not in UTF-8 (byte 0xfc in line 3; perhaps in ISO-8859-1', Buffer.from(SCENARIO, 'latin1')],
];

function failureOf(read: () => unknown): { message: string; next: readonly string[] } {
  try {
    read();
  } catch (error) {
    return error as { message: string; next: readonly string[] };
  }
  throw new Error('nothing was thrown');
}

test.each(FOREIGN)('a scenario that %s is refused by that name', (says, bytes) => {
  writeFileSync(file, bytes);
  const { message, next } = failureOf(() => openScenario(file, { force: false }));
  expect(message).toContain(`${file} ${says}`);
  expect(next.join('\n')).toContain('iconv -f ');
});

test.each(FOREIGN)('a mix and a file of data that %s is refused by that name', (says, bytes) => {
  writeFileSync(file, bytes);
  expect(failureOf(() => readMix(file)).message).toContain(says);
  expect(failureOf(() => readText(file)).message).toContain(says);
});

test('a scenario in UTF-8 with a byte order mark is read', () => {
  writeFileSync(file, `\ufeff${SCENARIO}`);
  expect(openScenario(file, { force: false }).name).toBe('mine.own');
  writeFileSync(file, '\ufeff{"a":"ü"}');
  expect(JSON.parse(readText(file))).toEqual({ a: 'ü' });
});
