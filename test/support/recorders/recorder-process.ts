import type { JournalEntry } from '../../../services/domain/journal.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { delivered, eventNumber, failed, HOUR_MS, head, routed } from '../records/journal-entries.ts';

/**
 * A process of its own for killed-recorders.ts: records a journal without end from the position in the store, and prints a
 * line for each batch. It merges tallies now and then, and runs until it is killed.
 */
const [place = '', partition = '', endpointId = ''] = process.argv.slice(2);
const BATCH = 9;
const MERGED_EVERY = 5;

const options = { clock: systemClock(), healthPolicy: { withoutSuccessMs: HOUR_MS, failedAttempts: 1e9 } };
const store = place.startsWith('postgres')
  ? await openPostgresStore({
      ...options,
      address: parsePostgresUrl(place, undefined),
      connectionsMax: 3,
      leafMs: HOUR_MS,
    })
  : await openSqliteStore({ ...options, file: place });

/** Three entries of each event, a minute after those of the one before. */
function entryAt(position: number): JournalEntry {
  const n = Math.floor(position / 3);
  const event = eventNumber('a-merchant', n / 60, { eventId: `${partition} ${n}` });
  const startedAt = event.occurredAt + 1000;
  const durationMs = (n % 50) ** 2;
  if (position % 3 === 0) return routed(event, [endpointId]);
  if (position % 3 === 1) return failed(head(event, endpointId), 'http_5xx', { startedAt, durationMs });
  return delivered(head(event, endpointId, { attempt: 2 }), { startedAt: startedAt + 3000 });
}

let last = (await store.log.positionOf(partition)) ?? 0;
for (let batch = 1; ; batch += 1) {
  // A part of what is recorded comes again, as it does after a crash.
  const first = Math.max(1, last - 1);
  last += BATCH;
  const entries = Array.from({ length: last - first + 1 }, (_, index) => entryAt(first + index));
  await store.log.applyJournal([{ partition, first, last, entries }]);
  process.stdout.write(`${last}\n`);
  if (batch % MERGED_EVERY === 0) await store.log.retain(batch * HOUR_MS, 1);
}
