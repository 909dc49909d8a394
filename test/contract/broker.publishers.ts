import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Broker, ReceivedEvent } from '../../services/broker/broker.ts';
import { Directory } from '../../services/domain/directory.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import type { Routed } from '../../services/domain/journal.ts';
import { fanOut } from '../../services/router/fan-out.ts';
import { anEvent, merchantChange } from '../support/records/broker-records.ts';
import type { GiveBench } from './broker-bench.ts';

/** The id of the key that published an event goes with it to the journal and to the quarantine. */
export function publisherGuarantees(bench: GiveBench): void {
  const MERCHANT = 'merchant-1';
  const directory = new Directory();
  directory.apply(merchantChange(MERCHANT, 1));
  const received: ReceivedEvent[] = [];
  const route = (broker: Broker, isPure = false) =>
    broker.events.consume(
      (input) => {
        received.push(input);
        return fanOut(input, { directory, acceptsSimulated: true, now: bench().clock.now() });
      },
      { inFlightMax: 10, inline: { isPure } },
    );
  const publisherOf = (eventId: string) => {
    const found = received.find(({ decoded }) => decoded.ok && decoded.event.eventId === eventId);
    return found?.decoded.ok && found.decoded.event.publishedBy;
  };
  const quarantined = async (broker: Broker, eventId: string) =>
    (await broker.quarantine.list({ limit: 9, matches: (record) => record.eventId === eventId }))[0];

  it('keeps the key of an event on its way to the journal, also through a crash before it is routed', async () => {
    let broker = await bench().open();
    const keyId = randomUUID();
    const event = anEvent({ merchantId: MERCHANT, publishedBy: keyId });
    await broker.publishEvents([event]);
    broker = await bench().crash(broker);
    await route(broker);
    const journal: Routed[] = [];
    await broker.journal.consume(
      async ({ entries }) => {
        for (const entry of entries) if (entry.kind === 'routed') journal.push(entry);
      },
      async () => undefined,
      { batchMax: 10 },
    );
    await bench().eventually('the routing is in the journal', () => journal.length > 0);
    expect(journal[0]?.event).toMatchObject({ eventId: event.eventId, publishedBy: keyId });
    expect(publisherOf(event.eventId)).toBe(keyId);
  });

  it.each([false, true])(
    'takes the same event under another key for a repeat, and other content under the same key for a conflict, with a pure router: %s',
    async (isPure) => {
      const broker = await bench().open();
      await route(broker, isPure);
      const [one, other] = [randomUUID(), randomUUID()];
      const event = anEvent({ merchantId: MERCHANT, publishedBy: one });
      await broker.publishEvents([event]);
      const again = await broker.publishEvents([{ ...event, publishedBy: other }]);
      if (broker.capabilities.recognisesRepeatedEvents) expect(again).toEqual(['duplicate']);
      const third = randomUUID();
      await broker.publishEvents([{ ...event, occurredAt: event.occurredAt + 1, publishedBy: third }]);
      const kept = await bench().eventually('the conflict is in quarantine', () =>
        quarantined(broker, event.eventId),
      );
      expect(kept.record).toMatchObject({ reason: 'event_id_conflict', publishedBy: third });
      expect(publisherOf(event.eventId)).toBe(one);
      expect(
        await broker.quarantine.list({ limit: 9, matches: ({ eventId }) => eventId === event.eventId }),
      ).toHaveLength(1);
    },
  );

  it('keeps the key of a quarantined event when it is put back', async () => {
    const broker = await bench().open();
    await route(broker);
    const merchantId = randomUUID();
    const keyId = randomUUID();
    const event = anEvent({ merchantId, publishedBy: keyId });
    await broker.publishEvents([event], { refusals: new Map([[event, 'unknown_merchant']]) });
    const kept = await bench().eventually('it is in quarantine', () => quarantined(broker, event.eventId));
    expect(kept.record.publishedBy).toBe(keyId);
    directory.apply(merchantChange(merchantId, 1));
    const before = received.length;
    expect(await broker.quarantine.requeue([kept.position])).toMatchObject({ requeued: 1 });
    const back = await bench().eventually('it came again', () => received[before]);
    expect(back.decoded).toMatchObject({ ok: true, event: { eventId: event.eventId, publishedBy: keyId } });
  });

  it('finds the quarantined records of an event id, newest first, until they are put back', async () => {
    let broker = await bench().open();
    await route(broker);
    const unknown = randomUUID();
    const keyId = randomUUID();
    const event = anEvent({ merchantId: unknown, publishedBy: keyId });
    expect(await broker.quarantine.find({ eventId: event.eventId })).toEqual({ records: [], since: null });
    const refused = (one: typeof event) =>
      broker.publishEvents([one], { refusals: new Map([[one, 'unknown_merchant']]) });
    await refused(event);
    await refused(anEvent({ merchantId: unknown }));
    await bench().eventually('it is in quarantine', () => quarantined(broker, event.eventId));
    const found = async () => (await broker.quarantine.find({ eventId: event.eventId })).records;
    expect(await found()).toEqual([
      expect.objectContaining({
        ...{ reason: 'unknown_merchant', eventId: event.eventId, merchantId: unknown, publishedBy: keyId },
        detail: expect.stringContaining(unknown),
      }),
    ]);
    const other = { ...event, occurredAt: event.occurredAt + 1, publishedBy: randomUUID() };
    await broker.publishEvents([other]);
    await bench().eventually('both are found', async () => (await found()).length === 2);
    expect((await found()).map(({ reason, publishedBy }) => [reason, publishedBy])).toEqual([
      ['event_id_conflict', other.publishedBy],
      ['unknown_merchant', keyId],
    ]);
    broker = await bench().crash(broker);
    expect(await found()).toHaveLength(2);
    const kept = await broker.quarantine.list({
      limit: 9,
      matches: ({ eventId }) => eventId === event.eventId,
    });
    await broker.quarantine.requeue(kept.map(({ position }) => position));
    expect(await found()).toEqual([]);
  });

  it('finds what is quarantined about a merchant’s event, subject and entity, and nothing of another merchant', async () => {
    let broker = await bench().open();
    await route(broker);
    const [merchantId, foreign, entityId] = [randomUUID(), randomUUID(), randomUUID()];
    const refuse = async (one: DomainEvent) => {
      await broker.publishEvents([one], { refusals: new Map([[one, 'unknown_merchant']]) });
      await bench().eventually('it is in quarantine', () => quarantined(broker, one.eventId));
      return one;
    };
    const first = await refuse(anEvent({ merchantId, entityId }));
    const transactionUuid = randomUUID();
    const second = await refuse(
      anEvent({
        merchantId,
        entityId,
        data: { ...first.data, transactionUuid },
        occurredAt: 1_700_000_001_000,
      }),
    );
    const others = await refuse(anEvent({ merchantId: foreign, entityId, data: second.data }));
    const found = async (about: string, of: string | null = merchantId) =>
      (await broker.quarantine.find({ merchantId: of ?? undefined, about })).records.map(
        ({ eventId }) => eventId,
      );
    const all = async () => [
      await found(entityId),
      await found(transactionUuid),
      await found(first.eventId),
      await found(first.eventId, foreign),
      await found(randomUUID()),
      await found(transactionUuid, null),
      (await found(entityId, null)).length,
    ];
    const ofBoth = [others.eventId, second.eventId];
    const expected = [[second.eventId, first.eventId], [second.eventId], [first.eventId], [], [], ofBoth, 3];
    expect(await all()).toEqual(expected);
    broker = await bench().crash(broker);
    expect(await all()).toEqual(expected);
    const [newest] = (await broker.quarantine.find({ merchantId, about: transactionUuid })).records;
    expect(newest).toMatchObject({
      ...{ type: second.type, subType: second.subType, occurredAt: second.occurredAt },
      ...{ entityId, subjectId: transactionUuid, publishedBy: second.publishedBy },
    });
    expect(newest).not.toHaveProperty('bytes');
    const kept = await quarantined(broker, first.eventId);
    directory.apply(merchantChange(merchantId, 1));
    await broker.quarantine.requeue([kept?.position ?? '']);
    expect(await found(entityId)).toEqual([second.eventId]);
  });

  it('publishes nothing of a dry run, and says what it knows', async () => {
    const broker = await bench().open();
    await route(broker);
    const event = anEvent({ merchantId: MERCHANT, publishedBy: randomUUID() });
    const [fresh, other] = [
      anEvent({ merchantId: MERCHANT }),
      { ...event, occurredAt: event.occurredAt + 1 },
    ];
    await broker.publishEvents([event]);
    await bench().eventually('it is routed', () => publisherOf(event.eventId));
    const before = received.length;
    const again = { ...event, publishedBy: randomUUID() };
    const changed = { ...fresh, occurredAt: fresh.occurredAt + 1 };
    for (let time = 0; time < 2; time += 1) {
      expect(await broker.publishEvents([again, other, fresh, fresh, changed], { isDry: true })).toEqual(
        broker.capabilities.recognisesRepeatedEvents
          ? ['duplicate', 'conflict', 'accepted', 'duplicate', 'conflict']
          : ['accepted', 'accepted', 'accepted', 'accepted', 'accepted'],
      );
    }
    expect(await broker.publishEvents([fresh])).toEqual(['accepted']);
    const routed = () => received.slice(before).map(({ decoded }) => decoded.ok && decoded.event.eventId);
    await bench().eventually('the one that was published is routed', () => routed().includes(fresh.eventId));
    expect(new Set(routed())).toEqual(new Set([fresh.eventId]));
    expect(
      await broker.quarantine.list({ limit: 9, matches: ({ eventId }) => eventId === event.eventId }),
    ).toEqual([]);
  });
}
