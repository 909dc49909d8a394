/** The journal's entries go from the embedded engine's file to the store as they were encoded, and mean the same there. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteBroker, type SqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { EncodedEntries } from '../../services/codec/encoded-entries.ts';
import { journalCodec } from '../../services/codec/records.ts';
import type { JournalBatch, JournalEntry } from '../../services/domain/journal.ts';
import { systemClock } from '../../services/process/clock.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../services/store/store.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { eventually } from '../support/eventually.ts';
import { aTask } from '../support/records/broker-records.ts';
import { eventNumber, routed } from '../support/records/journal-entries.ts';
import { TEST_RING } from '../support/records/key-ring.ts';

const MERCHANT = 'a-merchant';
const clock = systemClock();
let directory: string;
let broker: SqliteBroker;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'encoded-journal-'));
  broker = await openSqliteBroker({ file: join(directory, 'broker.db'), clock, retryScale: 1 });
  store = await openSqliteStore({
    file: join(directory, 'store.db'),
    clock,
    healthPolicy: TEST_POLICY,
    keyRing: TEST_RING,
  });
});

afterEach(async () => {
  await broker.close();
  await store.close();
  rmSync(directory, { recursive: true });
});

const asBytes = (entry: JournalEntry) => journalCodec.toBuffer(entry);

test('a store that takes the bytes has every event, in its place', async () => {
  const endpointId = randomUUID();
  const entries = Array.from({ length: 300 }, (_, n) => routed(eventNumber(MERCHANT, n), [endpointId]));
  const batches: JournalBatch[] = [];
  // One in a commit of its own; the others in one commit, which is large enough for several batch rows.
  const [first, ...others] = entries.map((entry) => ({ task: aTask(), journal: [entry] }));
  await broker.publishTasks(first ? [first] : []);
  await broker.publishTasks(others);
  await broker.journal.consume(
    async (batch) => {
      await store.log.applyJournal([batch]);
      batches.push(batch);
    },
    async () => undefined,
    { batchMax: 1000 },
  );
  const count = () => batches.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  await eventually('every entry was handed over', () => count() === entries.length);
  expect(batches.map((batch) => batch.entries instanceof EncodedEntries)).not.toContain(false);
  expect(batches.flatMap((batch) => [...batch.entries]).map(asBytes)).toEqual(entries.map(asBytes));
  for (const { event } of entries) {
    const { eventId } = event;
    expect(await store.log.event(MERCHANT, eventId)).toMatchObject({ event: { eventId } });
  }
});
