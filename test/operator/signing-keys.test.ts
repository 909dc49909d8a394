/**
 * The life of a signing key by the operator's commands: made, the next one published before it signs, the former one kept
 * until nobody needs it. What would leave receivers without the key that they need is refused, with what helps.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { signerAt } from '../../services/keys/key-schedule.ts';
import { changeSigningKeys, createRing, readRing } from '../../services/keys/keyring-file.ts';
import { newSigningKey } from '../../services/keys/signing-keys.ts';
import { runTool, toolAnswer } from '../support/service/operator-tool.ts';

const HOUR_MS = 3_600_000;
let folder: string;
let file: string;
let environment: Record<string, string>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signing-keys-'));
  file = join(folder, 'keyring.json');
  environment = { HOOKRAIL_DATA_DIR: folder, HOOKRAIL_KEYRING: file, HOOKRAIL_OPS_PORT: '1' };
});
afterEach(() => rmSync(folder, { recursive: true }));

const signingKeys = (...argv: string[]) => toolAnswer(environment, 'signing-keys', ...argv);
const refused = async (...argv: string[]) => {
  const { code, err } = await runTool(environment, 'signing-keys', ...argv);
  expect(code).toBe(1);
  return err;
};

test('a new ring has a signing key of its environment, which signs at once', async () => {
  await toolAnswer(environment, 'keyring', 'create');
  expect(await signingKeys('list')).toMatchObject([
    {
      environment: 'sandbox',
      state: 'signing',
      signsUntil: null,
      publicKey: expect.stringMatching(/^whpk_/),
    },
  ]);
  expect(await refused('create')).toContain('hookrail operator signing-keys rotate');
  const production = { ...environment, HOOKRAIL_ENVIRONMENT: 'production', HOOKRAIL_OPERATOR: 'ann' };
  expect(await toolAnswer(production, 'signing-keys', 'list')).toEqual([]);
});

test('a ring without one gets its first, and only then a next one', async () => {
  createRing(file);
  expect(await signingKeys('list')).toEqual([]);
  expect(await refused('rotate')).toContain('hookrail operator signing-keys create');
  const { created, next } = await signingKeys('create');
  expect(next).toContain(`copy ${file} to every process, senders first`);
  expect(await signingKeys('list')).toMatchObject([{ kid: created, state: 'signing' }]);
});

test('a rotation publishes the next key two days before it signs, and there is one at a time', async () => {
  createRing(file, [newSigningKey('sandbox', 0)]);
  const [old] = readRing(file).signing;
  const { created, signsFrom } = await signingKeys('rotate');
  const aheadMs = Date.parse(signsFrom) - Date.now();
  expect([aheadMs > 47 * HOUR_MS, aheadMs <= 48 * HOUR_MS]).toEqual([true, true]);
  expect(await signingKeys('list')).toMatchObject([
    { kid: old?.kid, state: 'signing', signsUntil: signsFrom },
    { kid: created, state: 'next', signsFrom },
  ]);
  const { signing } = readRing(file);
  expect(signerAt(signing, 'sandbox', Date.parse(signsFrom) - 1)?.kid).toBe(old?.kid);
  expect(signerAt(signing, 'sandbox', Date.parse(signsFrom))?.kid).toBe(created);
  expect(await refused('rotate', '--in-hours', '0')).toContain(`signing-keys retire --kid ${created}`);
  expect(await refused('retire', '--kid', old?.kid ?? '')).toContain('is the one that signs');
  await signingKeys('retire', '--kid', created);
  expect(await signingKeys('list')).toMatchObject([{ kid: old?.kid, state: 'signing', signsUntil: null }]);
});

test('a stolen key is replaced at once, and removed only when it is said to be stolen', async () => {
  createRing(file, [newSigningKey('sandbox', 0)]);
  const [stolen] = readRing(file).signing;
  const { created } = await signingKeys('rotate', '--in-hours', '0');
  expect(await signingKeys('list')).toMatchObject([{ state: 'former' }, { kid: created, state: 'signing' }]);
  const before = readFileSync(file, 'utf8');
  expect(await refused('retire', '--kid', stolen?.kid ?? '')).toContain('--stolen');
  expect(readFileSync(file, 'utf8')).toBe(before);
  await signingKeys('retire', '--kid', stolen?.kid ?? '', '--stolen');
  expect(readRing(file).signing.map(({ kid }) => kid)).toEqual([created]);
});

test('a key that signed a day ago is retired without more, and one of another environment is not found', async () => {
  const [now, elsewhere] = [Date.now(), newSigningKey('production', 0)];
  const keys = [newSigningKey('sandbox', 0), newSigningKey('sandbox', now - 25 * HOUR_MS), elsewhere];
  createRing(file);
  changeSigningKeys(file, () => keys);
  expect(await refused('retire', '--kid', elsewhere.kid)).toContain('the sandbox has no signing key');
  await signingKeys('retire', '--kid', keys[0]?.kid ?? '');
  expect(readRing(file).signing.map(({ kid }) => kid)).toEqual([keys[1]?.kid, elsewhere.kid]);
});

test('a ring that does not exist is not made, and the command that makes one is named', async () => {
  expect(await refused('create')).toContain('hookrail operator keyring create');
  expect(existsSync(file)).toBe(false);
});
