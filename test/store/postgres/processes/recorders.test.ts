/**
 * Guarantee: recorders of several processes record each entry once, whichever partition it comes from, and count each
 * attempt once for its endpoint. A third connection holds a lock that both wait for, so that they
 * conflict every time.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deliveryId } from '../../../../services/domain/ids.ts';
import { PositionLost } from '../../../../services/domain/journal.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import type { Store } from '../../../../services/store/store.ts';
import { describeWithPostgres } from '../../../support/postgres/suites.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  OPERATOR,
  routed,
  START,
} from '../../../support/records/journal-entries.ts';
import { type PostgresPlace, postgresPlace } from '../postgres-place.ts';
import { meet } from './meet.ts';

const MERCHANT = 'a-merchant';
/** Batches of each recorder while a reader reads. */
const BATCHES = 25;

await describeWithPostgres('recorders of two processes', (createDatabase) => {
  let place: PostgresPlace;
  let one: Store;
  let two: Store;
  beforeEach(async () => {
    place = await postgresPlace(createDatabase, systemClock());
    [one, two] = await Promise.all([place.open(), place.open()]);
  });
  afterEach(async () => {
    await Promise.all([one.close(), two.close()]);
    await place.dispose();
  });
  const at = (partition: string, first: number, last = first) => ({ partition, first, last });

  it('apply one batch once, when both have its partition for a moment', async () => {
    const endpointId = randomUUID();
    await createEndpoint(one, MERCHANT, endpointId);
    const event = eventNumber(MERCHANT, 1);
    const batch = [routed(event, [endpointId]), failed(head(event, endpointId))];
    const apply = (store: Store) => () => store.log.applyJournal([{ ...at('p', 1, 2), entries: batch }]);
    await meet(place.database, 'journal_position', apply(one), apply(two));
    expect((await one.endpoints.get(MERCHANT, endpointId))?.failureCount).toBe(1);
    expect(await two.log.positionOf('p')).toBe(2);
    const { entries } = await one.feed.read(MERCHANT, { after: '0', limit: 10 });
    expect(entries.map(({ kind }) => kind)).toEqual(['endpoint_changed', 'routed', 'attempt']);
  });

  it('do not apply a batch that another one has applied, even after later records', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const event = eventNumber(MERCHANT, 1);
    const once = [routed(event, [first])];
    await one.log.applyJournal([{ ...at('p', 1), entries: once }]);
    await one.log.applyJournal([{ ...at('p', 2), entries: [routed(event, [first, second])] }]);
    // A routing without the second endpoint would cancel its delivery.
    await two.log.applyJournal([{ ...at('p', 1), entries: once }]);
    const id = deliveryId(event.eventId, second);
    expect(await two.log.delivery(MERCHANT, second, id)).toMatchObject({ status: 'pending' });
    expect(await two.log.positionOf('p')).toBe(2);
  });

  it('record one delivery from two partitions, whichever comes first', async () => {
    const endpointId = randomUUID();
    await createEndpoint(one, MERCHANT, endpointId);
    const event = eventNumber(MERCHANT, 1);
    // Both know the leaf and the names: they meet at the delivery.
    await one.log.applyJournal([
      { ...at('p', 1), entries: [routed(eventNumber(MERCHANT, 1, { eventId: randomUUID() }), [endpointId])] },
    ]);
    await two.log.applyJournal([
      { ...at('q', 1), entries: [routed(eventNumber(MERCHANT, 1, { eventId: randomUUID() }), [endpointId])] },
    ]);
    await meet(
      place.database,
      'delivery',
      () => one.log.applyJournal([{ ...at('p', 2), entries: [routed(event, [endpointId])] }]),
      () => two.log.applyJournal([{ ...at('q', 2), entries: [delivered(head(event, endpointId))] }]),
    );
    const found = await one.log.delivery(MERCHANT, endpointId, deliveryId(event.eventId, endpointId));
    expect(found).toMatchObject({ status: 'delivered', attemptsMade: 1 });
    expect((await two.log.event(MERCHANT, event.eventId))?.trace).toHaveLength(1);
  });

  it('give a reader of the event feed each event once, while both record for its merchant', async () => {
    const apply = async (store: Store, partition: string) => {
      for (let batch = 1; batch <= BATCHES; batch += 1) {
        const events = [0, 1, 2].map((n) => eventNumber(MERCHANT, batch + n / 10, { eventId: randomUUID() }));
        const entries = events.map((event) => routed(event, []));
        await store.log.applyJournal([{ ...at(partition, 3 * batch - 2, 3 * batch), entries }]);
      }
    };
    const recording = Promise.all([apply(one, 'p'), apply(two, 'q')]).then(() => true);
    const seen: string[] = [];
    let [after, isRecorded] = ['0', false];
    for (let isEnd = false; !(isRecorded && isEnd); ) {
      isRecorded = await Promise.race([
        recording,
        new Promise<false>((resolve) => setImmediate(resolve, false)),
      ]);
      const page = await two.eventFeed.read(MERCHANT, { after, limit: 5, withData: false });
      seen.push(...page.records.map(({ event }) => event.eventId));
      ({ next: after, isEnd } = page);
    }
    expect(seen).toHaveLength(2 * 3 * BATCHES);
    expect(new Set(seen).size).toBe(seen.length);
    const { records } = await one.eventFeed.read(MERCHANT, { limit: 1000, withData: false });
    expect(records.map(({ event }) => event.eventId)).toEqual(seen);
  });

  it('count the attempts of one endpoint together', async () => {
    const endpointId = randomUUID();
    await createEndpoint(one, MERCHANT, endpointId);
    const apply = (store: Store, partition: string, batch: number) => () => {
      const event = eventNumber(MERCHANT, 1, { eventId: randomUUID() });
      return store.log.applyJournal([
        { ...at(partition, batch), entries: [failed(head(event, endpointId))] },
      ]);
    };
    for (let batch = 1; batch <= 10; batch += 1)
      await meet(place.database, 'endpoint_health', apply(one, 'p', batch), apply(two, 'q', batch));
    expect((await one.endpoints.get(MERCHANT, endpointId))?.failureCount).toBe(20);
  });

  it('read again from the position in the log after commits were lost', async () => {
    const entries = [1, 2, 3].map((n) => routed(eventNumber(MERCHANT, n), [randomUUID()]));
    for (const [index, entry] of entries.entries())
      await one.log.applyJournal([{ ...at('p', index + 1), entries: [entry] }]);
    await place.database.query("UPDATE journal_position SET last = 1 WHERE partition = 'p'");
    const next = routed(eventNumber(MERCHANT, 4), [randomUUID()]);
    const lost = two.log.applyJournal([{ ...at('p', 4), after: 3, entries: [next] }]);
    await expect(lost).rejects.toBeInstanceOf(PositionLost);
    expect(await two.log.positionOf('p')).toBe(1);
    await two.log.applyJournal([{ ...at('p', 2, 4), after: 1, entries: [...entries.slice(1), next] }]);
    expect(await one.log.positionOf('p')).toBe(4);
  });

  it('keep no body of an entity that an erasure removes meanwhile', async () => {
    const [endpointId, entityId] = [randomUUID(), randomUUID()];
    const event = eventNumber(MERCHANT, 1, { entityId });
    await one.log.applyJournal([
      { ...at('p', 1), entries: [routed(eventNumber(MERCHANT, 1, { eventId: randomUUID() }), [endpointId])] },
    ]);
    const order = { entityId, merchantId: MERCHANT };
    const [, erasureId] = await meet(
      place.database,
      'delivery',
      () => one.log.applyJournal([{ ...at('p', 2), entries: [routed(event, [endpointId])] }]),
      () => two.erasures.order(order, { at: START + 2 * HOUR_MS, actor: OPERATOR }),
    );
    for (let after: string | null | undefined; after !== null; ) {
      const step = await two.erasures.step(erasureId, after);
      after = step.next;
    }
    const found = await one.log.delivery(MERCHANT, endpointId, deliveryId(event.eventId, endpointId));
    expect(found).toMatchObject({ body: null, bodyRemoved: true });
    expect((await one.log.event(MERCHANT, event.eventId))?.event.data).toBeNull();
  });
});
