/**
 * Guarantee: a log that a failover has set back is the whole journal again, once its recorders have read on: each entry
 * once, with the names and numbers of the new server.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deliveryId } from '../../../../services/domain/ids.ts';
import { type JournalEntry, PositionLost } from '../../../../services/domain/journal.ts';
import type { Store } from '../../../../services/store/store.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  failed,
  head,
  routed,
} from '../../../support/records/journal-entries.ts';
import { type ServerPair, startServerPair } from './server-pair.ts';

const START_MS = 60_000;
const MERCHANTS = ['merchant-a', 'merchant-b', 'merchant-c'];
const PARTITION = 'p';
const BATCH = 7;

/** A journal in memory, of one partition, and a recorder that reads it as the service's does. */
class Journal {
  readonly entries: JournalEntry[] = [];
  #after: number | undefined;
  /** How often the store had less than it said before. */
  setBack = 0;

  /** Records what is not recorded. Rejects when the store does not answer; it goes on from there the next time. */
  async record(store: Store): Promise<void> {
    const last = this.entries.length - 1;
    while ((this.#after ?? -1) < last) {
      const first = (this.#after ?? -1) + 1;
      const entries = this.entries.slice(first, first + BATCH);
      const end = first + entries.length - 1;
      try {
        await store.log.applyJournal([
          { partition: PARTITION, first, last: end, after: this.#after, entries },
        ]);
        this.#after = end;
      } catch (error) {
        if (!(error instanceof PositionLost)) throw error;
        this.setBack += 1;
        this.#after = await store.log.positionOf(PARTITION);
      }
    }
  }
}

describeWherePostgresStarts('a log that a failover has set back', () => {
  let servers: ServerPair;
  let lines: Record<string, unknown>[];
  beforeEach(async () => {
    servers = await startServerPair();
    lines = [];
  }, START_MS);
  afterEach(() => servers?.dispose(), START_MS);

  it(
    'is recorded again from the journal, and has each entry once',
    async () => {
      const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
      const store = await servers.open({ log });
      const journal = new Journal();
      const endpoints = MERCHANTS.map((merchantId) => ({ merchantId, endpointId: randomUUID() }));
      for (const { merchantId, endpointId } of endpoints) await createEndpoint(store, merchantId, endpointId);
      const events = (from: number, of: typeof endpoints) =>
        of.flatMap(({ merchantId, endpointId }, index) => {
          const event = eventNumber(merchantId, from + index, { eventId: randomUUID() });
          journal.entries.push(routed(event, [endpointId]), failed(head(event, endpointId)));
          journal.entries.push(delivered(head(event, endpointId, { attempt: 2 })));
          return { merchantId, endpointId, event };
        });
      const [one, two, three] = endpoints as [
        (typeof endpoints)[0],
        (typeof endpoints)[0],
        (typeof endpoints)[0],
      ];
      const known = events(1, [one, one, one]);
      await journal.record(store);
      let lost: ReturnType<typeof events> = [];
      await servers.failOver(async () => {
        // With names that only the lost commits have.
        lost = events(20, [one, two, two, three]);
        await journal.record(store);
      });
      // A recorder of another process is the first there, and gives names of its own.
      const other = await servers.open();
      const strange = { merchantId: 'merchant-d', endpointId: randomUUID() };
      const early = routed(eventNumber('merchant-d', 50, { eventId: randomUUID() }), [strange.endpointId]);
      await expect(
        other.log.applyJournal([{ partition: 'q', first: 0, last: 0, entries: [early] }]),
      ).rejects.toMatchObject({ state: 'reconciling' });
      const timeline = await other.outbox.timeline();
      await other.outbox.reconciled(timeline?.name ?? '');
      await other.log.applyJournal([{ partition: 'q', first: 0, last: 0, entries: [early] }]);
      const later = events(40, [one, three]);
      await eventually(
        'the journal is recorded',
        () =>
          journal.record(store).then(
            () => true,
            () => false,
          ),
        START_MS,
      );

      expect(journal.setBack).toBeGreaterThan(0);
      expect(await store.log.positionOf(PARTITION)).toBe(journal.entries.length - 1);
      expect(lines).toContainEqual(expect.objectContaining({ event: 'store_set_back' }));
      for (const reader of [store, other])
        for (const { merchantId, endpointId, event } of [...known, ...lost, ...later]) {
          const id = deliveryId(event.eventId, endpointId);
          const found = await reader.log.delivery(merchantId, endpointId, id);
          expect(found).toMatchObject({ deliveryId: id, status: 'delivered', endpointId });
          expect(found?.attempts.map(({ number }) => number)).toEqual([1, 2]);
          expect(new TextDecoder().decode(found?.body ?? new Uint8Array())).toContain(event.eventId);
          expect((await reader.log.event(merchantId, event.eventId))?.trace).toHaveLength(1);
        }
      for (const { merchantId, endpointId } of endpoints) {
        const { records } = await other.lists.deliveries(merchantId, { endpointId, limit: 100 });
        const own = [...known, ...lost, ...later].filter((each) => each.endpointId === endpointId);
        expect(records.map((each) => each.deliveryId).sort()).toEqual(
          own.map(({ event }) => deliveryId(event.eventId, endpointId)).sort(),
        );
      }
      const listed = await other.lists.deliveries('merchant-d', { limit: 10 });
      expect(listed.records.map(({ endpointId }) => endpointId)).toEqual([strange.endpointId]);
    },
    START_MS,
  );
});
