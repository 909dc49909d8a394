/** Guarantee: whatever the journal's order, the copy is the same store. */
import fc from 'fast-check';
import { it } from 'vitest';
import { requestedDeliveryId } from '../../../services/domain/ids.ts';
import type { JournalEntry } from '../../../services/domain/journal.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import {
  bodyOf,
  cancelled,
  createEndpoint,
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  parked,
  requested,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import { copyPlace } from './copy-place.ts';
import { expectSame, wholeStore } from './whole-store.ts';

const RUNS = 5;
const TIMEOUT_MS = 180_000;
const MERCHANT = 'a-merchant';
const ENDPOINTS = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const;
const [FIRST, SECOND] = ENDPOINTS;
const NOW = START + 100 * HOUR_MS;

const EVENTS = [1, 2, 3].map((n) => eventNumber(MERCHANT, n));

/** The entries of some events: in any order, as partitions are read in any order. */
const ENTRIES: readonly JournalEntry[] = EVENTS.flatMap((event) => [
  routed(event, ENDPOINTS),
  failed(head(event, FIRST)),
  parked(head(event, FIRST, { attempt: 2 }), NOW),
  delivered(head(event, FIRST, { attempt: 2 })),
  failed(head(event, SECOND, { attempt: 7 })),
  cancelled(head(event, SECOND, { attempt: 2 })),
]);

/** Resends, which the log's reader asked for: their events are recorded. */
const RESENDS: readonly JournalEntry[] = EVENTS.flatMap((event) => {
  const deliveryId = requestedDeliveryId('again', event.eventId, SECOND);
  const acceptedAt = event.occurredAt + 2 * HOUR_MS;
  const asked = head(event, SECOND, { deliveryId, trigger: 'manual', attemptsMax: 1, acceptedAt });
  return [delivered(asked), requested(asked, bodyOf(event))];
});

await describeWithPostgres('a copy of a SQLite store, whatever its journal', (createDatabase) => {
  it(
    'is the same store',
    async () => {
      const any = fc.shuffledSubarray([...ENTRIES.keys()], { minLength: ENTRIES.length });
      await fc.assert(
        fc.asyncProperty(any, async (order) => {
          const entries = [...order.flatMap((index) => ENTRIES[index] ?? []), ...RESENDS];
          const { sqlite, postgres, copy } = await copyPlace(createDatabase);
          const from = await sqlite();
          await from.merchants.create({ merchantId: MERCHANT, name: 'a', senderAccountDetails: false });
          for (const uuid of ENDPOINTS) await createEndpoint(from, MERCHANT, uuid);
          const position = { partition: 'journal-0', first: 1, last: entries.length };
          await from.log.applyJournal([{ ...position, entries }]);
          await from.close();
          await copy();
          const [one, to] = [await sqlite(), await postgres()];
          expectSame(await wholeStore(one, [MERCHANT], NOW), await wholeStore(to, [MERCHANT], NOW));
        }),
        { numRuns: RUNS },
      );
    },
    TIMEOUT_MS,
  );
});
