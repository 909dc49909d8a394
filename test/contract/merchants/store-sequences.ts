import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import { requestedDeliveryId } from '../../../services/domain/ids.ts';
import {
  delivered,
  eventNumber,
  head,
  journalOf,
  requested,
  routed,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
/** The largest of a sequence of today is a third of what a double holds exactly. */
const FIRST = 1_740_824_129_948_042;

/** The sequence of an event is kept with it and with its deliveries, and is shown wherever they are. */
export function sequenceContract(test: StoreUnderTest): void {
  describe('the sequence of an event', () => {
    it('is in every list, detail and feed entry, of an attempt that is recorded before its routing too', async () => {
      const { store } = test;
      const apply = journalOf(store);
      const endpointId = randomUUID();
      const events = [0, 1, 2].map((n) => ({ ...eventNumber(MERCHANT, n), sequence: FIRST + n }));
      const [first, second, third] = events as [(typeof events)[0], (typeof events)[0], (typeof events)[0]];
      await apply(routed(first, [endpointId]), delivered(head(first, endpointId)));
      await apply(routed(second, [endpointId]));
      await apply(delivered(head(third, endpointId)));
      await apply(routed(third, [endpointId]));
      const listed = await store.lists.events(MERCHANT, { limit: 10 });
      expect(listed.records.map(({ sequence }) => sequence)).toEqual([FIRST + 2, FIRST + 1, FIRST]);
      const deliveries = await store.lists.deliveries(MERCHANT, { limit: 10 });
      expect(deliveries.records.map(({ sequence }) => sequence)).toEqual([FIRST + 2, FIRST + 1, FIRST]);
      const about = { subjectId: subjectIdOf(second) ?? second.entityId, limit: 10 };
      const found = [
        await store.lists.events(MERCHANT, about),
        await store.lists.deliveries(MERCHANT, about),
      ];
      for (const { records } of found) expect(records.map(({ sequence }) => sequence)).toEqual([FIRST + 1]);
      for (const event of events) {
        expect(await store.log.event(MERCHANT, event.eventId)).toMatchObject({ sequence: event.sequence });
        const { deliveryId } = head(event, endpointId);
        expect(await store.log.delivery(MERCHANT, endpointId, deliveryId)).toMatchObject({
          sequence: event.sequence,
        });
      }
      const { entries } = await store.feed.read(MERCHANT, { after: '0', limit: 100 });
      const shown = entries.flatMap((entry) => ('delivery' in entry ? [entry.delivery] : []));
      expect(new Set(shown.map(({ sequence }) => sequence))).toEqual(
        new Set(events.map(({ sequence }) => sequence)),
      );
    });

    it('is that of the event for a resend, and 0 for a test', async () => {
      const { store } = test;
      const apply = journalOf(store);
      const endpointId = randomUUID();
      const event = { ...eventNumber(MERCHANT, 0), sequence: FIRST };
      await apply(routed(event, [endpointId]));
      const again = requestedDeliveryId('again', event.eventId, endpointId);
      const resent = head(event, endpointId, { deliveryId: again, trigger: 'manual' });
      const tested = head(eventNumber(MERCHANT, 1), endpointId, { trigger: 'test' });
      await apply(requested(resent, Buffer.from('{}')), requested(tested, Buffer.from('{}')));
      expect(await store.log.delivery(MERCHANT, endpointId, again)).toMatchObject({ sequence: FIRST });
      expect(await store.log.delivery(MERCHANT, endpointId, tested.deliveryId)).toMatchObject({
        sequence: 0,
      });
    });
  });
}
