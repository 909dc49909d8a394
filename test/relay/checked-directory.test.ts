/** A record that does not fit its seal is not applied: the last good state stays in force, or its deliveries are held. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Directory, type DirectoryChange } from '../../services/domain/directory.ts';
import type { Endpoint } from '../../services/domain/endpoint.ts';
import { RecordSeals } from '../../services/domain/seals/record-seals.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { addKey } from '../../services/keys/keyring-file.ts';
import { CheckedDirectory } from '../../services/relay/checked-directory.ts';
import { publishable } from '../../services/relay/publishable.ts';
import { RefusedRecords } from '../../services/relay/refused-records.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { eventually } from '../support/eventually.ts';
import { movableClock } from '../support/movable-clock.ts';

const MERCHANT = 'a-merchant';
let folder: string;
let ringFile: string;
let ring: KeyRing;
let seals: RecordSeals;
let directory: Directory;
let refused: RefusedRecords;
let checked: CheckedDirectory;
let lines: Record<string, unknown>[];
let clock: ReturnType<typeof movableClock>;
let registry: Registry;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-checked-'));
  ringFile = join(folder, 'keyring.json');
  KeyRing.create(ringFile);
  clock = movableClock();
  lines = [];
  begin();
});

afterEach(() => {
  checked.stop();
  rmSync(folder, { recursive: true });
});

/** Follows the directory as a process that starts. */
function begin(): void {
  ring = KeyRing.read(ringFile);
  seals = new RecordSeals(ring);
  directory = new Directory();
  registry = new Registry();
  const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  refused = new RefusedRecords({ clock, log, registry });
  checked = new CheckedDirectory({ directory, seals, refused, clock, log });
}

const endpoint = (id: string, version: number, change: Partial<Endpoint> = {}): DirectoryChange => ({
  kind: 'endpoint',
  id,
  version,
  value: {
    ...{ uuid: id, merchantId: MERCHANT, url: `https://example.com/${version}`, subscribedEvents: null },
    ...{ status: 'active', apiVersion: '2.3.8', secret: { keyId: 'k1', ciphertext: 'sealed' } },
    ...{ publicKeySignature: false, legacy: false, version, ...change },
  },
});

const sealed = (change: DirectoryChange, by = seals) => by.sealed(change) as DirectoryChange;
const urlOf = (id: string) => directory.endpoint(id)?.url;
const count = async () =>
  (await registry.getMetricsAsJSON())[0]?.values.reduce((sum, { value }) => sum + Number(value), 0);

/** Another URL under the seal of the record as it was. */
function forged(id: string, version: number): DirectoryChange {
  const { seal } = seals.sealed(endpoint(id, version));
  return { ...endpoint(id, version, { url: 'https://evil.example/' }), seal };
}

test('a forged record leaves the last good one in force, and is counted and logged once in ten seconds', async () => {
  checked.apply(sealed(endpoint('a', 1)));
  for (let version = 2; version < 50; version += 1) expect(checked.apply(forged('a', version))).toBe(false);
  expect(urlOf('a')).toBe('https://example.com/1');
  expect(directory.isHeld(MERCHANT, 'a')).toBe(false);
  expect(await count()).toBe(48);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    event: 'directory_record_refused',
    record: 'endpoint:a',
    reason: 'forged',
  });
  expect(refused.refusedVersion({ kind: 'endpoint', id: 'a' })).toBe(49);
  expect(checked.apply(sealed(endpoint('a', 2)))).toBe(true);
  expect(urlOf('a')).toBe('https://example.com/2');
});

test('an endpoint and a merchant of which only forged records are known are held until there is a good one', () => {
  checked.apply(forged('a', 7));
  checked.apply({ ...sealed(endpoint('b', 4)), value: null });
  expect([directory.isHeld(MERCHANT, 'a'), directory.isHeld(MERCHANT, 'b')]).toEqual([true, true]);
  expect(directory.isHeld(MERCHANT, 'another')).toBe(false);
  checked.apply(sealed(endpoint('a', 1)));
  expect([directory.isHeld(MERCHANT, 'a'), urlOf('a')]).toEqual([false, 'https://example.com/1']);
  const merchant = {
    merchantId: MERCHANT,
    name: 'A',
    state: 'active',
    senderAccountDetails: false,
    version: 3,
  } as const;
  const { seal } = seals.sealed({ kind: 'merchant', id: MERCHANT, version: 3, value: merchant });
  checked.apply({
    kind: 'merchant',
    id: MERCHANT,
    version: 3,
    value: { ...merchant, state: 'paused' },
    seal,
  });
  expect(directory.isHeld(MERCHANT, 'a')).toBe(true);
});

test('a record without a seal of its version is refused, also the first of its endpoint, a merchant and a deletion', () => {
  const { seal } = seals.sealed(endpoint('a', 2)) as { readonly seal: NonNullable<DirectoryChange['seal']> };
  checked.apply(sealed(endpoint('a', 2)));
  for (const change of [
    endpoint('a', 3),
    { ...endpoint('a', 4), seal },
    { ...endpoint('a', 5), value: null },
  ])
    expect(checked.apply(change)).toBe(false);
  expect([urlOf('a'), directory.isHeld(MERCHANT, 'a')]).toEqual(['https://example.com/2', false]);
  expect(checked.apply(endpoint('b', 1))).toBe(false);
  expect([urlOf('b'), directory.isHeld(MERCHANT, 'b')]).toEqual([undefined, true]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ record: 'endpoint:a', reason: 'unsealed' });
  expect(refused.refusedVersion({ kind: 'endpoint', id: 'a' })).toBe(5);
});

test('a record whose key is missing is held, whatever was in force, until the key ring has the key', async () => {
  checked.apply(sealed(endpoint('a', 1)));
  const other = join(folder, 'other.json');
  KeyRing.create(other);
  const keys = JSON.parse(
    JSON.stringify({ active: 'k9', keys: { k9: Buffer.alloc(32, 9).toString('base64') } }),
  );
  const ninth = new RecordSeals(KeyRing.parse(JSON.stringify(keys), other));
  expect(checked.apply(sealed(endpoint('a', 2), ninth))).toBeNull();
  expect([urlOf('a'), directory.isHeld(MERCHANT, 'a')]).toEqual(['https://example.com/1', true]);
  expect([...directory.sealedWith]).toContainEqual(['k9', 1]);
  checked.apply(sealed(endpoint('a', 1)));
  expect(directory.isHeld(MERCHANT, 'a')).toBe(true);
  const { writeFileSync, readFileSync } = await import('node:fs');
  const mine = JSON.parse(readFileSync(ringFile, 'utf8'));
  writeFileSync(ringFile, JSON.stringify({ ...mine, keys: { ...mine.keys, ...keys.keys } }));
  await eventually('the record is in force', () => urlOf('a') === 'https://example.com/2');
  expect([directory.isHeld(MERCHANT, 'a'), directory.sealedWith.get('k9')]).toEqual([false, undefined]);
});

test('a switch-off without a seal of its own is sealed if it builds on what is in force, and on nothing older', () => {
  const checks = { seals, refused, directory };
  const off = (base: number, version: number): DirectoryChange => {
    const { seal } = seals.sealed(endpoint('a', base));
    const value = { url: `https://example.com/${base}`, status: 'auto_disabled' } as const;
    return { ...endpoint('a', version, value), seal };
  };
  checked.apply(sealed(endpoint('a', 3)));
  const published = publishable(off(3, 4), checks);
  expect(published && seals.verdict(published)).toBe('valid');
  expect(published?.value).toMatchObject({ status: 'auto_disabled', url: 'https://example.com/3' });
  expect(publishable(off(2, 9), checks)).toBeNull();
  expect(
    publishable({ ...off(3, 4), version: 4, seal: sealed(endpoint('a', 2)).seal as never }, checks),
  ).toBeNull();
  expect(publishable(forged('a', 9), checks)).toBeNull();
  expect(publishable(endpoint('a', 9), checks)).toBeNull();
  addKey(ringFile);
  expect(publishable(sealed(endpoint('a', 9)), checks)).not.toBeNull();
});
