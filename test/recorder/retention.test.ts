/** Retention: rows are deleted by age, bodies before them, in steps with pauses; a failed step is tried again. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { systemClock } from '../../services/process/clock.ts';
import { runRetention } from '../../services/recorder/retention.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../services/store/store.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { eventually } from '../support/eventually.ts';
import { aTask, deadLetter } from '../support/records/broker-records.ts';
import { eventNumber, HOUR_MS, journalOf, routed, START } from '../support/records/journal-entries.ts';
import { TEST_RING } from '../support/records/key-ring.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const MERCHANT = 'a-merchant';
const DAY_MS = 24 * HOUR_MS;
const EVENTS = 500;
let directory: string;
let clock: SimulatedClock;
let store: Store;
let stopping: AbortController;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'retention-'));
  clock = new SimulatedClock(START + EVENTS * HOUR_MS);
  store = await openSqliteStore({
    file: join(directory, 'store.db'),
    clock,
    healthPolicy: TEST_POLICY,
    keyRing: TEST_RING,
  });
  stopping = new AbortController();
});

afterEach(async () => {
  stopping.abort();
  await store.close();
  rmSync(directory, { recursive: true });
});

/** A broker with dead letters of these times. */
async function stored(times: readonly number[]) {
  const broker = await openSqliteBroker({
    file: join(directory, 'broker.db'),
    clock: systemClock(),
    retryScale: 1,
  });
  await broker.publishTasks(times.map(() => ({ task: aTask({ attempt: 7 }), journal: [] })));
  const at = [...times];
  const consumer = await broker.tasks.live.consume(
    (task) => ({ kind: 'settled', journal: [], dead: { ...deadLetter(task), at: at.shift() ?? 0 } }),
    { inFlightMax: 1 },
  );
  await eventually(
    'all rows are stored',
    async () => (await broker.deadLetters.list({ limit: 9 })).length === times.length,
  );
  await consumer.stop(1000);
  return broker;
}

test('retention deletes old rows, and bodies at half that age, in small steps', async () => {
  const endpointId = randomUUID();
  const events = Array.from({ length: EVENTS }, (_, n) => eventNumber(MERCHANT, n));
  await journalOf(store)(...events.map((event) => routed(event, [endpointId])));
  const broker = await stored([START - 20 * DAY_MS, START - 19 * DAY_MS, START]);
  const steps: number[] = [];
  let fails = 1;
  const log = {
    async retain(before: number, limit: number) {
      fails -= 1;
      if (fails === 0) throw new Error('the disk is full');
      const deleted = await store.log.retain(before, limit);
      steps.push(deleted);
      return deleted;
    },
    async removeBodies(before: number, limit: number) {
      const walked = await store.log.removeBodies(before, limit);
      steps.push(walked);
      return walked;
    },
  };
  const running = runRetention({
    store: { log: { ...store.log, ...log } as Store['log'], feed: store.feed, erasures: store.erasures },
    broker,
    ...{ retentionMs: 10 * DAY_MS, bodyRetentionMs: 5 * DAY_MS, clock, signal: stopping.signal },
    log: pino({ level: 'silent' }),
  });
  const isGone = (n: number) => store.log.event(MERCHANT, events[n]?.eventId ?? '').then((found) => !found);
  await eventually('all old rows and bodies are gone', async () => {
    clock.advance(60_000);
    const found = await store.log.event(MERCHANT, events[EVENTS - 5 * 24 - 2]?.eventId ?? '');
    return found?.event.data === null;
  });
  // Ten days of rows are left, and five of bodies.
  expect(await isGone(EVENTS - 10 * 24 - 2)).toBe(true);
  const left = await store.log.event(MERCHANT, events[EVENTS - 10 * 24 + 1]?.eventId ?? '');
  expect(left?.event.data).toBeNull();
  const young = await store.log.event(MERCHANT, events[EVENTS - 5 * 24 + 1]?.eventId ?? '');
  expect(young?.event.data).toEqual(events[EVENTS - 5 * 24 + 1]?.data);
  expect(Math.max(...steps)).toBeLessThanOrEqual(400);
  // Dead letters for a month at least, though rows go sooner.
  const letters = await eventually('old dead letters are gone', async () => {
    clock.advance(60_000);
    const left = await broker.deadLetters.list({ limit: 9 });
    return left.length < 3 ? left : null;
  });
  expect(letters.map(({ record }) => record.at)).toEqual([START]);
  stopping.abort();
  await running;
  await broker.close();
});
