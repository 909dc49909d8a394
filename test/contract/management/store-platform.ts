import { createHash, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { MerchantClosed } from '../../../services/store/change.ts';
import type { ApiKey } from '../../../services/store/store.ts';
import {
  createEndpoint,
  eventNumber,
  HOUR_MS,
  journalOf,
  OPERATOR,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const PLATFORM = { kind: 'api_key', keyId: 'plk', person: 'Ann Ägäis' } as const;

function newKey(given: Partial<ApiKey> = {}): ApiKey {
  const keyId = randomUUID();
  return {
    ...{ keyId, kind: 'merchant', merchantId: null, name: null, hint: 'sk_…' },
    hash: new Uint8Array(createHash('sha256').update(keyId).digest()),
    ...{ createdAt: START, revokedAt: null, lastUsedAt: null },
    ...given,
  };
}

/** Contract: the operations of a store that the platform API needs. */
export function platformContract(test: StoreUnderTest): void {
  const newMerchant = async (name = 'Shop'): Promise<string> => {
    const merchantId = randomUUID();
    await test.store.merchants.create({ merchantId, name, senderAccountDetails: false }, PLATFORM);
    return merchantId;
  };

  it('lists merchants in pages, in the order of their creation, and only those in a state', async () => {
    const made = [await newMerchant('1'), await newMerchant('2'), await newMerchant('3')];
    const { merchants } = test.store;
    await merchants.update(made[1] ?? '', { state: 'paused' });
    const seen: string[] = [];
    for (let after: number | undefined; ; ) {
      const page = await merchants.page({ limit: 2, ...(after === undefined ? {} : { after }) });
      seen.push(...page.map(({ merchantId }) => merchantId));
      if (page.length < 2) break;
      after = page.at(-1)?.seq;
    }
    expect(seen.filter((id) => made.includes(id))).toEqual(made);
    const paused = await merchants.page({ limit: 10, state: 'paused' });
    expect(paused.map(({ merchantId }) => merchantId)).toEqual([made[1]]);
  });

  it('keeps the scopes of a key, and lists a merchant’s keys in pages', async () => {
    const merchantId = await newMerchant();
    const platform = newKey({ kind: 'platform', scopes: ['merchants:read', 'replays:write'] });
    const own = [newKey({ merchantId }), newKey({ merchantId }), newKey({ merchantId })];
    for (const key of [platform, ...own]) await test.store.keys.create(key, PLATFORM);
    await test.crashAndReopen();
    const { keys } = test.store;
    // An engine may give the bytes of the hash in a form of its own.
    const { hash, ...kept } = platform;
    expect(await keys.findByHash(hash)).toMatchObject(kept);
    expect(await keys.get(platform.keyId)).toMatchObject(kept);
    expect(await keys.get(randomUUID())).toBeUndefined();
    const first = await keys.page(merchantId, { limit: 2 });
    const rest = await keys.page(merchantId, { limit: 2, after: first.at(-1)?.seq ?? 0 });
    expect([...first, ...rest].map(({ keyId }) => keyId)).toEqual(own.map(({ keyId }) => keyId));
  });

  it('closes a merchant with all that is its own, and no other, and does it once', async () => {
    const merchantId = await newMerchant();
    const other = await newMerchant();
    const [endpointId, otherEndpoint] = [randomUUID(), randomUUID()];
    await createEndpoint(test.store, merchantId, endpointId);
    await createEndpoint(test.store, other, otherEndpoint);
    const key = newKey({ merchantId });
    await test.store.keys.create(key, PLATFORM);
    expect((await test.store.keys.findByHash(key.hash))?.revokedAt).toBeNull();
    const session = {
      ...{ sessionId: randomUUID(), merchantId, access: 'write' as const, person: null, refreshUrl: null },
      ...{ createdAt: START, linkExpiresAt: START + HOUR_MS, linkHash: key.hash, lifeMs: HOUR_MS },
    } as const;
    await test.store.portalSessions.create(session, OPERATOR);
    const replayId = randomUUID();
    const scope = { merchantId, endpointId: null, only: 'missing', since: 0, until: 1, types: null } as const;
    await test.store.replays.create(
      { ...scope, eventIds: null, replayId, count: 0 },
      { at: START, actor: OPERATOR },
    );

    const by = { at: START + 1, actor: PLATFORM, reason: 'it left' };
    expect(await test.store.merchants.close(merchantId, by)).toMatchObject({ state: 'closed' });
    await test.crashAndReopen();
    const { store } = test;
    expect((await store.keys.findByHash(key.hash))?.revokedAt).toBe(START + 1);
    expect(await store.endpoints.get(merchantId, endpointId)).toBeUndefined();
    expect(await store.endpoints.get(other, otherEndpoint)).toMatchObject({ status: 'active' });
    const link = { tokenHash: key.hash, at: START + 2 };
    expect(await store.portalSessions.open(session.linkHash, link)).toBeUndefined();
    expect(await store.replays.get(replayId)).toMatchObject({
      status: 'cancelled',
      cancelReason: 'merchant_closed',
    });
    const changes = (await store.outbox.pending(100)).map(({ change }) => change);
    expect(changes.at(-1)).toMatchObject({ kind: 'merchant', id: merchantId, value: { state: 'closed' } });

    const entries = async () => (await store.audit.list({ merchantId, limit: 100 })).length;
    const before = await entries();
    const [newest] = await store.audit.list({ merchantId, limit: 1 });
    expect(newest).toMatchObject({
      action: 'merchant.close',
      actor: PLATFORM,
      details: { keys: 1, endpoints: 1, reason: 'it left' },
    });
    expect(await store.merchants.close(merchantId, { ...by, at: START + 3 })).toMatchObject({
      state: 'closed',
    });
    expect(await store.merchants.update(merchantId, { state: 'active' })).toMatchObject({ state: 'closed' });
    expect(await store.merchants.close(randomUUID(), by)).toBeUndefined();
    expect(await entries()).toBe(before);
  });

  it('adds nothing to a merchant that was closed, or is closed at the same time', async () => {
    const { store } = test;
    const sessionOf = (merchantId: string) => ({
      ...{ sessionId: randomUUID(), merchantId, access: 'write' as const, person: null, refreshUrl: null },
      ...{ createdAt: START, linkExpiresAt: START + HOUR_MS, lifeMs: HOUR_MS, linkHash: newKey().hash },
    });
    const replayOf = (merchantId: string) => ({
      ...{ merchantId, endpointId: null, only: 'missing' as const, since: 0, until: 1, types: null },
      ...{ eventIds: null, replayId: randomUUID(), count: 0 },
    });
    const additions: readonly ((merchantId: string) => Promise<unknown>)[] = [
      (merchantId) => createEndpoint(store, merchantId, randomUUID()),
      (merchantId) => store.keys.create(newKey({ merchantId }), PLATFORM),
      (merchantId) => store.portalSessions.create(sessionOf(merchantId), OPERATOR),
      (merchantId) => store.replays.create(replayOf(merchantId), { at: START, actor: OPERATOR }),
    ];
    const by = { at: START + 1, actor: PLATFORM };
    const closed = await newMerchant();
    await store.merchants.close(closed, by);
    for (const add of additions) await expect(add(closed)).rejects.toThrow(MerchantClosed);
    for (let turn = 0; turn < 5; turn += 1) {
      const merchantId = await newMerchant();
      const added = additions.map((add) => add(merchantId));
      const closing = store.merchants.close(merchantId, by);
      const ends = await Promise.allSettled([...added, closing, ...additions.map((add) => add(merchantId))]);
      for (const end of ends)
        if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(MerchantClosed);
      expect(await store.endpoints.list(merchantId, { limit: 10 })).toEqual([]);
      const keys = await store.keys.page(merchantId, { limit: 10 });
      expect(keys.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
    }
  });

  it('orders once that the data of a closed merchant is erased, and what is recorded late as well', async () => {
    const merchantId = await newMerchant();
    const other = await newMerchant();
    const by = { at: START + 1, actor: PLATFORM, erase: true };
    const early = eventNumber(merchantId, 0);
    await journalOf(test.store, merchantId)(routed(early, []));
    await test.store.merchants.close(merchantId, by);
    await test.store.merchants.close(merchantId, by);
    const orders = await test.store.erasures.unfinished();
    expect(orders).toEqual([{ erasureId: expect.any(Number), entityId: null, merchantId }]);
    const { erasureId } = orders[0] ?? { erasureId: 0 };
    for (let after: string | null | undefined; after !== null; )
      after = (await test.store.erasures.step(erasureId, after)).next;
    await test.crashAndReopen();
    const late = { ...eventNumber(merchantId, 0), eventId: randomUUID() };
    const foreign = { ...eventNumber(other, 0), eventId: randomUUID() };
    const apply = journalOf(test.store, other);
    await apply(routed(late, []), routed(foreign, []));
    const dataOf = async (of: string, eventId: string) =>
      (await test.store.log.event(of, eventId))?.event.data;
    expect(await dataOf(merchantId, early.eventId)).toBeNull();
    expect(await dataOf(merchantId, late.eventId)).toBeNull();
    expect(await dataOf(other, foreign.eventId)).toEqual(foreign.data);
    const about = { entityId: late.entityId, at: START };
    expect(await test.store.erasures.isErased({ ...about, merchantId })).toBe(true);
    expect(await test.store.erasures.isErased({ ...about, merchantId: other })).toBe(false);
  });
}
