import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { EndpointRecord } from '../../../services/store/store.ts';
import { createEndpoint, OPERATOR, START } from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const BY = { at: START, actor: OPERATOR } as const;
const secretOf = (name: string, keyId = 'k1') => ({
  sealed: { keyId, ciphertext: `sealed ${name}` },
  hint: `…${name}`,
});
const NOTHING = { preparedHint: null, preparedAt: null };

/** The secret that is prepared for the next rotation. */
export function secretsContract(test: StoreUnderTest): void {
  lifeOfAPreparedSecret(test);
  endOfAPreparedSecret(test);
  sealings(test);
}

const prepare = ({ store }: StoreUnderTest, uuid: string, name: string, keyId?: string) =>
  store.endpoints.prepare(MERCHANT, uuid, secretOf(name, keyId), BY);

const newest = async ({ store }: StoreUnderTest) => (await store.outbox.pending(100)).at(-1)?.change;

function lifeOfAPreparedSecret(test: StoreUnderTest): void {
  it('keeps one through a crash, publishes it sealed, and replaces it by another', async () => {
    const uuid = randomUUID();
    const { record } = await createEndpoint(test.store, MERCHANT, uuid);
    await prepare(test, uuid, 'one');
    const later = { ...BY, at: START + 5 };
    const prepared = await test.store.endpoints.prepare(MERCHANT, uuid, secretOf('two'), later);
    const { sealed, hint } = secretOf('two');
    const expected = { ...record, prepared: sealed, preparedHint: hint, preparedAt: START + 5, version: 3 };
    expect(prepared).toMatchObject({ kind: 'ok', record: expected });
    const value = { secret: record.secret, prepared: sealed, version: 3 };
    expect(await newest(test)).toMatchObject({ id: uuid, value, seal: { version: 3 } });
    const reopened = await test.crashAndReopen();
    expect(await reopened.endpoints.get(MERCHANT, uuid)).toEqual(expected);
    const [entry] = await reopened.audit.list({ limit: 1 });
    expect(entry).toMatchObject({ action: 'endpoint.prepare', details: { sealedWith: 'k1' } });
  });

  it('puts one in force by the rotation that has seen it, and by no other', async () => {
    const uuid = randomUUID();
    const { record } = await createEndpoint(test.store, MERCHANT, uuid);
    const { sealed: one } = secretOf('one');
    await prepare(test, uuid, 'one');
    const rotate = (seen: EndpointRecord['secret'] | null) =>
      test.store.endpoints.rotate(MERCHANT, uuid, secretOf('one'), { ...BY, seen });
    const stored = await test.store.endpoints.get(MERCHANT, uuid);
    for (const seen of [null, record.secret, { ...one, keyId: 'k2' }])
      expect(await rotate(seen)).toEqual({ kind: 'prepared_changed' });
    expect(await test.store.endpoints.get(MERCHANT, uuid)).toEqual(stored);
    const rotated = await rotate(one);
    expect(rotated).toMatchObject({ kind: 'ok', record: { secret: one, secretHint: '…one', ...NOTHING } });
    expect(await newest(test)).toMatchObject({ value: { secret: one } });
    expect((await newest(test))?.value).not.toHaveProperty('prepared');
    expect(await rotate(one)).toEqual({ kind: 'prepared_changed' });
  });
}

function endOfAPreparedSecret(test: StoreUnderTest): void {
  const legacy = async () => {
    const uuid = randomUUID();
    const set = { url: `https://example.com/${uuid}`, secret: secretOf('first') };
    await test.store.endpoints.setLegacy(MERCHANT, uuid, set, BY);
    await prepare(test, uuid, 'one');
    return { uuid, set };
  };

  it.each([
    [
      'a rotation to another secret',
      (uuid: string) => test.store.endpoints.rotate(MERCHANT, uuid, secretOf('other'), BY),
    ],
    ['a discard', (uuid: string) => test.store.endpoints.prepare(MERCHANT, uuid, null, BY)],
    [
      'a secret that the merchant chooses',
      (uuid: string) => test.store.endpoints.setLegacy(MERCHANT, uuid, { secret: secretOf('chosen') }, BY),
    ],
  ])('has none after %s', async (_what, change) => {
    const { uuid } = await legacy();
    expect(await change(uuid)).toMatchObject({ kind: 'ok', record: NOTHING });
    const after = await test.store.endpoints.get(MERCHANT, uuid);
    expect(after).toMatchObject(NOTHING);
    expect(after).not.toHaveProperty('prepared');
    expect((await newest(test))?.value).not.toHaveProperty('prepared');
  });

  it('keeps one through other changes, and loses it with the endpoint', async () => {
    const { uuid, set } = await legacy();
    const moved = await test.store.endpoints.update(MERCHANT, uuid, { description: 'other' }, BY);
    expect(moved).toMatchObject({ record: { preparedHint: '…one', prepared: secretOf('one').sealed } });
    await test.store.endpoints.remove(MERCHANT, uuid, BY);
    const again = await test.store.endpoints.setLegacy(MERCHANT, uuid, set, BY);
    expect(again).toMatchObject({ record: NOTHING });
    expect(await test.store.sealings.counts(START)).toEqual([{ keyId: 'k1', endpoints: 1, answers: 0 }]);
  });

  it('leaves an endpoint as it is that has none to discard, and one of another merchant', async () => {
    const uuid = randomUUID();
    await createEndpoint(test.store, MERCHANT, uuid);
    const before = await test.store.endpoints.get(MERCHANT, uuid);
    const discard = (merchantId: string) => test.store.endpoints.prepare(merchantId, uuid, null, BY);
    expect(await discard(MERCHANT)).toEqual({ kind: 'ok', record: before, outboxId: 0 });
    expect(await discard('another')).toEqual({ kind: 'not_found' });
    expect(await test.store.endpoints.prepare('another', uuid, secretOf('one'), BY)).toEqual({
      kind: 'not_found',
    });
    expect(await test.store.endpoints.get(MERCHANT, uuid)).toEqual(before);
  });
}

function sealings(test: StoreUnderTest): void {
  /** Returns what is sealed with other keys, one at a time. */
  const notSealedWith = async (keyId: string) => {
    const found = [];
    for (let after: string | undefined; ; ) {
      const options = { now: START, limit: 1, ...(after === undefined ? {} : { after }) };
      const [thing] = await test.store.sealings.notSealedWith(keyId, options);
      if (!thing) return found;
      after = thing.cursor;
      found.push(thing);
    }
  };

  it('seals prepared ones anew beside those in force, and counts them with the key that seals them', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    for (const uuid of [one, other]) await createEndpoint(test.store, MERCHANT, uuid);
    await prepare(test, one, 'one');
    await prepare(test, other, 'other', 'k2');
    const counts = await test.store.sealings.counts(START);
    expect(counts.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))).toEqual([
      { keyId: 'k1', endpoints: 2, answers: 0 },
      { keyId: 'k2', endpoints: 1, answers: 0 },
    ]);
    const found = await notSealedWith('k2');
    expect(found.map(({ kind, id }) => [kind, id])).toEqual([
      ['endpoint', one],
      ['endpoint', other],
      ['prepared', one],
    ]);
    const resealed = found.map((thing) => ({
      ...thing,
      resealed: { keyId: 'k2', ciphertext: `anew ${thing.kind}` },
    }));
    expect(await test.store.sealings.replace(resealed, BY)).toEqual({ endpoints: 3, answers: 0 });
    expect(await test.store.sealings.replace(resealed, BY)).toEqual({ endpoints: 0, answers: 0 });
    expect(await test.store.endpoints.get(MERCHANT, one)).toMatchObject({
      secret: { keyId: 'k2', ciphertext: 'anew endpoint' },
      prepared: { keyId: 'k2', ciphertext: 'anew prepared' },
      preparedHint: '…one',
    });
    expect(await test.store.sealings.counts(START)).toEqual([{ keyId: 'k2', endpoints: 2, answers: 0 }]);
  });
}
