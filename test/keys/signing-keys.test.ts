/**
 * The platform's signing keys in the key ring: which one signs is decided by time alone, alike in every process; a replaced
 * file is noticed without a restart; other changes of the ring keep them.
 */
import { createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { signAsPlatform } from '../../services/domain/signature.ts';
import { publicKeySet, signerAt, statesAt } from '../../services/keys/key-schedule.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import {
  addKey,
  changeSigningKeys,
  createRing,
  readRing,
  removeKey,
} from '../../services/keys/keyring-file.ts';
import { newSigningKey, privateKeyOf, shownKeys } from '../../services/keys/signing-keys.ts';

const NOTICED_MS_MAX = 15_000;
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signing-keys-'));
  file = join(folder, 'keyring.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Verifies with the JWK as a receiver gets it. */
function isBy(x: string, message: string, signature: string): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(message), key, Buffer.from(signature.slice('v1a,'.length), 'base64'));
}

test('the key of RFC 8037 has the public key, the thumbprint and the signature that the RFC gives', () => {
  const seed = Buffer.from('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', 'base64url');
  createRing(file);
  const written = JSON.parse(readFileSync(file, 'utf8'));
  const key = {
    environment: 'sandbox',
    signsFrom: '2030-01-01T00:00:00.000Z',
    seed: seed.toString('base64'),
  };
  writeFileSync(file, JSON.stringify({ ...written, signing: [key] }));
  const ring = KeyRing.read(file);
  expect(publicKeySet(ring.signingKeys('sandbox'), 'sandbox')).toEqual({
    keys: [
      {
        ...{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' },
        kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      },
    ],
  });
  const signature = signAsPlatform(privateKeyOf(seed), 'an-id', 1_790_000_000, 'Zoë');
  expect(signature).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/);
  expect(isBy('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'an-id.1790000000.Zoë', signature)).toBe(true);
  expect(isBy('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'an-id.1790000000.Zoe', signature)).toBe(false);
});

describe('the key that signs', () => {
  const [first, second] = [newSigningKey('sandbox', 1000), newSigningKey('sandbox', 5000)];
  const elsewhere = newSigningKey('production', 3000);
  // In whatever order a file has them.
  const keys = [second, elsewhere, first];

  test.each([
    [999, undefined],
    [1000, first],
    [4999, first],
    [5000, second],
    [9_999_999, second],
  ])('at %d is the last one whose time has come', (at, expected) => {
    expect(signerAt(keys, 'sandbox', at)?.kid).toBe(expected?.kid);
  });

  test('is one of its own environment only', () => {
    expect(signerAt(keys, 'production', 9999)?.kid).toBe(elsewhere.kid);
    expect(signerAt([first], 'production', 9999)).toBeUndefined();
    expect(publicKeySet(keys, 'production').keys.map(({ kid }) => kid)).toEqual([elsewhere.kid]);
  });

  test('is published before it signs, and after it has signed', () => {
    const published = publicKeySet(keys, 'sandbox').keys.map(({ kid }) => kid);
    expect(published).toEqual([first.kid, second.kid]);
    const states = (at: number) => statesAt(keys, 'sandbox', at).map(({ state }) => state);
    expect([states(0), states(2000), states(6000)]).toEqual([
      ['next', 'next'],
      ['signing', 'next'],
      ['former', 'signing'],
    ]);
    expect(statesAt(keys, 'sandbox', 6000)[0]?.signsUntil).toBe(5000);
  });

  test('shows nothing of its private part', () => {
    const shown = JSON.stringify([publicKeySet(keys, 'sandbox'), shownKeys(keys, 'sandbox', 2000)]);
    for (const { seed } of keys)
      for (const form of ['base64', 'base64url', 'hex'] as const)
        expect(shown).not.toContain(seed.toString(form).slice(0, 40));
  });
});

test('other changes of the ring keep the signing keys, and they keep its keys', () => {
  const key = newSigningKey('production', 1000);
  createRing(file, [key]);
  const added = addKey(file);
  removeKey(file, 'k1');
  changeSigningKeys(file, (keys) => [...keys, newSigningKey('production', 2000)]);
  const ring = readRing(file);
  expect([ring.active, [...ring.keys.keys()]]).toEqual([added, [added]]);
  expect(ring.signing.map(({ signsFrom, environment }) => [signsFrom, environment])).toEqual([
    [1000, 'production'],
    [2000, 'production'],
  ]);
  expect(ring.signing[0]?.kid).toBe(key.kid);
  const before = readFileSync(file, 'utf8');
  const refuse = () => {
    throw new Error('not now');
  };
  expect(() => changeSigningKeys(file, refuse)).toThrow('not now');
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('a process notices new and retired keys, and keeps those it has while the file cannot be read', async () => {
  const [old, next] = [newSigningKey('sandbox', 0), newSigningKey('sandbox', 1000)];
  createRing(file, [old]);
  const ring = KeyRing.read(file);
  const kids = () => ring.signingKeys('sandbox').map(({ kid }) => kid);
  const noticed = (expected: readonly string[]) =>
    vi.waitFor(() => expect(kids()).toEqual(expected), { timeout: NOTICED_MS_MAX, interval: 100 });
  expect(kids()).toEqual([old.kid]);
  changeSigningKeys(file, (keys) => [...keys, next]);
  await noticed([old.kid, next.kid]);
  const signature = signAsPlatform(ring.signer('sandbox', 2000) ?? privateKeyOf(old.seed), 'id', 1, 'x');
  expect(isBy(next.x, 'id.1.x', signature)).toBe(true);
  const whole = readFileSync(file, 'utf8');
  writeFileSync(file, '{"active": "k1", "ke');
  await new Promise((resolve) => setTimeout(resolve, 6000));
  expect(kids()).toEqual([old.kid, next.kid]);
  writeFileSync(file, whole);
  changeSigningKeys(file, (keys) => keys.slice(1));
  await noticed([next.kid]);
}, 60_000);

test.each([
  ['is no list', {}, '"signing" must be a list'],
  ['has no environment', [{ signsFrom: '2030-01-01T00:00:00Z', seed: '' }], 'must name its "environment"'],
  [
    'has half a seed',
    [
      {
        environment: 'sandbox',
        signsFrom: '2030-01-01T00:00:00Z',
        seed: Buffer.alloc(16).toString('base64'),
      },
    ],
    'the base64 of 32 bytes',
  ],
  [
    'has no time',
    [{ environment: 'sandbox', signsFrom: 'soon', seed: Buffer.alloc(32).toString('base64') }],
    'a time such as 2030-01-31T08:00:00Z',
  ],
  ['has null in it', [null], 'signing key 1 must name its "environment"'],
])('a file whose signing part %s is refused, by its name', (_what, signing, says) => {
  createRing(file);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), signing }));
  expect(() => readRing(file)).toThrow(says);
  expect(() => readRing(file)).toThrow(file);
});
