import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../../../services/domain/attempt.ts';
import type { EventType } from '../../../services/domain/event.ts';
import { type Attempted, PositionLost } from '../../../services/domain/journal.ts';
import { METRIC_GROUPS, type MetricSeries, type MetricsQuery } from '../../../services/store/metrics.ts';
import type { Store } from '../../../services/store/store.ts';
import {
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import { counted, loggedAttempts, recount } from '../../support/records/recount.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const FIVE_MINUTES = 300_000;
const DAY: MetricsQuery = { from: START, to: START + 24 * HOUR_MS, step: HOUR_MS };

export function metricsContract(test: StoreUnderTest): void {
  describe('the metrics', () => {
    queries(test);
    equality(test);
    retention(test);
  });
}

/** Returns an attempt at a time of an event of this type. */
function attemptAt(
  endpointId: string,
  startedAt: number,
  {
    code = null,
    durationMs = 20,
    type = 'KYC',
    attempt = 1,
    eventId = randomUUID(),
  }: {
    readonly code?: FailureCode | null;
    readonly durationMs?: number;
    readonly type?: EventType;
    readonly attempt?: number;
    readonly eventId?: string;
  } = {},
): Attempted {
  const event = eventNumber(MERCHANT, 0, { eventId, occurredAt: START });
  const of = head(event, endpointId, { attempt, type });
  return code === null
    ? delivered(of, { startedAt, durationMs })
    : failed(of, code, { startedAt, durationMs });
}

const shape = ({ name, attempts, failed: lost }: MetricSeries) => [name, attempts, lost];

function queries(test: StoreUnderTest): void {
  it('count attempts by outcome, failure code, event type and endpoint', async () => {
    const [one, two] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    const apply = journalOf(test.store);
    await apply(
      attemptAt(one, START + 1000),
      attemptAt(one, START + 2000, { type: 'AML' }),
      attemptAt(one, START + 3000, { code: 'http_5xx' }),
      attemptAt(two, START + 4000, { code: 'http_5xx', attempt: 7 }),
    );
    await apply(attemptAt(two, START + 5000, { code: 'endpoint_gone' }), attemptAt(two, START + 6000));
    const read = async (query: Partial<MetricsQuery>) =>
      (await test.store.metrics.read(MERCHANT, { ...DAY, ...query })).map(shape);
    expect(await read({})).toEqual([[null, 6, 3]]);
    expect(await read({ by: 'outcome' })).toEqual([
      ['delivered', 3, 0],
      ['exhausted', 1, 1],
      ['refused', 1, 1],
      ['retry', 1, 1],
    ]);
    expect(await read({ by: 'code' })).toEqual([
      ['http_5xx', 2, 2],
      ['endpoint_gone', 1, 1],
    ]);
    expect(await read({ by: 'type' })).toEqual([
      ['KYC', 5, 3],
      ['AML', 1, 0],
    ]);
    expect(await read({ by: 'endpoint' })).toEqual([
      [one, 3, 1],
      [two, 3, 2],
    ]);
    expect(await read({ endpointId: two })).toEqual([[null, 3, 2]]);
    expect(await read({ type: 'AML', by: 'endpoint' })).toEqual([[one, 1, 0]]);
    expect(await read({ endpointId: randomUUID() })).toEqual([[null, 0, 0]]);
    expect((await test.store.metrics.read('another', DAY)).map(shape)).toEqual([[null, 0, 0]]);
    expect(await test.store.metrics.read('another', { ...DAY, by: 'outcome' })).toEqual([]);
  });

  it('have a point for each step, also an empty one, by when the attempts began', async () => {
    const endpointId = randomUUID();
    const at = START + FIVE_MINUTES;
    const times = [START - 1, START, at - 1, at, START + 3 * FIVE_MINUTES - 1, START + 4 * FIVE_MINUTES];
    await journalOf(test.store)(...times.map((time) => attemptAt(endpointId, time, { durationMs: 9000 })));
    const period = { from: START, to: START + 4 * FIVE_MINUTES };
    const pointsOf = async (query: MetricsQuery) =>
      (await test.store.metrics.read(MERCHANT, query))[0]?.points.map((point) => [point.at, point.attempts]);
    expect(await pointsOf({ ...period, step: FIVE_MINUTES })).toEqual([
      [START, 2],
      [at, 1],
      [START + 2 * FIVE_MINUTES, 1],
      [START + 3 * FIVE_MINUTES, 0],
    ]);
    expect(await pointsOf({ ...period, step: 2 * FIVE_MINUTES })).toEqual([
      [START, 3],
      [START + 2 * FIVE_MINUTES, 1],
    ]);
  });

  it('tell within a tenth how long the receivers took, of those that were asked', async () => {
    const endpointId = randomUUID();
    const durations = Array.from({ length: 200 }, (_, n) => 1.05 ** n);
    const attempts = durations.map((durationMs, n) => attemptAt(endpointId, START + n, { durationMs }));
    const unasked = durations.map((_, n) =>
      attemptAt(endpointId, START + n, { code: 'dns_error', durationMs: 1 }),
    );
    await journalOf(test.store)(...attempts, ...unasked);
    const [all] = await test.store.metrics.read(MERCHANT, DAY);
    const near = (found: number | null | undefined, exact = 0) => {
      expect(Number(found) / exact).toBeGreaterThan(0.9);
      expect(Number(found) / exact).toBeLessThan(1.1);
    };
    near(all?.p50Ms, durations[99]);
    near(all?.p99Ms, durations[197]);
    near(all?.points[0]?.p50Ms, durations[99]);
    const [none] = await test.store.metrics.read(MERCHANT, { ...DAY, by: 'code' });
    expect(none).toMatchObject({ name: 'dns_error', p50Ms: null, p99Ms: null });
  });
}

/** Expects that every query counts what the log has. */
async function expectEqual(store: Store, period: MetricsQuery): Promise<void> {
  const attempts = await loggedAttempts(store, MERCHANT);
  for (const by of [undefined, ...METRIC_GROUPS]) {
    const query = { ...period, ...(by ? { by } : {}) };
    expect(await counted(store, MERCHANT, query)).toEqual(recount(attempts, query));
  }
}

function equality(test: StoreUnderTest): void {
  it('equal the log when batches, entries and attempts come again, and after a crash', async () => {
    const endpointId = randomUUID();
    const event = eventNumber(MERCHANT, 1);
    const of = head(event, endpointId);
    const entries = [
      routed(event, [endpointId]),
      failed(of),
      delivered(head(event, endpointId, { attempt: 2 })),
    ];
    const { log } = test.store;
    const lost = { partition: 'r', after: 1, first: 2, last: 2, entries: entries.slice(0, 1) };
    const failing = log.applyJournal([{ partition: 'p', first: 1, last: 3, entries }, lost]);
    await expect(failing).rejects.toThrow(PositionLost);
    await log.applyJournal([{ partition: 'p', first: 1, last: 3, entries }]);
    await log.applyJournal([{ partition: 'p', first: 1, last: 3, entries }]);
    const store = await test.crashAndReopen();
    // The second attempt was made again under its number: its first record stays.
    const again = failed(head(event, endpointId, { attempt: 2 }), 'dns_error');
    await store.log.applyJournal([
      { partition: 'p', first: 3, last: 4, entries: [entries[2] ?? again, again] },
      { partition: 'q', first: 1, last: 1, entries: [again] },
    ]);
    expect((await store.metrics.read(MERCHANT, DAY)).map(shape)).toEqual([[null, 2, 1]]);
    await expectEqual(store, DAY);
    // A repeat that was counted would show with the next attempt.
    const next = eventNumber(MERCHANT, 2);
    const newer = [routed(next, [endpointId]), delivered(head(next, endpointId))];
    await store.log.applyJournal([{ partition: 'q', first: 2, last: 3, entries: newer }]);
    expect((await store.metrics.read(MERCHANT, DAY)).map(shape)).toEqual([[null, 3, 1]]);
    await expectEqual(store, DAY);
  });

  it('equal the log whatever was recorded, merged and cut off by crashes', { timeout: 60_000 }, async () => {
    const endpoints = [randomUUID(), randomUUID(), randomUUID()];
    const anAttempt = fc.record({
      endpoint: fc.nat(2),
      event: fc.nat(9),
      at: fc.nat(12 * FIVE_MINUTES - 1),
      durationMs: fc.double({ min: 0, max: 70_000, noNaN: true }),
      attempt: fc.integer({ min: 1, max: 7 }),
      code: fc.constantFrom(null, null, 'http_5xx', 'dns_error', 'endpoint_gone', 'response_timeout'),
      type: fc.constantFrom('KYC', 'AML', 'fiatToCrypto'),
    });
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.array(anAttempt, { minLength: 1, maxLength: 20 }) },
      { weight: 1, arbitrary: fc.constant('merge' as const) },
      { weight: 1, arbitrary: fc.constant('crash' as const) },
    );
    let position = 0;
    let before = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const events = Array.from({ length: 10 }, () => randomUUID());
        for (const each of steps) {
          // Retention merges what waits; nothing is so old.
          if (each === 'merge') {
            before += FIVE_MINUTES;
            await test.store.log.retain(before, 100);
          } else if (each === 'crash') await test.crashAndReopen();
          else {
            const entries = each.map(({ endpoint, event, at, code, ...rest }) =>
              attemptAt(endpoints[endpoint] ?? '', START + at, {
                ...rest,
                eventId: events[event] ?? '',
                code: code as FailureCode | null,
                type: rest.type as EventType,
              }),
            );
            const first = position + 1;
            position += entries.length;
            await test.store.log.applyJournal([{ partition: 'p', first, last: position, entries }]);
          }
        }
        await expectEqual(test.store, { from: START, to: START + HOUR_MS, step: FIVE_MINUTES });
      }),
      { numRuns: 12 },
    );
  });

  it('equal the log after more batches than wait to be merged', { timeout: 60_000 }, async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const apply = journalOf(test.store);
    for (let n = 0; n < 1100; n += 1)
      await apply(attemptAt(n % 2 ? one : two, START + n * 10_000, n % 7 ? {} : { code: 'http_4xx' }));
    await expectEqual(test.store, DAY);
    await expectEqual(await test.crashAndReopen(), DAY);
  });
}

function retention(test: StoreUnderTest): void {
  it('are kept as long as the log, and no longer', async () => {
    const endpointId = randomUUID();
    const apply = journalOf(test.store);
    const events = Array.from({ length: 8 }, (_, n) => eventNumber(MERCHANT, n));
    // The second attempt begins an hour after its event: later than the retention's limit, where its delivery is not.
    for (const event of events)
      await apply(
        routed(event, [endpointId]),
        failed(head(event, endpointId)),
        delivered(head(event, endpointId, { attempt: 2 }), { startedAt: event.occurredAt + HOUR_MS }),
      );
    const query = { ...DAY, step: FIVE_MINUTES };
    const all = await counted(test.store, MERCHANT, query);
    const attempts = await loggedAttempts(test.store, MERCHANT);
    expect(all).toEqual(recount(attempts, query));
    const before = START + 4 * HOUR_MS;
    const retain = async () => {
      while ((await test.store.log.retain(before, 3)) > 0);
    };
    await retain();
    const kept = recount(
      attempts.filter(({ startedAt }) => startedAt >= before),
      query,
    );
    expect(await counted(test.store, MERCHANT, query)).toEqual(kept);
    // Of one of these the log has no delivery any more.
    const log = recount(await loggedAttempts(test.store, MERCHANT), query);
    expect(log).not.toEqual(kept);
    expect(log.slice(1)).toEqual(kept.slice(1));
    // From the longest time between a delivery and its last attempt on, both are equal.
    const later = { ...query, from: before + 2 * HOUR_MS };
    expect(await counted(test.store, MERCHANT, later)).toEqual(
      recount(await loggedAttempts(test.store, MERCHANT), later),
    );
    // An attempt that is recorded late, of a delivery that is too old, comes and goes with it.
    const [oldest] = events;
    if (oldest)
      await apply(failed(head(oldest, endpointId, { attempt: 3 }), 'http_4xx', { startedAt: START }));
    await retain();
    const store = await test.crashAndReopen();
    while ((await store.log.retain(before + FIVE_MINUTES, 3)) > 0);
    expect(await counted(store, MERCHANT, { ...query, to: before })).toEqual([]);
  });
}
