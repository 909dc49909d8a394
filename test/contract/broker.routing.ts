import { expect, it } from 'vitest';
import type { Broker, Inline, ReceivedEvent, RouterResult } from '../../services/broker/broker.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { anEvent, quarantined, routed, taskOf } from '../support/records/broker-records.ts';
import { type GiveBench, stopped } from './broker-bench.ts';

const ENTITY = '33333333-3333-4333-8333-333333333333';

const route = (event: DomainEvent): RouterResult => ({
  kind: 'routed',
  tasks: [taskOf(event)],
  journal: routed(event),
});

/** Guarantees for a router that is pure: an engine may call it before the event is durable. */
export function routingGuarantees(bench: GiveBench): void {
  const consume = (
    broker: Broker,
    handler: (event: DomainEvent, received: ReceivedEvent) => RouterResult = route,
    inline: Inline<ReceivedEvent, RouterResult> = {},
  ) =>
    broker.events.consume(
      (received) => {
        if (!received.decoded.ok) throw new Error('not decoded');
        return handler(received.decoded.event, received);
      },
      { inFlightMax: 100, inline: { isPure: true, ...inline } },
    );

  const taken = async (broker: Broker) => {
    const events: string[] = [];
    await broker.tasks.live.consume(
      ({ eventId }) => {
        events.push(eventId);
        return { kind: 'settled', journal: [] };
      },
      { inFlightMax: 1000 },
    );
    return events;
  };

  it('has a task for every event that was accepted, after a crash right behind the last answer', async () => {
    let broker = await bench().open();
    await consume(broker);
    const events = Array.from({ length: 300 }, () => anEvent());
    const calls: Promise<unknown>[] = [];
    for (let at = 0; at < events.length; at += 10)
      calls.push(broker.publishEvents(events.slice(at, at + 10)));
    await Promise.all(calls);
    broker = await bench().crash(broker);
    await consume(broker);
    const tasks = await taken(broker);
    await bench().eventually('every task', () => new Set(tasks).size === events.length);
  });

  it('keeps the order of an entity while the router is paused, continues, and is paused again', async () => {
    const broker = await bench().open();
    const consumer = await consume(broker);
    const tasks = await taken(broker);
    const events: DomainEvent[] = [];
    for (let round = 0; round < 40; round += 1) {
      if (round % 10 === 3) consumer.pause();
      if (round % 10 === 6) consumer.resume();
      const some = [anEvent({ entityId: ENTITY }), anEvent({ entityId: ENTITY })];
      events.push(...some);
      await broker.publishEvents(some);
    }
    await bench().eventually('every task', () => tasks.length >= events.length);
    expect(tasks).toEqual(events.map(({ eventId }) => eventId));
  });

  it('keeps the order of an entity behind the events that a crash left', async () => {
    let broker = await bench().open();
    const events = Array.from({ length: 1500 }, () => anEvent({ entityId: ENTITY }));
    for (let at = 0; at < events.length; at += 500) await broker.publishEvents(events.slice(at, at + 500));
    broker = await bench().crash(broker);
    const last = anEvent({ entityId: ENTITY });
    await consume(broker);
    await broker.publishEvents([last]);
    const tasks = await taken(broker);
    const wanted = [...events, last].map(({ eventId }) => eventId);
    await bench().eventually('every task', () => new Set(tasks).size === wanted.length);
    expect(tasks.filter((eventId, at) => tasks.indexOf(eventId) === at)).toEqual(wanted);
  });

  it('reports each result that is used once, and none of a repeat', async (context) => {
    const broker = await bench().open();
    if (!broker.capabilities.recognisesRepeatedEvents) return context.skip();
    const used: string[] = [];
    const limits = {
      used: (result: RouterResult) => {
        if (result.kind === 'routed') used.push(result.journal.event.eventId);
      },
    };
    await consume(broker, route, limits);
    const tasks = await taken(broker);
    const known = anEvent();
    await broker.publishEvents([known]);
    const others = Array.from({ length: 5 }, () => anEvent());
    const changed = { ...known, subType: 'FAILED' as const };
    const answers = await Promise.all([
      broker.publishEvents(others.slice(0, 2)),
      broker.publishEvents([known, others[2] ?? anEvent(), others[2] ?? anEvent()]),
      broker.publishEvents([changed, ...others.slice(3)]),
      broker.publishDirectory([]),
    ]);
    expect(answers.slice(0, 3)).toEqual([
      ['accepted', 'accepted'],
      ['duplicate', 'accepted', 'duplicate'],
      ['conflict', 'accepted', 'accepted'],
    ]);
    expect(await broker.publishEvents(others)).toEqual(others.map(() => 'duplicate'));
    const wanted = [known, ...others].map(({ eventId }) => eventId).sort();
    await bench().eventually('every task', () => tasks.length >= wanted.length);
    await bench().turn(broker);
    expect([...tasks].sort()).toEqual(wanted);
    expect([...used].sort()).toEqual(wanted);
    const records = await broker.quarantine.list({ limit: 10 });
    expect(records.map(({ record }) => record.reason)).toEqual(['event_id_conflict']);
  });

  it('quarantines what the router refuses', async () => {
    const broker = await bench().open();
    const results: string[] = [];
    await consume(
      broker,
      (event, received) => ({ kind: 'quarantined', record: quarantined(event, received) }),
      {
        used: ({ kind }) => void results.push(kind),
      },
    );
    const event = anEvent();
    await broker.publishEvents([event]);
    const [stored] = await bench().eventually('the store', async () => {
      const list = await broker.quarantine.list({ limit: 10 });
      return list.length > 0 ? list : undefined;
    });
    expect(stored?.record).toMatchObject({ reason: 'unknown_merchant', eventId: event.eventId });
    await bench().eventually('the report', () => results.length === 1);
    expect(broker.status().quarantined.get('unknown_merchant')).toBe(1);
  });

  it('offers an event again whose handler threw, and accepts it all the same', async () => {
    const broker = await bench().open();
    let isBroken = true;
    const consumer = await consume(broker, (event) => {
      if (isBroken) throw new Error('broken');
      return route(event);
    });
    const event = anEvent();
    expect(await broker.publishEvents([event])).toEqual(['accepted']);
    await bench().eventually('it is stuck', () => broker.status().stuck.count === 1);
    isBroken = false;
    const tasks = await taken(broker);
    await bench().eventually('its task', () => tasks.length > 0);
    expect(tasks).toEqual([event.eventId]);
    expect(await stopped(consumer)).toBe('drained');
  });
}
