import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DirectoryChange } from '../../../services/domain/directory.ts';
import type { Endpoint } from '../../../services/domain/endpoint.ts';
import { legacyEndpointId } from '../../../services/domain/ids.ts';
import { RecordSeals } from '../../../services/domain/seals/record-seals.ts';
import type { SnapshotCursor } from '../../../services/store/outbox.ts';
import { StoreUnavailable } from '../../../services/store/store.ts';
import { createEndpoint, newEndpoint, OPERATOR, START } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const options = { at: START, actor: OPERATOR };

export function outboxContract(test: StoreUnderTest): void {
  describe('the outbox of the store', () => {
    pendingChanges(test);
    snapshotChanges(test);
    adoptedChanges(test);
  });
}

function pendingChanges(test: StoreUnderTest): void {
  it('offers committed changes in order until they are published, also after a crash', async () => {
    let woken = 0;
    test.store.outbox.onAdded(() => {
      woken += 1;
    });
    await createMerchant(test);
    const { outboxId } = await createEndpoint(test.store, MERCHANT, randomUUID());
    expect(woken).toBe(2);
    const pending = await test.store.outbox.pending(10);
    expect(pending.map(({ change }) => change.kind)).toEqual(['merchant', 'endpoint']);
    expect(pending.at(-1)?.outboxId).toBe(outboxId);
    expect(await test.store.outbox.pending(1)).toEqual(pending.slice(0, 1));
    expect(await test.store.outbox.pending(9, pending[0]?.outboxId)).toEqual(pending.slice(1));
    const first = pending[0]?.outboxId ?? 0;
    await test.store.outbox.published([first]);
    const store = await test.crashAndReopen();
    expect(await store.outbox.isPublished(first)).toBe(true);
    expect(await store.outbox.isPublished(outboxId)).toBe(false);
    expect(await store.outbox.pending(10)).toEqual(pending.slice(1));
    await store.outbox.published([outboxId]);
    const next = await createEndpoint(await test.reopen(), MERCHANT, randomUUID());
    expect(next.outboxId).toBeGreaterThan(outboxId);
  });

  it('forgets exactly the changes that are published: an earlier one may be committed later', async () => {
    await createMerchant(test);
    for (let made = 0; made < 3; made += 1) await createEndpoint(test.store, MERCHANT, randomUUID());
    const [first, second, third, fourth] = (await test.store.outbox.pending(10)).map(
      ({ outboxId }) => outboxId,
    );
    await test.store.outbox.published([second ?? 0, fourth ?? 0]);
    const left = (await test.store.outbox.pending(10)).map(({ outboxId }) => outboxId);
    expect(left).toEqual([first, third]);
    // Published once more, by a relay that died before it could say so.
    await test.store.outbox.published([second ?? 0]);
    expect(await test.store.outbox.isPublished(first ?? 0)).toBe(false);
  });

  it('takes changes once more, after the pending ones', async () => {
    await createMerchant(test);
    const before = (await test.store.outbox.pending(10)).map(({ change }) => change);
    let woken = 0;
    const stopListening = test.store.outbox.onAdded(() => {
      woken += 1;
    });
    expect(await test.store.outbox.addAgain(before)).toBe(1);
    expect(woken).toBe(1);
    const after = (await test.store.outbox.pending(10)).map(({ change }) => change);
    expect(after).toEqual([...before, ...before]);
    stopListening();
    await test.store.outbox.addAgain(before);
    expect(woken).toBe(1);
  });

  it('adds no change again that is no longer in force', async () => {
    await createMerchant(test);
    const uuid = randomUUID();
    await createEndpoint(test.store, MERCHANT, uuid);
    const old = (await test.store.outbox.pending(10)).map(({ change }) => change);
    await test.store.endpoints.update(MERCHANT, uuid, { status: 'disabled' }, options);
    const before = await test.store.outbox.pending(10);
    const unknown = { kind: 'endpoint', id: randomUUID(), version: 1, value: null } as const;
    expect(await test.store.outbox.addAgain([...old, unknown])).toBe(1);
    const added = (await test.store.outbox.pending(10)).slice(before.length);
    expect(added.map(({ change }) => change)).toEqual(old.filter(({ kind }) => kind === 'merchant'));
  });

  it('accepts changes on the timeline that was reconciled', async () => {
    await createMerchant(test);
    const timeline = await test.store.outbox.timeline();
    if (timeline === null) return;
    expect(timeline.isReconciled, 'an empty store lacks nothing').toBe(true);
    await test.store.outbox.reconciled(timeline.name);
    const { record } = await createEndpoint(test.store, MERCHANT, randomUUID());
    expect(record.version).toBe(1);
    expect(await test.store.outbox.timeline()).toEqual(timeline);
    const another = test.store.outbox.reconciled(`${timeline.name}0`);
    await expect(another).rejects.toBeInstanceOf(StoreUnavailable);
    await createEndpoint(test.store, MERCHANT, randomUUID());
  });

  it('creates an endpoint that is disabled until it is enabled', async () => {
    const uuid = randomUUID();
    const { endpoints } = test.store;
    const created = await endpoints.create(newEndpoint(MERCHANT, uuid, { status: 'disabled' }), {
      ...options,
      quota: 10,
    });
    const disabled = { status: 'disabled', disabledReason: 'manual', disabledAt: START };
    expect(created).toMatchObject({ kind: 'ok', record: disabled });
    const [row] = await test.store.outbox.pending(1);
    expect(row?.change).toMatchObject({ kind: 'endpoint', value: { status: 'disabled' } });
    expect(await endpoints.get(MERCHANT, uuid)).toMatchObject(disabled);
    const active = await endpoints.update(
      MERCHANT,
      uuid,
      { status: 'active' },
      { ...options, at: START + 1 },
    );
    expect(active).toMatchObject({ record: { status: 'active', disabledReason: null, disabledAt: null } });
  });
}

function snapshotChanges(test: StoreUnderTest): void {
  it('shows every merchant and endpoint as it is, deleted ones too, in pages', async () => {
    expect(await snapshot(test, 1)).toEqual([]);
    await createMerchant(test);
    const uuids = [randomUUID(), randomUUID(), randomUUID()];
    for (const uuid of uuids) await createEndpoint(test.store, MERCHANT, uuid);
    await test.store.endpoints.update(MERCHANT, uuids[0] ?? '', { status: 'disabled' }, options);
    await test.store.endpoints.remove(MERCHANT, uuids[1] ?? '', options);
    const newest = new Map<string, DirectoryChange>();
    for (const { change } of await test.store.outbox.pending(10)) newest.set(change.id, change);
    for (const limit of [1, 2, 3, 100]) expect(await snapshot(test, limit)).toEqual([...newest.values()]);
  });
}

function adoptedChanges(test: StoreUnderTest): void {
  it('adopts newer changes: deletes, updates, exchanged URLs and unknown endpoints', async () => {
    await createMerchant(test);
    const [gone, left, right] = [randomUUID(), randomUUID(), randomUUID()];
    for (const uuid of [gone, left, right]) {
      await createEndpoint(test.store, MERCHANT, uuid, { description: 'mine' });
    }
    const { endpoints, outbox, merchants } = test.store;
    const [a, b] = [await endpoints.get(MERCHANT, left), await endpoints.get(MERCHANT, right)];
    if (!a || !b) throw new Error('the endpoints are missing');
    const pending = await outbox.pending(100);
    const secret = { keyId: 'k2', ciphertext: 'rotated' };
    const unseen = { ...plain(a), uuid: randomUUID(), url: 'https://unseen.example.com/', version: 1 };
    const merchant = {
      merchantId: MERCHANT,
      name: 'Renamed',
      state: 'paused',
      senderAccountDetails: true,
    } as const;
    const changes: DirectoryChange[] = [
      put({ ...plain(a), url: b.url, version: 2 }),
      put({
        ...{ ...plain(b), url: a.url, version: 5, secret, prepared: secret },
        ...{ status: 'auto_disabled', apiVersion: '2.2.8' },
      }),
      { kind: 'endpoint', id: gone, version: 2, value: null },
      { kind: 'endpoint', id: randomUUID(), version: 3, value: null },
      put(unseen),
      { kind: 'merchant', id: MERCHANT, version: 2, value: { ...merchant, version: 2 } },
    ];
    const adopted = await outbox.adopt(changes.map(sealed), START + 9);
    // The endpoint that was created and deleted without this store leaves no row.
    expect(adopted).toBe(5);
    expect(await endpoints.get(MERCHANT, gone)).toBeUndefined();
    const known = { description: 'mine', secretHint: '…abcd', updatedAt: START + 9, createdAt: START };
    expect(await endpoints.get(MERCHANT, left)).toMatchObject({ ...known, url: b.url, version: 2 });
    const other = {
      url: a.url,
      version: 5,
      secret,
      secretHint: '…',
      ...{ prepared: secret, preparedHint: '…', preparedAt: START + 9 },
      status: 'auto_disabled',
      apiVersion: '2.2.8',
      disabledAt: START + 9,
    };
    expect(await endpoints.get(MERCHANT, right)).toMatchObject({ ...known, ...other });
    expect(await endpoints.get(MERCHANT, unseen.uuid)).toMatchObject({ ...unseen, description: '' });
    expect(await merchants.get(MERCHANT)).toEqual({ ...merchant, version: 2 });
    expect(await outbox.pending(100), 'nothing of it is published').toEqual(pending);
    const next = await endpoints.update(MERCHANT, right, { status: 'active' }, options);
    expect(next).toMatchObject({ record: { version: 6 } });
  });

  it('continues the single webhook’s versions when it was set and removed after the backup', async () => {
    await createMerchant(test);
    const uuid = legacyEndpointId('sandbox', MERCHANT);
    await test.store.outbox.adopt(
      [sealed({ kind: 'endpoint', id: uuid, version: 6, value: null })],
      START + 9,
    );
    const store = await test.crashAndReopen();
    expect(await store.endpoints.get(MERCHANT, uuid)).toBeUndefined();
    const secret = { sealed: { keyId: 'k1', ciphertext: 'x' }, hint: '…x' };
    const set = { url: 'https://shop.example.com/single', secret };
    const made = await store.endpoints.setLegacy(MERCHANT, uuid, set, options);
    expect(made).toMatchObject({ record: { version: 7, merchantId: MERCHANT, status: 'active' } });
  });

  it('adopts no change that is not newer', async () => {
    await createMerchant(test);
    const uuid = randomUUID();
    const { record } = await createEndpoint(test.store, MERCHANT, uuid);
    const merchant = await test.store.merchants.get(MERCHANT);
    const older = { kind: 'endpoint', id: uuid, version: 1, value: null } as const;
    const renamed = {
      merchantId: MERCHANT,
      name: 'x',
      state: 'active',
      senderAccountDetails: true,
      version: 1,
    } as const;
    const adopted = await test.store.outbox.adopt(
      [sealed(older), sealed({ kind: 'merchant', id: MERCHANT, version: 1, value: renamed })],
      START + 9,
    );
    expect(adopted).toBe(0);
    expect(await test.store.endpoints.get(MERCHANT, uuid)).toEqual(record);
    expect(await test.store.merchants.get(MERCHANT)).toEqual(merchant);
  });
}

async function snapshot(test: StoreUnderTest, limit: number): Promise<DirectoryChange[]> {
  const changes: DirectoryChange[] = [];
  let after: SnapshotCursor | null = null;
  do {
    const page: Awaited<ReturnType<typeof test.store.outbox.snapshot>> = await test.store.outbox.snapshot(
      after,
      limit,
    );
    changes.push(...page.changes);
    after = page.next;
  } while (after !== null);
  return changes;
}

const createMerchant = (test: StoreUnderTest) =>
  test.store.merchants.create({ merchantId: MERCHANT, name: 'Shop', senderAccountDetails: true });

const seals = new RecordSeals(TEST_RING);
const sealed = (change: DirectoryChange): DirectoryChange => seals.sealed(change);

const put = (value: Endpoint): DirectoryChange => ({
  kind: 'endpoint',
  id: value.uuid,
  version: value.version,
  value,
});

/** Returns the fields of a record that the directory has. */
function plain(endpoint: Endpoint): Endpoint {
  const { uuid, merchantId, url, subscribedEvents, status, apiVersion, secret } = endpoint;
  const { publicKeySignature, legacy, version } = endpoint;
  return {
    ...{ uuid, merchantId, url, subscribedEvents, status, apiVersion, secret },
    ...{ publicKeySignature, legacy, version },
  };
}
