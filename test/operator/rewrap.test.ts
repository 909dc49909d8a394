/** A rewrap can be cut off anywhere: run again, it changes only the secrets that are left. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeyRing } from '../../services/keys/keyring.ts';
import { addKey } from '../../services/keys/keyring-file.ts';
import { rewrap } from '../../services/operator/commands/rewrap.ts';
import { systemClock } from '../../services/process/clock.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../services/store/store.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { newEndpoint, OPERATOR } from '../support/records/journal-entries.ts';

const MERCHANT = 'a-merchant';
const ENDPOINTS = 250;
const clock = systemClock();
let directory: string;
let ringFile: string;
let store: Store;

const open = () =>
  openSqliteStore({
    ...{ file: join(directory, 'store.db'), clock, healthPolicy: TEST_POLICY },
    keyRing: KeyRing.read(ringFile),
  });

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rewrap-'));
  ringFile = join(directory, 'keyring.json');
  KeyRing.create(ringFile);
  store = await open();
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

async function createEndpoints(): Promise<string[]> {
  const ring = KeyRing.read(ringFile);
  const uuids = Array.from({ length: ENDPOINTS }, () => randomUUID());
  const options = { at: clock.now(), actor: OPERATOR, quota: ENDPOINTS };
  await Promise.all(
    uuids.map((uuid) =>
      store.endpoints.create(
        newEndpoint(MERCHANT, uuid, { secret: ring.seal(`secret of ${uuid}`, uuid) }),
        options,
      ),
    ),
  );
  return uuids;
}

/** The sealings of the store, whose second write is the last thing that happens. */
function cutOff(sealings: Store['sealings']): Store['sealings'] {
  let writes = 0;
  return {
    ...sealings,
    async replace(things, options) {
      const replaced = await sealings.replace(things, options);
      writes += 1;
      if (writes === 2) throw new Error('the process ends here');
      return replaced;
    },
  };
}

test('a rewrap that was cut off and is run again changes each secret once, and every secret opens', async () => {
  const uuids = await createEndpoints();
  const active = addKey(ringFile);
  const deps = { clock, keyRing: KeyRing.read(ringFile) };
  const broken = { sealings: cutOff(store.sealings), outbox: store.outbox, leases: store.leases };
  await expect(rewrap({ ...deps, store: broken })).rejects.toThrow('the process ends here');
  await store.close();
  store = await open();
  expect(await rewrap({ ...deps, store })).toEqual({
    ...{ endpoints: 50, answers: 0, records: 0 },
    ...{ notOpened: [], refused: [] },
  });
  expect(await rewrap({ ...deps, store })).toMatchObject({ endpoints: 0, records: 0, notOpened: [] });
  expect(await store.sealings.counts(clock.now())).toEqual([
    { keyId: active, endpoints: ENDPOINTS, answers: 0 },
  ]);
  const ring = KeyRing.read(ringFile);
  for (const uuid of uuids) {
    const endpoint = await store.endpoints.get(MERCHANT, uuid);
    expect(endpoint?.version).toBe(2);
    expect(endpoint && ring.open(endpoint.secret, uuid)).toBe(`secret of ${uuid}`);
  }
  // What senders are told is what is in force.
  const pending = await store.outbox.pending(1000);
  expect(pending.filter(({ change }) => change.value)).toHaveLength(2 * ENDPOINTS);
});

test('a rewrap names a secret that its key does not open, and leaves it as it is', async () => {
  const [uuid] = await createEndpoints();
  const sealed = { keyId: 'k1', ciphertext: Buffer.alloc(40).toString('base64') };
  const options = { at: clock.now(), actor: OPERATOR };
  await store.endpoints.rotate(MERCHANT, uuid ?? '', { sealed, hint: '…' }, options);
  addKey(ringFile);
  const done = await rewrap({ clock, keyRing: KeyRing.read(ringFile), store });
  // The record is ours, and is sealed anew although its secret does not open.
  expect(done).toEqual({ endpoints: ENDPOINTS - 1, answers: 0, records: 1, notOpened: [uuid], refused: [] });
  expect((await store.endpoints.get(MERCHANT, uuid ?? ''))?.secret).toEqual(sealed);
});
