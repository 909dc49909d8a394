import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { SealedHeaders } from '../../../services/domain/endpoint.ts';
import { createEndpoint, OPERATOR, START } from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const BY = { at: START, actor: OPERATOR } as const;
const headersOf = (name: string, keyId = 'k1'): SealedHeaders => ({
  names: ['X-Api-Key', name],
  sealed: { keyId, ciphertext: `sealed ${name}` },
});

/** The headers of a merchant's own, and the limit of requests per second. */
export function controlsContract(test: StoreUnderTest): void {
  const newest = async () => (await test.store.outbox.pending(100)).at(-1)?.change;
  const update = (uuid: string, change: object, at = START) =>
    test.store.endpoints.update(MERCHANT, uuid, change, { ...BY, at });

  it('keeps headers and limit of a new endpoint through a crash, and publishes them sealed', async () => {
    const uuid = randomUUID();
    const given = { headers: headersOf('one'), requestsPerSecond: 10 };
    const { record } = await createEndpoint(test.store, MERCHANT, uuid, given);
    expect(record).toMatchObject({ ...given, headersSetAt: START });
    expect(await newest()).toMatchObject({ id: uuid, value: given, seal: { version: 1 } });
    const reopened = await test.crashAndReopen();
    expect(await reopened.endpoints.get(MERCHANT, uuid)).toEqual(record);
    const [entry] = await reopened.audit.list({ limit: 1 });
    expect(entry?.details).toMatchObject({ headers: given.headers.names, requestsPerSecond: 10 });
    expect(JSON.stringify(entry)).not.toContain('sealed one');
  });

  it('replaces all headers by the change that has seen them, and by no other', async () => {
    const uuid = randomUUID();
    const { record } = await createEndpoint(test.store, MERCHANT, uuid, { headers: headersOf('one') });
    const to = headersOf('two');
    for (const seen of [null, headersOf('other'), headersOf('one', 'k2')])
      expect(await update(uuid, { headers: { to, seen } })).toEqual({ kind: 'headers_changed' });
    expect(await test.store.endpoints.get(MERCHANT, uuid)).toEqual(record);
    const changed = await update(uuid, { headers: { to, seen: headersOf('one') } }, START + 5);
    expect(changed).toMatchObject({
      kind: 'ok',
      record: { headers: to, headersSetAt: START + 5, version: 2 },
    });
    const [entry] = await test.store.audit.list({ limit: 1 });
    expect(entry).toMatchObject({ action: 'endpoint.update', details: { headers: to.names } });
    expect(JSON.stringify(entry)).not.toContain('sealed two');
  });

  it('removes headers and limit, and keeps both through other changes', async () => {
    const uuid = randomUUID();
    const given = { headers: headersOf('one'), requestsPerSecond: 10 };
    await createEndpoint(test.store, MERCHANT, uuid, given);
    expect(await update(uuid, { description: 'other' })).toMatchObject({ record: given });
    await update(uuid, { headers: { to: null, seen: given.headers } });
    await update(uuid, { requestsPerSecond: null });
    const after = await test.store.endpoints.get(MERCHANT, uuid);
    for (const value of [after, (await newest())?.value]) {
      expect(value).not.toHaveProperty('headers');
      expect(value).not.toHaveProperty('requestsPerSecond');
    }
  });

  it('seals headers anew beside secrets, and the names and times stay', async () => {
    const uuid = randomUUID();
    await createEndpoint(test.store, MERCHANT, uuid, { headers: headersOf('one') });
    const options = { now: START, limit: 10 };
    const found = await test.store.sealings.notSealedWith('k2', options);
    expect(found.map(({ kind, id }) => [kind, id])).toEqual([
      ['endpoint', uuid],
      ['headers', uuid],
    ]);
    const [first, second] = found;
    const rest = await test.store.sealings.notSealedWith('k2', { ...options, after: first?.cursor ?? '' });
    expect(rest).toEqual([second]);
    const resealed = found.map((thing) => ({
      ...thing,
      resealed: { keyId: 'k2', ciphertext: `anew ${thing.kind}` },
    }));
    expect(await test.store.sealings.counts(START)).toEqual([{ keyId: 'k1', endpoints: 1, answers: 0 }]);
    expect(await test.store.sealings.replace(resealed, { ...BY, at: START + 9 })).toEqual({
      ...{ endpoints: 2, answers: 0 },
    });
    const headers = { ...headersOf('one'), sealed: { keyId: 'k2', ciphertext: 'anew headers' } };
    const after = await test.store.endpoints.get(MERCHANT, uuid);
    expect(after).toMatchObject({ headers, headersSetAt: START });
    expect((await newest())?.value).toMatchObject({ headers });
    expect(await test.store.sealings.notSealedWith('k2', options)).toEqual([]);
  });

  it('counts headers that another key than that of the secret seals', async () => {
    const uuid = randomUUID();
    await createEndpoint(test.store, MERCHANT, uuid, { headers: headersOf('one', 'k2') });
    const counts = await test.store.sealings.counts(START);
    expect(counts.map(({ keyId, endpoints }) => [keyId, endpoints]).sort()).toEqual([
      ['k1', 1],
      ['k2', 1],
    ]);
  });

  it('loses headers and limit with the endpoint, and takes them from the directory stream', async () => {
    const uuid = randomUUID();
    const given = { headers: headersOf('one'), requestsPerSecond: 10 };
    const { record } = await createEndpoint(test.store, MERCHANT, uuid, given);
    const change = await newest();
    await test.store.endpoints.remove(MERCHANT, uuid, BY);
    expect(await test.store.sealings.counts(START)).toEqual([]);
    if (change?.kind !== 'endpoint' || !change.value) throw new Error('no change of the endpoint');
    const value = { ...change.value, version: 9, requestsPerSecond: 20 };
    await test.store.outbox.adopt([{ ...change, version: 9, value }], START + 7);
    const adopted = await test.store.endpoints.get(MERCHANT, uuid);
    expect(adopted).toMatchObject({
      headers: record.headers,
      requestsPerSecond: 20,
      headersSetAt: START + 7,
    });
  });
}
