import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { requestedDeliveryId } from '../../../services/domain/ids.ts';
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
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
/** More than are found by what they are about. */
const MANY = 1100;

type Filter = Omit<Parameters<StoreUnderTest['store']['lists']['events']>[1], 'limit' | 'after'>;

/** Lists of what is about a transaction, an account, an entity. */
export function subjectContract(test: StoreUnderTest): void {
  /** Every event id and every delivery id of the lists, read in pages. */
  async function found(filter: Filter, limit = 100) {
    const { lists } = test.store;
    const events = await pages((after) =>
      lists.events(MERCHANT, { ...filter, limit, ...(after && { after }) }),
    );
    const deliveries = await pages((after) =>
      lists.deliveries(MERCHANT, { ...filter, limit, ...(after && { after }) }),
    );
    return {
      events: events.map(({ event }) => event.eventId),
      deliveries: deliveries.map(({ deliveryId }) => deliveryId),
    };
  }

  describe('a list of what is about one thing', () => {
    it('finds a transaction’s events and deliveries, and no others', async () => {
      const { story, others, endpoints, apply } = await filled(test);
      const transactionId = subjectIdOf(story[0] as DomainEvent) ?? '';
      for (const filter of [{ transactionId }, { subjectId: transactionId }]) {
        for (const limit of [1, 2, 100])
          expect(await found(filter, limit)).toEqual({
            events: ids(story),
            deliveries: own(story, endpoints),
          });
        expect(await found({ ...filter, type: 'KYC' })).toEqual({ events: [], deliveries: [] });
        expect((await found({ ...filter, endpointId: endpoints[0] ?? '' })).deliveries).toEqual(
          own(story, endpoints.slice(0, 1)),
        );
        expect(
          (await found({ ...filter, since: START + 2 * HOUR_MS, until: START + 3 * HOUR_MS })).events,
        ).toEqual(ids(story.slice(2, 3)));
        expect(await found({ ...filter, entityId: others[0]?.entityId ?? '' })).toEqual({
          events: [],
          deliveries: [],
        });
      }
      const [last] = story.slice(-1);
      await apply(delivered(head(last as DomainEvent, endpoints[0] ?? '')));
      const { records } = await test.store.lists.deliveries(MERCHANT, {
        transactionId,
        status: 'delivered',
        limit: 9,
      });
      expect(records.map(({ eventId, subjectId }) => [eventId, subjectId])).toEqual([
        [last?.eventId, transactionId],
      ]);
    });

    it('takes an event that is about nothing else as one about its entity', async () => {
      const { others, endpoints, apply } = await filled(test);
      const [kyc, transaction] = others as [DomainEvent, DomainEvent];
      expect(kyc.entityId).toBe(transaction.entityId);
      const { entityId } = kyc;
      // No transaction was initiated.
      const breach = eventNumber(MERCHANT, 8, {
        ...{ type: 'cryptoToFiat', subType: 'LIMIT_BREACHED', entityId, data: { transactionUuid: null } },
      });
      await apply(routed(breach, endpoints));
      expect(await found({ entityId })).toEqual({
        events: ids([kyc, transaction, breach]),
        deliveries: own([kyc, transaction, breach], endpoints),
      });
      expect((await found({ subjectId: entityId })).events).toEqual(ids([kyc, breach]));
      expect(await found({ transactionId: entityId })).toEqual({ events: [], deliveries: [] });
      const { records } = await test.store.lists.events(MERCHANT, { entityId, limit: 9 });
      expect(records.map(({ subjectId }) => subjectId)).toEqual([null, subjectIdOf(transaction), null]);
    });

    it('has what was requested later in its place, and a test webhook too', async () => {
      const { story, endpoints, apply } = await filled(test);
      const [first] = story as [DomainEvent];
      const transactionId = subjectIdOf(first) ?? '';
      const endpointId = endpoints[0] ?? '';
      const at = START + 20 * HOUR_MS;
      const resend = requestedDeliveryId(randomUUID(), first.eventId, endpointId);
      const asked = { deliveryId: resend, trigger: 'manual', attemptsMax: 1, acceptedAt: at } as const;
      await apply(requested(head(first, endpointId, asked), new Uint8Array([1])));
      const sample = { ...eventNumber(MERCHANT, 21), data: { transactionUuid: transactionId } };
      const tested = requestedDeliveryId(randomUUID(), sample.eventId, endpointId);
      const ofTest = { deliveryId: tested, trigger: 'test', attemptsMax: 1, acceptedAt: at + 1 } as const;
      await apply(requested(head(sample, endpointId, ofTest), new Uint8Array([2])));
      for (const limit of [1, 3, 100])
        expect((await found({ transactionId }, limit)).deliveries).toEqual([
          ...[tested, resend],
          ...own(story, endpoints),
        ]);
      expect((await found({ transactionId })).events).toEqual(ids(story));
    });

    it('tells ids apart that end alike, and knows ids that are no UUIDs', async () => {
      const apply = journalOf(test.store);
      const endpointId = randomUUID();
      const alike = ['11111111-1111-4111-8111-000000abcdef', '22222222-2222-4222-8222-000000abcdef'];
      const named = ['LEDGER-1', 'ledger-1', 'a ledger of a bank, number 7'];
      const events = [...alike, ...named].map((uuid, n) => ({
        ...eventNumber(MERCHANT, n, { type: 'serviceBankAccount', subType: 'statusUpdate' }),
        // An entity whose id ends as its account's.
        entityId: '33333333-3333-4333-8333-000000abcdef',
        data: { uuid },
      }));
      await apply(...events.map((event) => routed(event, [endpointId])));
      for (const [n, subjectId] of [...alike, ...named].entries())
        expect([subjectId, (await found({ subjectId })).events]).toEqual([subjectId, [events[n]?.eventId]]);
      expect((await found({ transactionId: 'LEDGER-1' })).events).toEqual([]);
      expect((await found({ entityId: events[0]?.entityId ?? '' })).events).toHaveLength(events.length);
      expect((await test.store.lists.events('another', { subjectId: 'LEDGER-1', limit: 9 })).records).toEqual(
        [],
      );
    });

    it('is complete where very much is about one entity', { timeout: 60_000 }, async () => {
      const apply = journalOf(test.store);
      const [endpointId, entityId] = [randomUUID(), randomUUID()];
      const events = Array.from({ length: MANY }, (_, n) => ({
        ...eventNumber(MERCHANT, n % 24),
        ...{ eventId: randomUUID(), entityId, data: { transactionUuid: randomUUID() } },
      }));
      await apply(...events.map((event) => routed(event, [endpointId])));
      const all = await found({ entityId });
      expect(new Set(all.events)).toEqual(new Set(ids(events)));
      expect(all.events).toHaveLength(MANY);
      expect(new Set(all.deliveries)).toEqual(new Set(own(events, [endpointId])));
      expect(all.deliveries).toHaveLength(MANY);
      const one = events[7] as DomainEvent;
      expect((await found({ entityId, subjectId: subjectIdOf(one) ?? '' })).events).toEqual([one.eventId]);
    });

    it('finds an event whose attempt was recorded first', async () => {
      const apply = journalOf(test.store);
      const endpointId = randomUUID();
      const event = eventNumber(MERCHANT, 1);
      await apply(delivered(head(event, endpointId)));
      await apply(routed(event, [endpointId]));
      const filter = { transactionId: subjectIdOf(event) ?? '' };
      expect(await found(filter)).toEqual({
        events: [event.eventId],
        deliveries: own([event], [endpointId]),
      });
    });
  });
}

async function pages<Listed>(
  read: (after: string | undefined) => Promise<{ records: readonly Listed[]; next: string | null }>,
): Promise<Listed[]> {
  const all: Listed[] = [];
  let after: string | undefined;
  do {
    const { records, next } = await read(after);
    all.push(...records);
    after = next ?? undefined;
  } while (after !== undefined);
  return all;
}

/** A transaction's four events, and two of one user: a transaction of another kind, then KYC. */
async function filled(test: StoreUnderTest) {
  const endpoints = [randomUUID(), randomUUID()];
  const apply = journalOf(test.store);
  const sample = eventNumber(MERCHANT, 0);
  const story = [0, 1, 2, 3].map((n) => ({
    ...eventNumber(MERCHANT, n),
    ...{ entityId: sample.entityId, data: sample.data },
  }));
  const entityId = randomUUID();
  const others = [
    eventNumber(MERCHANT, 10, { type: 'KYC', subType: 'KYC_PENDING', entityId }),
    eventNumber(MERCHANT, 9, { entityId }),
  ];
  for (const event of [...story, ...others]) await apply(routed(event, endpoints));
  // The same transaction at another merchant.
  await apply(routed({ ...eventNumber('another', 1), data: sample.data }, [randomUUID()]));
  return { story, others, endpoints, apply };
}

const ids = (events: readonly DomainEvent[]) => newest(events).map(({ eventId }) => eventId);

/** The ids of the deliveries that routing made, newest first; of one event, the last endpoint's was made last. */
function own(events: readonly DomainEvent[], endpoints: readonly string[]): string[] {
  return newest(events).flatMap((event) =>
    [...endpoints].reverse().map((endpointId) => head(event, endpointId).deliveryId),
  );
}

const newest = (events: readonly DomainEvent[]) =>
  [...events].sort((one, other) => other.occurredAt - one.occurredAt);
