/** Guarantee: a step of the retention deletes no more rows than asked for, and says how many. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../services/store/store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import {
  delivered,
  eventNumber,
  HOUR_MS,
  head,
  journalOf,
  requested,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';

const MERCHANT = 'a-merchant';
const endpointId = randomUUID();
let folder: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-retention-'));
  store = await openSqliteStore({
    file: join(folder, 'store.db'),
    clock: systemClock(),
    healthPolicy: TEST_POLICY,
    keyRing: TEST_RING,
  });
  const events = Array.from({ length: 6 }, (_, n) => eventNumber(MERCHANT, n));
  const apply = journalOf(store);
  await apply(
    ...events.flatMap((event) => [routed(event, [endpointId]), delivered(head(event, endpointId))]),
  );
  const [first] = events;
  if (!first) return;
  const acceptedAt = START + 100 * HOUR_MS;
  const resend = { trigger: 'manual', attemptsMax: 1, deliveryId: randomUUID(), acceptedAt } as const;
  await apply(requested(head(first, endpointId, resend), new Uint8Array([1, 2])));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Makes steps of three rows until nothing is left, and returns the sum of what they said. */
async function sumOf(step: (before: number, limit: number) => Promise<number>): Promise<number> {
  for (let sum = 0; ; ) {
    const gone = await step(START + 4 * HOUR_MS, 3);
    expect(gone).toBeLessThanOrEqual(3);
    if (gone === 0) return sum;
    sum += gone;
  }
}

it('of rows: four deliveries and tallies, and, except for one that a younger delivery needs, their events', async () => {
  expect(await sumOf((before, limit) => store.log.retain(before, limit))).toBe(11);
});

it('of bodies: those of four events and four deliveries', async () => {
  expect(await sumOf((before, limit) => store.log.removeBodies(before, limit))).toBe(8);
});
