import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { CursorInvalid } from '../../../services/store/change.ts';
import type { NewReplay } from '../../../services/store/replays.ts';
import { HOUR_MS, OPERATOR, START } from '../../support/records/journal-entries.ts';
import { tokenFor } from '../requests/store-answers.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const SYSTEM = { kind: 'system' } as const;

/** The jobs of replays: their place, their counts, their lists. */
export function replayJobs(test: StoreUnderTest): void {
  const options = { at: START, actor: OPERATOR };
  const make = (endpointId: string | null): NewReplay => ({
    ...{ merchantId: MERCHANT, endpointId, only: 'missing', types: ['KYC'], eventIds: null },
    ...{ since: START, until: START + 1000 * HOUR_MS },
    replayId: randomUUID(),
    count: 7,
  });

  it('keep a replay’s place and counts through a crash until it ends, and its counts afterwards', async () => {
    const replay = make(randomUUID());
    const created = await test.store.replays.create(replay, options);
    const fresh = { status: 'running', cancelReason: null, published: 0, leftOut: 0, place: null };
    const born = { ...replay, ...fresh, createdAt: START, finishedAt: null };
    expect(created).toEqual({ kind: 'ok', record: born });
    const step = { from: null, place: 'there', published: 5, leftOut: 1 };
    expect(await test.store.replays.advance(replay.replayId, step)).toBe(true);
    const further = { ...step, from: 'there', place: 'further' };
    expect(await test.store.replays.advance(replay.replayId, further)).toBe(true);
    // A runner that stalled before its page's place was stored: the one that went on has counted these.
    for (const late of [step, further])
      expect(await test.store.replays.advance(replay.replayId, late)).toBe(false);
    await test.crashAndReopen();
    const { replays } = test.store;
    const moved = { ...born, place: 'further', published: 10, leftOut: 2 };
    expect(await replays.running()).toEqual([moved]);
    const end = { status: 'cancelled', reason: 'endpoint_deleted', at: START + 5, actor: SYSTEM } as const;
    const ended = { ...moved, status: 'cancelled', cancelReason: 'endpoint_deleted', finishedAt: START + 5 };
    expect(await replays.finish(replay.replayId, end)).toEqual(ended);
    expect(await replays.finish(replay.replayId, end)).toBeUndefined();
    const last = { ...step, from: 'further', place: 'end' };
    expect(await replays.advance(replay.replayId, last)).toBe(false);
    expect(await replays.running()).toEqual([]);
    expect(await replays.get(replay.replayId)).toEqual(ended);
    expect(await replays.get(randomUUID())).toBeUndefined();
  });

  it('run one at a time per endpoint, and one over all endpoints', async () => {
    for (const endpointId of [randomUUID(), null]) {
      const [first, second] = [make(endpointId), make(endpointId)];
      await test.store.replays.create(first, options);
      const refused = { kind: 'running', replayId: first.replayId };
      expect(await test.store.replays.create(second, options)).toEqual(refused);
      expect(await test.store.replays.create(make(randomUUID()), options)).toMatchObject({ kind: 'ok' });
      const end = { status: 'completed', reason: null, at: START, actor: SYSTEM } as const;
      await test.store.replays.finish(first.replayId, end);
      expect(await test.store.replays.create(second, options)).toMatchObject({ kind: 'ok' });
    }
  });

  it('are listed newest first, for one endpoint or all, page by page, and listeners hear of new ones', async () => {
    const { replays } = test.store;
    let notified = 0;
    const stopListening = replays.onAdded(() => {
      notified += 1;
    });
    const endpointId = randomUUID();
    const made = [make(endpointId), make(null), make(endpointId)];
    for (const [index, replay] of made.entries()) {
      if (index === 2) stopListening();
      await replays.create(replay, options);
      const end = { status: 'completed', reason: null, at: START, actor: SYSTEM } as const;
      await replays.finish(replay.replayId, end);
    }
    expect(notified).toBe(2);
    const ids = made.map(({ replayId }) => replayId);
    const list = async (more: object) =>
      (await replays.list({ limit: 10, ...more })).map(({ replayId }) => ids.indexOf(replayId));
    expect(await list({})).toEqual([2, 1, 0]);
    expect(await list({ endpointId })).toEqual([2, 0]);
    const [newest] = await replays.list({ limit: 1 });
    expect(await list({ after: newest?.cursor })).toEqual([1, 0]);
    await expect(list({ after: 'nonsense' })).rejects.toBeInstanceOf(CursorInvalid);
  });

  it('are stored with their answer', async () => {
    const { store } = test;
    const answer = { requestHash: 'h', status: 202, sealed: 's', expiresAt: START + HOUR_MS };
    const token = await tokenFor(store, 'one');
    await store.replays.create(make(randomUUID()), {
      ...options,
      answer: { ...answer, scope: 'one', token },
    });
    const { answers } = await test.crashAndReopen();
    expect(await answers.claim('one', START)).toMatchObject({ kind: 'stored', status: 202, sealed: 's' });
  });
}
