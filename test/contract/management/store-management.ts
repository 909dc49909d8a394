import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { LegacyChange } from '../../../services/store/store.ts';
import { createEndpoint, newEndpoint, OPERATOR, START } from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const options = (at = START, quota = 100) => ({ at, actor: OPERATOR, quota });
export function managementContract(test: StoreUnderTest): void {
  describe('with merchants and keys', () => merchantsAndKeys(test));
  describe('with endpoints', () => {
    lifeOfAnEndpoint(test);
    rulesOfEndpoints(test);
    lists(test);
  });
}

function merchantsAndKeys(test: StoreUnderTest): void {
  it('keeps merchants with a version that grows with every change', async () => {
    const { merchants } = test.store;
    const merchant = { merchantId: MERCHANT, name: 'Shop', senderAccountDetails: false };
    expect(await merchants.create(merchant)).toEqual({ ...merchant, state: 'active', version: 1 });
    await expect(merchants.create(merchant)).rejects.toThrow(MERCHANT);
    const paused = { ...merchant, state: 'paused', version: 2 };
    expect(await merchants.update(MERCHANT, { state: 'paused' })).toEqual(paused);
    expect(await merchants.update('nobody', { state: 'paused' })).toBeUndefined();
    const reopened = await test.crashAndReopen();
    expect(await reopened.merchants.get(MERCHANT)).toEqual(paused);
    expect(await reopened.merchants.list()).toEqual([paused]);
  });

  it('finds a key by its hash, revokes it once, and records its use', async () => {
    const hash = createHash('sha256').update('key').digest();
    const key = {
      keyId: 'key-1',
      kind: 'merchant' as const,
      merchantId: MERCHANT,
      hash: new Uint8Array(hash),
      hint: 'sk_…abc',
      name: null,
      createdAt: START,
      revokedAt: null,
      lastUsedAt: null,
    };
    await test.store.keys.create(key);
    const found = await test.store.keys.findByHash(hash);
    expect({ ...found, hash: Buffer.from(found?.hash ?? []).toString('hex') }).toEqual({
      ...key,
      hash: hash.toString('hex'),
    });
    expect(await test.store.keys.findByHash(new Uint8Array(32))).toBeUndefined();
    test.store.keys.touch('key-1', START + 5);
    expect(await test.store.keys.revoke('key-1', START + 9)).toBe(true);
    expect(await test.store.keys.findByHash(hash)).toMatchObject({ revokedAt: START + 9 });
    expect(await test.store.keys.revoke('key-1', START + 10)).toBe(false);
    expect(await test.store.keys.revoke('unknown', START)).toBe(false);
    const [kept] = await (await test.reopen()).keys.list();
    expect(kept).toMatchObject({ revokedAt: START + 9, lastUsedAt: START + 5 });
  });

  it('keeps what a producer’s key may publish, and changes either list', async () => {
    const { keys } = test.store;
    const hash = new Uint8Array(createHash('sha256').update('producer').digest());
    const dates = { createdAt: START, revokedAt: null, lastUsedAt: null };
    const key = {
      keyId: 'key-2',
      kind: 'producer' as const,
      merchantId: null,
      hash,
      hint: 'pk_',
      name: null,
    };
    await keys.create({ ...key, ...dates, types: ['KYC', 'AML'] });
    const found = async () => {
      const { types, merchants } = (await test.store.keys.findByHash(hash)) ?? {};
      return { types, merchants };
    };
    expect(await found()).toEqual({ types: ['KYC', 'AML'] });
    const by = { at: START + 1, actor: { kind: 'operator', person: 'Ann Ägäis' } } as const;
    expect(await keys.setRights('key-2', { merchants: [MERCHANT] }, by)).toMatchObject({
      keyId: 'key-2',
      types: ['KYC', 'AML'],
      merchants: [MERCHANT],
    });
    expect(await found()).toEqual({ types: ['KYC', 'AML'], merchants: [MERCHANT] });
    await keys.setRights('key-2', { types: null, merchants: [] }, by);
    await test.crashAndReopen();
    expect(await found()).toEqual({ merchants: [] });
    const { setRights } = test.store.keys;
    expect(await setRights('unknown', { types: null }, by)).toBeUndefined();
    await test.store.keys.create({
      ...{ ...key, keyId: 'key-3', kind: 'merchant', merchantId: MERCHANT, hash: new Uint8Array(32) },
      ...dates,
    });
    expect(await setRights('key-3', { types: ['KYC'] }, by)).toBeUndefined();
    await test.store.keys.revoke('key-2', START + 2, by.actor);
    expect(await setRights('key-2', { types: null }, by)).toBeUndefined();
    const audit = await test.store.audit.list({ limit: 10 });
    expect(
      audit
        .filter(({ details }) => details.keyId === 'key-2')
        .map(({ action, actor, details }) => [action, actor, details.types, details.merchants]),
    ).toEqual([
      ['api_key.revoke', by.actor, undefined, []],
      ['api_key.set', by.actor, undefined, []],
      ['api_key.set', by.actor, ['KYC', 'AML'], [MERCHANT]],
      ['api_key.create', OPERATOR, ['KYC', 'AML'], undefined],
    ]);
  });
}

function lifeOfAnEndpoint(test: StoreUnderTest): void {
  it('creates, changes, rotates and removes an endpoint, with a version that only grows', async () => {
    const uuid = randomUUID();
    const { endpoints } = test.store;
    const created = await endpoints.create(newEndpoint(MERCHANT, uuid), options());
    expect(created).toMatchObject({
      kind: 'ok',
      record: { uuid, version: 1, status: 'active', createdAt: START, failureCount: 0, disabledReason: null },
    });
    const disabled = await endpoints.update(MERCHANT, uuid, { status: 'disabled' }, options(START + 1));
    expect(disabled).toMatchObject({
      record: { version: 2, status: 'disabled', disabledReason: 'manual', disabledAt: START + 1 },
    });
    const filter = { subscribedEvents: ['KYC'] as const, description: 'd', status: 'active' as const };
    const active = await endpoints.update(MERCHANT, uuid, filter, options(START + 2));
    expect(active).toMatchObject({
      record: { ...filter, version: 3, disabledReason: null, disabledAt: null, updatedAt: START + 2 },
    });
    const all = await endpoints.update(MERCHANT, uuid, { subscribedEvents: null }, options(START + 2));
    expect(all).toMatchObject({ record: { subscribedEvents: null, description: 'd', version: 4 } });
    const sealed = { keyId: 'k2', ciphertext: 'new' };
    const rotated = await endpoints.rotate(MERCHANT, uuid, { sealed, hint: '…new' }, options(START + 3));
    expect(rotated).toMatchObject({
      record: { secret: sealed, secretHint: '…new', secretRotatedAt: START + 3 },
    });
    expect(await endpoints.get(MERCHANT, uuid)).toEqual((rotated as { record: unknown }).record);
    expect(await endpoints.remove(MERCHANT, uuid, options(START + 4))).toMatchObject({ kind: 'ok' });
    expect(await endpoints.get(MERCHANT, uuid)).toBeUndefined();
    expect(await endpoints.remove(MERCHANT, uuid, options())).toEqual({ kind: 'not_found' });
    const changes = (await test.store.outbox.pending(100)).map(({ change }) => change);
    expect(changes.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(changes.at(-1)).toEqual({
      ...{ kind: 'endpoint', id: uuid, version: 6, value: null },
      seal: { keyId: 'k1', version: 6, mac: expect.any(String) },
    });
  });

  it('never gives a uuid to another endpoint, and the legacy one comes back with a higher version', async () => {
    const uuid = randomUUID();
    await createEndpoint(test.store, MERCHANT, uuid);
    await test.store.endpoints.remove(MERCHANT, uuid, options());
    await expect(createEndpoint(test.store, MERCHANT, uuid)).rejects.toThrow(uuid);
    const legacy = randomUUID();
    await createEndpoint(test.store, MERCHANT, legacy, { legacy: true });
    await test.store.endpoints.remove(MERCHANT, legacy, options());
    const again = await createEndpoint(test.store, MERCHANT, legacy, { legacy: true });
    expect(again.record).toMatchObject({ version: 3, status: 'active' });
  });

  it('sets both parts of the legacy endpoint at once, changes either, removes it, and makes it again', async () => {
    const uuid = randomUUID();
    const { endpoints } = test.store;
    const url = 'https://shop.example.com/single';
    const secretOf = (ciphertext: string) => ({
      sealed: { keyId: 'k1', ciphertext },
      hint: `…${ciphertext}`,
    });
    const set = (change: LegacyChange | null, at = START) =>
      endpoints.setLegacy(MERCHANT, uuid, change, { at, actor: OPERATOR });
    expect(await set({ url })).toEqual({ kind: 'incomplete' });
    expect(await set({ secret: secretOf('a') })).toEqual({ kind: 'incomplete' });
    expect(await set(null)).toEqual({ kind: 'ok', record: null, outboxId: 0 });
    const made = await set({ url, secret: secretOf('a') });
    const record = { url, legacy: true, apiVersion: '2.2.8', version: 1, secretRotatedAt: null };
    expect(made).toMatchObject({ kind: 'ok', record });
    const both = await set({ url: `${url}/b`, secret: secretOf('b') }, START + 1);
    const changed = { url: `${url}/b`, secret: { ciphertext: 'b' }, secretHint: '…b', version: 2 };
    expect(both).toMatchObject({ record: { ...changed, secretRotatedAt: START + 1 } });
    await endpoints.update(MERCHANT, uuid, { status: 'disabled' }, options());
    expect(await set({ secret: secretOf('c') })).toMatchObject({ record: { status: 'disabled' } });
    expect(await set({ url })).toMatchObject({ record: { status: 'active', secret: { ciphertext: 'c' } } });
    expect(await set(null)).toMatchObject({ kind: 'ok', record: null });
    expect(await endpoints.get(MERCHANT, uuid)).toBeUndefined();
    // At the same time: either may be the first.
    const again = await Promise.all(['d', 'e'].map((name) => set({ url, secret: secretOf(name) })));
    const records = again.flatMap((one) => (one.kind === 'ok' && one.record ? [one.record] : []));
    const [, newest] = records.sort((one, other) => one.version - other.version);
    expect(records.map(({ version }) => version)).toEqual([7, 8]);
    const changes = (await test.store.outbox.pending(100)).map(({ change }) => change.version);
    expect(changes).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const store = await test.crashAndReopen();
    expect(await store.endpoints.get(MERCHANT, uuid)).toEqual(newest);
  });

  it('keeps acknowledged changes through a crash', async () => {
    const uuid = randomUUID();
    const { record } = await createEndpoint(test.store, MERCHANT, uuid, { publicKeySignature: true });
    expect(record.publicKeySignature).toBe(true);
    const store = await test.crashAndReopen();
    expect(await store.endpoints.get(MERCHANT, uuid)).toEqual(record);
    const [change] = await store.outbox.pending(1);
    expect(change?.change.value).toMatchObject({ publicKeySignature: true });
    expect(await store.outbox.pending(10)).toHaveLength(1);
  });
}

function rulesOfEndpoints(test: StoreUnderTest): void {
  it('refuses a URL that another endpoint of the merchant has, managed or legacy, and only then', async () => {
    const [first, second, legacy] = [randomUUID(), randomUUID(), randomUUID()];
    const url = 'https://shop.example.com/a';
    const { endpoints } = test.store;
    await createEndpoint(test.store, MERCHANT, first, { url });
    const taken = { kind: 'url_taken', existingUuid: first };
    expect(await endpoints.create(newEndpoint(MERCHANT, second, { url }), options())).toEqual(taken);
    await createEndpoint(test.store, MERCHANT, second);
    expect(await endpoints.update(MERCHANT, second, { url }, options())).toEqual(taken);
    expect(await endpoints.update(MERCHANT, first, { url }, options())).toMatchObject({ kind: 'ok' });
    const both = { url, secret: { sealed: { keyId: 'k1', ciphertext: 'a' }, hint: '…a' } };
    expect(await endpoints.setLegacy(MERCHANT, legacy, both, options())).toEqual(taken);
    await createEndpoint(test.store, 'another', randomUUID(), { url });
    await endpoints.remove(MERCHANT, first, options());
    expect(await endpoints.setLegacy(MERCHANT, legacy, both, options())).toMatchObject({ kind: 'ok' });
    expect(await endpoints.setLegacy(MERCHANT, legacy, { url }, options())).toMatchObject({ kind: 'ok' });
    const takenByLegacy = { kind: 'url_taken', existingUuid: legacy };
    expect(await endpoints.update(MERCHANT, second, { url }, options())).toEqual(takenByLegacy);
    expect(await endpoints.create(newEndpoint(MERCHANT, randomUUID(), { url }), options())).toEqual(
      takenByLegacy,
    );
    await endpoints.setLegacy(MERCHANT, legacy, null, options());
    expect(await endpoints.update(MERCHANT, second, { url }, options())).toMatchObject({ kind: 'ok' });
  });

  it('counts managed endpoints against the quota', async () => {
    const { endpoints } = test.store;
    const create = (change = {}) =>
      endpoints.create(newEndpoint(MERCHANT, randomUUID(), change), options(START, 2));
    const first = await create();
    await create();
    expect(await create()).toEqual({ kind: 'quota_exceeded' });
    expect(await create({ legacy: true })).toMatchObject({ kind: 'ok' });
    if (first.kind === 'ok') await endpoints.remove(MERCHANT, first.record.uuid, options());
    expect(await create()).toMatchObject({ kind: 'ok' });
  });

  it("never shows or changes another merchant's endpoint", async () => {
    const uuid = randomUUID();
    await createEndpoint(test.store, MERCHANT, uuid);
    const { endpoints } = test.store;
    const secret = { sealed: { keyId: 'k', ciphertext: 'x' }, hint: 'h' };
    expect(await endpoints.get('another', uuid)).toBeUndefined();
    expect(await endpoints.list('another', { limit: 10 })).toEqual([]);
    const notFound = { kind: 'not_found' };
    expect(await endpoints.update('another', uuid, { description: 'x' }, options())).toEqual(notFound);
    expect(await endpoints.rotate('another', uuid, secret, options())).toEqual(notFound);
    expect(await endpoints.remove('another', uuid, options())).toEqual(notFound);
    expect(await endpoints.get(MERCHANT, uuid)).toMatchObject({ version: 1 });
  });

  it('gives concurrent changes of one endpoint a version each', async () => {
    const uuid = randomUUID();
    await createEndpoint(test.store, MERCHANT, uuid);
    const changes = Array.from({ length: 20 }, (_, n) =>
      test.store.endpoints.update(MERCHANT, uuid, { description: `${n}` }, options()),
    );
    const versions = (await Promise.all(changes)).map(
      (change) => change.kind === 'ok' && change.record.version,
    );
    // In any order: an engine with several connections may make a later change first.
    expect(new Set(versions)).toEqual(new Set(Array.from({ length: 20 }, (_, n) => n + 2)));
  });
}

function lists(test: StoreUnderTest): void {
  it('lists the newest endpoints first, page by page, without legacy and deleted ones', async () => {
    const uuids = Array.from({ length: 5 }, () => randomUUID());
    // The second and third have the same millisecond, so the uuid decides.
    for (const [n, uuid] of uuids.entries())
      await createEndpoint(test.store, MERCHANT, uuid, {}, START + (n === 2 ? 1 : n));
    await createEndpoint(test.store, MERCHANT, randomUUID(), { legacy: true });
    const { endpoints } = test.store;
    const seen: string[] = [];
    let after: { createdAt: number; uuid: string } | undefined;
    for (;;) {
      const page = await endpoints.list(MERCHANT, { limit: 2, ...(after && { after }) });
      after = page.at(-1);
      if (!after) break;
      seen.push(...page.map(({ uuid }) => uuid));
    }
    const [first = '', second = '', third = '', ...rest] = uuids;
    const pair = [second, third].sort().reverse();
    expect(seen).toEqual([...rest.reverse(), ...pair, first]);
    await endpoints.update(MERCHANT, first, { status: 'disabled' }, options());
    const disabled = await endpoints.list(MERCHANT, { status: 'disabled', limit: 10 });
    expect(disabled.map(({ uuid }) => uuid)).toEqual([first]);
  });
}
