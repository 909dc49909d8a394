import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../services/store/store.ts';
import { createEndpoint, HOUR_MS, newEndpoint, OPERATOR, START } from '../support/records/journal-entries.ts';
import { tokenFor } from './requests/store-answers.ts';
import type { StoreUnderTest } from './store-place.ts';

const MERCHANT = 'a-merchant';
const BY = { at: START, actor: OPERATOR } as const;
export function keepingContract(test: StoreUnderTest): void {
  describe('the audit log', () => audit(test));
  describe('each sealed secret', () => sealings(test));
}

function audit(test: StoreUnderTest): void {
  it('has every change with its author, newest first, page by page', async () => {
    const { endpoints, merchants, keys } = test.store;
    await merchants.create({ merchantId: MERCHANT, name: 'Shop', senderAccountDetails: false });
    await keys.create({
      keyId: 'key-1',
      kind: 'merchant',
      merchantId: MERCHANT,
      hash: new Uint8Array(32).fill(1),
      hint: 'sk_…abc',
      name: 'ours',
      createdAt: START,
      revokedAt: null,
      lastUsedAt: null,
    });
    const uuid = randomUUID();
    const by = { at: START + 1, actor: { kind: 'api_key', keyId: 'key-1' } } as const;
    await endpoints.create(newEndpoint(MERCHANT, uuid), { ...by, quota: 9 });
    await endpoints.update(MERCHANT, uuid, { description: 'x' }, { ...by, at: START + 2 });
    const other = randomUUID();
    await createEndpoint(test.store, 'another', other, {}, START + 3);
    const list = async (options: Partial<Parameters<Store['audit']['list']>[0]>) =>
      (await test.store.audit.list({ limit: 100, ...options })).map(({ action, endpointId }) => [
        action,
        endpointId,
      ]);
    expect(await list({ endpointId: uuid })).toEqual([
      ['endpoint.update', uuid],
      ['endpoint.create', uuid],
    ]);
    expect(await list({ endpointId: uuid, merchantId: 'another' })).toEqual([]);
    expect(await list({ merchantId: 'another', since: START + 3 })).toEqual([['endpoint.create', other]]);
    expect(await list({ endpointId: uuid, since: START + 2 })).toEqual([['endpoint.update', uuid]]);
    const [newest] = await test.store.audit.list({ endpointId: uuid, limit: 1 });
    expect(newest).toMatchObject({
      at: START + 2,
      actor: { kind: 'api_key', keyId: 'key-1' },
      key: { hint: 'sk_…abc', name: 'ours' },
      merchantId: MERCHANT,
      details: { description: 'x' },
    });
    expect(await list({ endpointId: uuid, after: newest?.cursor ?? '' })).toEqual([
      ['endpoint.create', uuid],
    ]);
    const all = await list({});
    const seen: unknown[] = [];
    for (let after: string | undefined; ; ) {
      const page = await test.store.audit.list({ limit: 2, ...(after && { after }) });
      after = page.at(-1)?.cursor;
      if (!after) break;
      seen.push(...page.map(({ action, endpointId }) => [action, endpointId]));
    }
    expect(seen).toEqual(all);
    await expect(list({ after: 'x' })).rejects.toThrow('cursor');
  });

  it('has what was done elsewhere, with the person, and keeps it through a crash', async () => {
    const actor = { kind: 'operator', person: 'ann@ops-1' } as const;
    const entry = {
      at: START,
      actor,
      merchantId: MERCHANT,
      action: 'quarantine.show',
      details: { position: '7' },
    };
    await test.store.audit.add(entry);
    const endpointId = randomUUID();
    const resend = { ...entry, endpointId, action: 'delivery.resend', at: START + 1 };
    await test.store.audit.add({ ...resend, actor: { kind: 'api_key', keyId: 'key-1' } });
    await test.store.audit.add({ ...entry, actor: OPERATOR, merchantId: null, at: START + 2 });
    await test.store.merchants.create(
      { merchantId: MERCHANT, name: 'Shop', senderAccountDetails: false },
      actor,
    );
    const store = await test.crashAndReopen();
    const entries = await store.audit.list({ limit: 10 });
    expect(entries.find(({ action }) => action === 'merchant.create')).toMatchObject({ actor });
    expect(entries.filter(({ action }) => action !== 'merchant.create')).toMatchObject([
      { ...entry, actor: OPERATOR, merchantId: null, at: START + 2 },
      { ...resend, actor: { kind: 'api_key', keyId: 'key-1' } },
      entry,
    ]);
    // The feed reports changes of endpoints, and nothing else of the audit.
    expect((await store.feed.read(MERCHANT, { after: '0', limit: 10 })).entries).toEqual([]);
  });
}

function sealings(test: StoreUnderTest): void {
  const answer = async (scope: string, keyId: string, expiresAt = START + HOUR_MS) => ({
    ...{ scope, requestHash: 'hash', status: 201, expiresAt, token: await tokenFor(test.store, scope) },
    sealed: JSON.stringify({ keyId, ciphertext: 'sealed' }),
  });

  it('is counted by key, unless it is deleted or expired', async () => {
    const [first, second, gone] = [randomUUID(), randomUUID(), randomUUID()];
    for (const uuid of [first, second, gone]) await createEndpoint(test.store, MERCHANT, uuid);
    await test.store.endpoints.remove(MERCHANT, gone, BY);
    const sealed = { keyId: 'k2', ciphertext: 'anew' };
    await test.store.endpoints.rotate(
      MERCHANT,
      first,
      { sealed, hint: '…' },
      { ...BY, answer: await answer('a', 'k1') },
    );
    await test.store.endpoints.rotate(
      MERCHANT,
      first,
      { sealed, hint: '…' },
      { ...BY, answer: await answer('b', 'k2') },
    );
    expect(await test.store.sealings.counts(START)).toEqual([
      { keyId: 'k1', endpoints: 1, answers: 1 },
      { keyId: 'k2', endpoints: 1, answers: 1 },
    ]);
    expect(await test.store.sealings.counts(START + HOUR_MS)).toEqual([
      { keyId: 'k1', endpoints: 1, answers: 0 },
      { keyId: 'k2', endpoints: 1, answers: 0 },
    ]);
  });

  it('is replaced with a higher version and an outbox row, unless it was rotated meanwhile', async () => {
    const uuids = [randomUUID(), randomUUID(), randomUUID()];
    for (const uuid of uuids) await createEndpoint(test.store, MERCHANT, uuid);
    const [kept, rotated, changed] = uuids as [string, string, string];
    await test.store.endpoints.rotate(
      MERCHANT,
      kept,
      { sealed: { keyId: 'k1', ciphertext: 'of kept' }, hint: '…' },
      { ...BY, answer: await answer('scope', 'k1') },
    );
    const options = { now: START, limit: 2 };
    const first = await test.store.sealings.notSealedWith('k2', options);
    const more = await test.store.sealings.notSealedWith('k2', {
      ...options,
      after: first.at(-1)?.cursor ?? '',
    });
    expect([...first, ...more].map(({ kind, id }) => [kind, id])).toEqual([
      ...uuids.map((uuid) => ['endpoint', uuid]),
      ['answer', 'scope'],
    ]);
    const sealed = { keyId: 'k2', ciphertext: 'rotated' };
    await test.store.endpoints.rotate(MERCHANT, rotated, { sealed, hint: '…' }, BY);
    // A change of other fields does not prevent the replacement.
    await test.store.endpoints.update(MERCHANT, changed, { description: 'other' }, BY);
    const before = await test.store.endpoints.get(MERCHANT, kept);
    const things = [...first, ...more].map((thing) => ({
      ...thing,
      resealed: { keyId: 'k2', ciphertext: `anew ${thing.id}` },
    }));
    const late = { at: START + 9, actor: OPERATOR };
    expect(await test.store.sealings.replace(things, late)).toEqual({ endpoints: 2, answers: 1 });
    expect(await test.store.sealings.replace(things, late)).toEqual({ endpoints: 0, answers: 0 });
    const store = await test.crashAndReopen();
    const secretOf = async (uuid: string) => (await store.endpoints.get(MERCHANT, uuid))?.secret.ciphertext;
    expect(await secretOf(kept)).toBe(`anew ${kept}`);
    expect(await secretOf(rotated)).toBe('rotated');
    expect(await secretOf(changed)).toBe(`anew ${changed}`);
    const after = await store.endpoints.get(MERCHANT, kept);
    expect([after?.version, after?.updatedAt]).toEqual([(before?.version ?? 0) + 1, before?.updatedAt]);
    const pending = (await store.outbox.pending(100)).map(({ change }) => change);
    for (const uuid of [kept, changed])
      expect(pending.findLast(({ id }) => id === uuid)).toMatchObject({ value: { secret: { keyId: 'k2' } } });
    const stored = await store.answers.claim('scope', START);
    expect(stored).toMatchObject({ kind: 'stored', sealed: expect.stringContaining('anew scope') });
    expect(await store.sealings.notSealedWith('k2', { now: START, limit: 9 })).toEqual([]);
    const [entry] = await store.audit.list({ limit: 1 });
    expect(entry).toMatchObject({
      action: 'keyring.rewrap',
      details: { sealedWith: 'k2', endpoints: 2, answers: 1 },
    });
  });
}
