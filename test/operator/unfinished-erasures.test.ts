/**
 * Guarantee: an erasure that was ordered is carried out, also when the operator's tool ends in the middle of it while the
 * service runs on.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { finishErasures } from '../../services/operator/commands/erase-entity.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const BY = { at: 0, actor: { kind: 'operator' } } as const;
const MINUTE_MS = 60_000;
/** Steps of the clock are smaller than any interval under test. */
const STEP_MS = 5000;

async function startFinishing(early: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'hookrail-erasures-'));
  const clock = new SimulatedClock();
  const store = await openSqliteStore({ file: join(folder, 'store.db'), clock, healthPolicy: TEST_POLICY });
  const broker = await openSqliteBroker({ file: join(folder, 'broker.db'), clock, retryScale: 1 });
  const order = (entityId: string) => store.erasures.order({ entityId, merchantId: null }, BY);
  for (const entityId of early) await order(entityId);
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = pino({ level: 'silent' });
  const look = vi.spyOn(store.erasures, 'unfinished');
  const finishing = finishErasures({ store, recordStores: broker, clock, log, signal });
  onTestFinished(async () => {
    stopping.abort();
    await finishing;
    await broker.close();
    await store.close();
    await rm(folder, { recursive: true });
  });
  // Orders that its first look finds are from before its start.
  await eventually('it has looked', () => look.mock.settledResults[0]?.type === 'fulfilled');
  /** Lets time pass until nothing is unfinished. Returns how much passed. */
  const untilFinished = async () => {
    const from = clock.now();
    await eventually('every erasure is finished', async () => {
      if ((await store.erasures.unfinished()).length === 0) return true;
      clock.advance(STEP_MS);
      return false;
    });
    return clock.now() - from;
  };
  const erased = async () =>
    (await store.audit.list({ limit: 100 })).filter(({ action }) => action === 'entity.erased').length;
  return { order, untilFinished, erased };
}

it('an erasure that was cut off before the service started is finished by it at once', async () => {
  const { untilFinished, erased } = await startFinishing([crypto.randomUUID(), crypto.randomUUID()]);
  expect(await untilFinished()).toBeLessThan(5 * MINUTE_MS);
  expect(await erased()).toBe(2);
});

it('an erasure whose tool was killed is finished by the running service, and left to its tool for minutes', async () => {
  const { order, untilFinished, erased } = await startFinishing([]);
  for (let n = 1; n <= 2; n += 1) {
    await order(crypto.randomUUID());
    expect(await untilFinished()).toBeGreaterThanOrEqual(5 * MINUTE_MS);
    expect(await erased()).toBe(n);
  }
});
