import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type DomainEvent, eventAsText, PUBLISHED_ON_KAFKA } from '../../../services/domain/event.ts';
import type { JournalEntries } from '../../../services/domain/journal.ts';
import { eventOf } from '../../support/records/events.ts';
import { delivered, head, routed } from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const ENDPOINT = randomUUID();

/** Every event of the log says who published it. */
export function publishersContract(test: StoreUnderTest): void {
  let last = 0;
  const apply = (...entries: JournalEntries[]) => {
    const all = entries.flatMap((each) => [...each]);
    const first = last + 1;
    last += all.length;
    return test.store.log.applyJournal([{ partition: 'p', first, last, entries: all }]);
  };
  const anEvent = (publishedBy: string | undefined): DomainEvent =>
    eventOf(MERCHANT, randomUUID(), { eventId: randomUUID(), publishedBy });
  const publisherOf = async (eventId: string) =>
    (await test.store.log.event(MERCHANT, eventId))?.event.publishedBy;

  describe('the publisher of an event', () => {
    it('is kept, whether it is a key, the topic or not known', async () => {
      const key = randomUUID();
      for (const publishedBy of [key, PUBLISHED_ON_KAFKA, undefined]) {
        const event = anEvent(publishedBy);
        await apply([routed(event, [ENDPOINT])]);
        expect(await publisherOf(event.eventId)).toBe(publishedBy);
        const { records } = await test.store.lists.events(MERCHANT, { limit: 1 });
        expect([records[0]?.event.eventId, records[0]?.event.publishedBy]).toEqual([
          event.eventId,
          publishedBy,
        ]);
        await test.crashAndReopen();
        expect(await publisherOf(event.eventId)).toBe(publishedBy);
      }
    });

    it('stays the first one when the event is routed again', async () => {
      const [one, other] = [randomUUID(), randomUUID()];
      const event = anEvent(one);
      await apply([routed(event, [ENDPOINT])]);
      const again = { ...event, publishedBy: other };
      await apply([{ ...routed(again, [ENDPOINT]), event: eventAsText(again) }]);
      expect(await publisherOf(event.eventId)).toBe(one);
    });

    it('is there when an attempt was recorded before the routing', async () => {
      const event = anEvent(randomUUID());
      await apply([delivered(head(event, ENDPOINT))], [routed(event, [ENDPOINT])]);
      expect(await publisherOf(event.eventId)).toBe(event.publishedBy);
    });
  });

  describe('the events of an id', () => {
    it('are those of every merchant, with who published them and where they went', async () => {
      const eventId = randomUUID();
      const events = ['of-one', 'of-another'].map((merchantId) =>
        eventOf(merchantId, randomUUID(), { eventId, publishedBy: `key-${merchantId}` }),
      );
      await apply(...events.map((event) => [routed(event, [randomUUID()], [randomUUID()])]));
      const check = async () => {
        const found = await test.store.log.eventsOf(eventId);
        const sorted = [...found].sort((one) => (one.event.merchantId === 'of-one' ? -1 : 1));
        expect(sorted.map(({ event }) => [event.merchantId, event.publishedBy])).toEqual([
          ['of-one', 'key-of-one'],
          ['of-another', 'key-of-another'],
        ]);
        for (const { trace, routedAt } of found) {
          expect(trace.map(({ verdict }) => verdict).sort()).toEqual(['delivered_to', 'filtered']);
          expect(routedAt).toBeGreaterThan(0);
        }
      };
      await check();
      await test.crashAndReopen();
      await check();
    });

    it('are none while only an attempt is recorded, and none of an unknown id', async () => {
      const event = anEvent(randomUUID());
      await apply([delivered(head(event, ENDPOINT))]);
      expect(await test.store.log.eventsOf(event.eventId)).toEqual([]);
      await apply([routed(event, [ENDPOINT])]);
      expect(await test.store.log.eventsOf(event.eventId)).toHaveLength(1);
      expect(await test.store.log.eventsOf(randomUUID())).toEqual([]);
    });
  });
}
