import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { StoreConflict } from '../../../services/store/change.ts';
import { CLAIM_MS, type Store } from '../../../services/store/store.ts';
import { newEndpoint, OPERATOR, START } from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const SCOPE = 'key-1/idem';
const options = { at: START, actor: OPERATOR, quota: 100 };
const answer = (token: string, scope = SCOPE) => ({
  ...{ scope, token, requestHash: 'hash', status: 201, sealed: 'sealed answer' },
  expiresAt: START + CLAIM_MS * 10,
});

export function answersContract(test: StoreUnderTest): void {
  describe('the answers of the store', () => {
    storedWithChanges(test);
    claims(test);
  });
}

/** Claims a scope, and returns the token. */
export async function tokenFor(store: Pick<Store, 'answers'>, scope: string, now = START): Promise<string> {
  const claim = await store.answers.claim(scope, now);
  if (claim.kind !== 'claimed') throw new Error(`the claim of ${scope} is ${claim.kind}`);
  return claim.token;
}

const createWith = async (store: Pick<Store, 'endpoints'>, token: string) =>
  store.endpoints.create(newEndpoint(MERCHANT, randomUUID()), { ...options, answer: answer(token) });

function storedWithChanges(test: StoreUnderTest): void {
  it('are stored with their change, so that a crash leaves both or neither', async () => {
    const created = await createWith(test.store, await tokenFor(test.store, SCOPE));
    const { answers } = await test.crashAndReopen();
    const outboxId = created.kind === 'ok' ? created.outboxId : 0;
    const stored = { kind: 'stored', requestHash: 'hash', status: 201, sealed: 'sealed answer', outboxId };
    expect(await answers.claim(SCOPE, START)).toEqual(stored);
    expect((await answers.claim('key-1/other', START)).kind).toBe('claimed');
    expect((await answers.claim(SCOPE, START + CLAIM_MS * 10)).kind).toBe('claimed');
  });

  it('are not stored for a change that was refused', async () => {
    const token = await tokenFor(test.store, SCOPE);
    const refused = await test.store.endpoints.create(newEndpoint(MERCHANT, randomUUID()), {
      ...options,
      quota: 0,
      answer: answer(token),
    });
    expect(refused.kind).toBe('quota_exceeded');
    expect((await test.store.answers.claim(SCOPE, START)).kind).toBe('running');
    await test.store.answers.release(SCOPE, token);
    expect((await test.store.answers.claim(SCOPE, START)).kind).toBe('claimed');
  });

  it('are stored without a change, too', async () => {
    const token = await tokenFor(test.store, SCOPE);
    await test.store.answers.keep(answer(token), START);
    const store = await test.crashAndReopen();
    expect(await store.answers.claim(SCOPE, START)).toMatchObject({ kind: 'stored', outboxId: 0 });
  });
}

function claims(test: StoreUnderTest): void {
  it('are claimed by one request of many, until it has stored its answer', async () => {
    const { answers } = test.store;
    const asked = await Promise.all(Array.from({ length: 5 }, () => answers.claim(SCOPE, START)));
    expect(asked.map(({ kind }) => kind).sort()).toEqual(['claimed', ...Array(4).fill('running')]);
    const first = asked.find(({ kind }) => kind === 'claimed');
    const token = first?.kind === 'claimed' ? first.token : '';
    await createWith(test.store, token);
    expect((await answers.claim(SCOPE, START)).kind).toBe('stored');
    await answers.release(SCOPE, token);
    expect((await answers.claim(SCOPE, START)).kind).toBe('stored');
  });

  it('are released by the request that has the claim, and by no other', async () => {
    const { answers } = test.store;
    const token = await tokenFor(test.store, SCOPE);
    await answers.release(SCOPE, randomUUID());
    await answers.release('key-1/other', token);
    expect((await answers.claim(SCOPE, START)).kind).toBe('running');
    await answers.release(SCOPE, token);
    expect((await answers.claim(SCOPE, START)).kind).toBe('claimed');
  });

  it('change nothing for a request whose claim has ended meanwhile', async () => {
    const { answers, endpoints, outbox } = test.store;
    const stalled = await tokenFor(test.store, SCOPE);
    expect((await answers.claim(SCOPE, START + CLAIM_MS - 1)).kind).toBe('running');
    const second = await tokenFor(test.store, SCOPE, START + CLAIM_MS);
    await expect(createWith(test.store, stalled)).rejects.toBeInstanceOf(StoreConflict);
    await expect(answers.keep(answer(stalled), START)).rejects.toBeInstanceOf(StoreConflict);
    await answers.release(SCOPE, stalled);
    expect(await endpoints.list(MERCHANT, { limit: 10 })).toEqual([]);
    expect(await outbox.pending(10)).toEqual([]);
    expect((await createWith(test.store, second)).kind).toBe('ok');
    await expect(createWith(test.store, second)).rejects.toBeInstanceOf(StoreConflict);
  });

  it('survive the failure of a change that was committed together with them', async () => {
    const { answers } = test.store;
    const [token, failed] = await Promise.all([
      tokenFor(test.store, SCOPE),
      createWith(test.store, randomUUID()).catch((error: unknown) => error),
    ]);
    expect(failed).toBeInstanceOf(StoreConflict);
    expect((await answers.claim(SCOPE, START)).kind).toBe('running');
    expect((await createWith(test.store, token)).kind).toBe('ok');
  });
}
