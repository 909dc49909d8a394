/** Without an endpoint's secret the sender logs once what is missing, and continues when it is there. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Endpoint } from '../../services/domain/endpoint.ts';
import { newSecret } from '../../services/domain/secret.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { addKey } from '../../services/keys/keyring-file.ts';
import { SecretOpener } from '../../services/sender/secret-opener.ts';
import { createLogger } from '../../services/telemetry/logger.ts';

const SECRET = newSecret(new Uint8Array(32).fill(9));
let file: string;
let logged: string[];
let opener: SecretOpener;

beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), 'opener-')), 'keyring.json');
  KeyRing.create(file);
  logged = [];
  const log = createLogger('info', { write: (line: string) => void logged.push(line) });
  opener = new SecretOpener(KeyRing.read(file), log);
});

function endpointOf(uuid: string, secret: Endpoint['secret']): Endpoint {
  return {
    ...{ uuid, secret, merchantId: 'm', url: 'https://hooks.merchant.com/x', subscribedEvents: null },
    ...{ status: 'active', apiVersion: '2.3.8', publicKeySignature: false, legacy: false, version: 1 },
  };
}

const said = (text: string) => logged.filter((line) => line.includes(text));

test('a key that is not in the key ring is logged once, however many endpoints need it', () => {
  for (const uuid of ['a', 'b', 'a']) {
    expect(opener.open(endpointOf(uuid, { keyId: 'lost', ciphertext: 'AAAA' }))).toBeNull();
  }
  expect(said('is not in the key ring')).toHaveLength(1);
  expect(logged[0]).toContain('"key":"lost"');
});

test('a secret that its key does not open is logged once per endpoint', () => {
  const endpoint = endpointOf('a', { keyId: 'k1', ciphertext: Buffer.alloc(40).toString('base64') });
  for (let i = 0; i < 3; i += 1) expect(opener.open(endpoint)).toBeNull();
  expect(said('cannot be opened')).toHaveLength(1);
});

const PREPARED = newSecret(new Uint8Array(32).map((_byte, index) => index + 1));

test('a prepared secret signs what asks for it, and responses show neither of the two', () => {
  const ring = KeyRing.read(file);
  const endpoint = { ...endpointOf('a', ring.seal(SECRET, 'a')), prepared: ring.seal(PREPARED, 'a') };
  const [inForce, next] = [opener.open(endpoint), opener.open(endpoint, 'prepared')];
  expect(inForce?.authorization).toBe(`API-Key ${SECRET}`);
  expect(next?.authorization).toBe(`API-Key ${PREPARED}`);
  expect(opener.open(endpoint, 'prepared')).toBe(next);
  for (const opened of [inForce, next])
    for (const secret of [SECRET, PREPARED]) {
      const page = Buffer.from(`expected ${secret}, sorry`);
      const shown = opened?.mask.inBody(page, { take: () => true });
      // The padding is the same in all.
      expect(shown?.toString()).toMatch(/^expected whsec_\[secret removed\]=?, sorry$/);
    }
  expect(opener.open(endpointOf('b', ring.seal(SECRET, 'b')), 'prepared')).toBeNull();
});

test('a prepared secret that cannot be opened holds nothing back', () => {
  const lost = { keyId: 'lost', ciphertext: 'AAAA' };
  const damaged = { keyId: 'k1', ciphertext: Buffer.alloc(40).toString('base64') };
  for (const prepared of [lost, damaged]) {
    const endpoint = { ...endpointOf('a', KeyRing.read(file).seal(SECRET, 'a')), prepared };
    expect(opener.open(endpoint)?.authorization).toBe(`API-Key ${SECRET}`);
    expect(opener.open(endpoint, 'prepared')).toBeNull();
  }
});

test('a key that is added to the file is found, also for endpoints that failed before', async () => {
  addKey(file);
  const sealed = KeyRing.read(file).seal(SECRET, 'a');
  const behind = new SecretOpener(KeyRing.read(file), createLogger('silent', { write: () => {} }));
  expect(behind.open(endpointOf('a', sealed))).not.toBeNull();
  const later = addKey(file);
  const fresh = endpointOf('a', KeyRing.read(file).seal(SECRET, 'a'));
  expect(fresh.secret.keyId).toBe(later);
  const opened = await vi.waitFor(() => behind.open(fresh) ?? Promise.reject(new Error('not yet')), {
    timeout: 10_000,
  });
  expect(opened.authorization).toBe(`API-Key ${SECRET}`);
});
