/**
 * Guarantee: requests that run at the same time in two processes have the result of running one after the other. A
 * third connection holds a lock that both wait for, so that they conflict every time.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../../services/process/clock.ts';
import { StoreConflict } from '../../../../services/store/change.ts';
import { CLAIM_MS, type Store } from '../../../../services/store/store.ts';
import { describeWithPostgres } from '../../../support/postgres/suites.ts';
import { newEndpoint, OPERATOR, START } from '../../../support/records/journal-entries.ts';
import { type PostgresPlace, postgresPlace } from '../postgres-place.ts';
import { meet } from './meet.ts';

const MERCHANT = 'a-merchant';
const BY = { at: START, actor: OPERATOR };

await describeWithPostgres('two processes on one database', (createDatabase) => {
  let place: PostgresPlace;
  let one: Store;
  let two: Store;
  beforeEach(async () => {
    place = await postgresPlace(createDatabase, systemClock());
    [one, two] = await Promise.all([place.open(), place.open()]);
  });
  afterEach(async () => {
    await Promise.all([one.close(), two.close()]);
    await place.dispose();
  });

  const atOnce = <A, B>(table: string, first: () => Promise<A>, second: () => Promise<B>) =>
    meet(place.database, table, first, second);
  const create = (store: Store, change: Parameters<typeof newEndpoint>[2] = {}, quota = 100) =>
    store.endpoints.create(newEndpoint(MERCHANT, randomUUID(), change), { ...BY, quota });

  it('give one URL to one endpoint', async () => {
    const url = 'https://shop.example.com/a';
    const results = await atOnce(
      'endpoint',
      () => create(one, { url }),
      () => create(two, { url }),
    );
    expect(results.map(({ kind }) => kind).sort()).toEqual(['ok', 'url_taken']);
    const made = results.flatMap((result) => (result.kind === 'ok' ? [result.record.uuid] : []));
    expect(results).toContainEqual({ kind: 'url_taken', existingUuid: made[0] });
  });

  it('keep the quota', async () => {
    await create(one);
    const results = await atOnce(
      'endpoint',
      () => create(one, {}, 2),
      () => create(two, {}, 2),
    );
    expect(results.map(({ kind }) => kind).sort()).toEqual(['ok', 'quota_exceeded']);
  });

  it('make one legacy endpoint, and change it', async () => {
    const uuid = randomUUID();
    const set = (store: Store, name: string) => () =>
      store.endpoints.setLegacy(
        MERCHANT,
        uuid,
        {
          url: `https://shop.example.com/${name}`,
          secret: { sealed: { keyId: 'k1', ciphertext: name }, hint: name },
        },
        BY,
      );
    const results = await atOnce('endpoint', set(one, 'a'), set(two, 'b'));
    const records = results.flatMap((result) =>
      result.kind === 'ok' && result.record ? [result.record] : [],
    );
    expect(records.map(({ version }) => version).sort()).toEqual([1, 2]);
    const last = records.find(({ version }) => version === 2);
    // Never the URL of one with the secret of the other.
    expect(last?.url.endsWith(last.secret.ciphertext)).toBe(true);
    expect(await one.endpoints.get(MERCHANT, uuid)).toEqual(last);
  });

  it('give changes of one endpoint ascending versions, and outbox ids in their order', async () => {
    const made = await create(one);
    const uuid = made.kind === 'ok' ? made.record.uuid : '';
    const update = (store: Store, description: string) => () =>
      store.endpoints.update(MERCHANT, uuid, { description }, BY);
    const results = await atOnce('endpoint', update(one, 'a'), update(two, 'b'));
    const changes = results.flatMap((result) =>
      result.kind === 'ok' ? [{ version: result.record.version, outboxId: result.outboxId }] : [],
    );
    changes.sort((first, second) => first.version - second.version);
    expect(changes.map(({ version }) => version)).toEqual([2, 3]);
    expect(changes[0]?.outboxId).toBeLessThan(changes[1]?.outboxId ?? 0);
  });

  it('carry out a request with an Idempotency-Key once', async () => {
    const claim = (store: Store) => () => store.answers.claim('key-1/idem', START);
    const claims = await atOnce('answer', claim(one), claim(two));
    expect(claims.map(({ kind }) => kind).sort()).toEqual(['claimed', 'running']);
  });

  it('take over the claim of a stalled process, whose change is then refused', async () => {
    const scope = 'key-1/idem';
    const first = await one.answers.claim(scope, START);
    const second = await two.answers.claim(scope, START + CLAIM_MS);
    expect([first.kind, second.kind]).toEqual(['claimed', 'claimed']);
    const answerOf = (claim: typeof first) => ({
      ...{ scope, requestHash: 'hash', status: 201, sealed: 'sealed', expiresAt: START + 10 * CLAIM_MS },
      token: claim.kind === 'claimed' ? claim.token : '',
    });
    const late = one.endpoints.create(newEndpoint(MERCHANT, randomUUID()), {
      ...{ ...BY, quota: 9 },
      answer: answerOf(first),
    });
    await expect(late).rejects.toBeInstanceOf(StoreConflict);
    await two.answers.keep(answerOf(second), START);
    expect(await one.answers.claim(scope, START + CLAIM_MS)).toMatchObject({ kind: 'stored', status: 201 });
    expect(await one.endpoints.list(MERCHANT, { limit: 9 })).toEqual([]);
  });

  it('count the requests of a key together', async () => {
    const stores = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : two));
    const taken = await Promise.all(stores.map(({ limits }) => limits.take('key-1', 'requests', 60_000)));
    expect(taken.map(({ used }) => used).sort((a, b) => a - b)).toEqual(stores.map((_, n) => n + 1));
  });

  it('refuse a revoked key from the next request on', async () => {
    const hash = new Uint8Array(32).fill(7);
    const key = {
      keyId: 'key-1',
      kind: 'merchant',
      merchantId: MERCHANT,
      hash,
      hint: 'sk_…',
      name: null,
    } as const;
    await one.keys.create({ ...key, createdAt: START, revokedAt: null, lastUsedAt: null });
    expect(await two.keys.findByHash(hash)).toMatchObject({ revokedAt: null });
    await one.keys.revoke('key-1', START + 1);
    expect(await two.keys.findByHash(hash)).toMatchObject({ revokedAt: START + 1 });
  });
});
