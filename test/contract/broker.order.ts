import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Broker, ReceivedEvent } from '../../services/broker/broker.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { anEvent, quarantined, routed } from '../support/records/broker-records.ts';
import type { GiveBench } from './broker-bench.ts';

/** The sequences of an entity's events rise in the order in which they were accepted, and an event keeps its own. */
export function orderGuarantees(bench: GiveBench): void {
  const entityId = randomUUID();
  const many = (count: number) => Array.from({ length: count }, () => anEvent({ entityId }));
  const sequencesOf = (events: readonly DomainEvent[]) => events.map(({ sequence }) => sequence ?? 0);

  /** Reads events until `enough` is true of them; returns them in the order in which they were handed over. */
  async function read(broker: Broker, enough: (events: readonly DomainEvent[]) => boolean) {
    const seen: DomainEvent[] = [];
    const consumer = await broker.events.consume(
      (input) => {
        if (input.decoded.ok) seen.push(input.decoded.event);
        return { kind: 'routed', tasks: [], journal: routed(seen.at(-1) ?? anEvent()) };
      },
      { inFlightMax: 10 },
    );
    await bench().eventually('the events', () => enough(seen));
    return { seen, consumer };
  }

  it('gives each event of an entity a higher sequence than those before, through restarts', async () => {
    let broker = await bench().open();
    const first = many(40);
    await broker.publishEvents(first);
    const before = await read(broker, (events) => events.length >= first.length);
    await before.consumer.stop(5000);
    broker = await bench().crash(broker);
    const next = many(40);
    await broker.publishEvents(next.slice(0, 20));
    await broker.publishEvents(next.slice(20));
    const last = next.at(-1)?.eventId;
    const after = await read(broker, (events) => events.some(({ eventId }) => eventId === last));
    const known = new Map([...before.seen, ...after.seen].map((event) => [event.eventId, event]));
    const all = sequencesOf([...first, ...next].map(({ eventId }) => known.get(eventId) ?? anEvent()));
    for (const [index, sequence] of all.entries()) {
      expect(Number.isSafeInteger(sequence)).toBe(true);
      expect(sequence).toBeGreaterThan(all[index - 1] ?? 0);
    }
    // Of this time: an engine that is begun anew, or another one, goes on above it.
    expect((all.at(-1) ?? 0) / 1000).toBeGreaterThan(bench().clock.now() - 60_000);
    expect((all.at(-1) ?? 0) / 1000).toBeLessThan(bench().clock.now() + 60_000);
  });

  it('gives an event that is routed again the same sequence', async () => {
    let broker = await bench().open();
    const events = many(12);
    await broker.publishEvents(events);
    const first: ReceivedEvent[] = [];
    // Nothing of it is settled: all of them come again.
    await broker.events.consume(
      (input) => {
        first.push(input);
        return new Promise(() => {});
      },
      { inFlightMax: events.length },
    );
    await bench().eventually('all events', () => first.length === events.length);
    broker = await bench().crash(broker);
    await broker.publishEvents(many(3));
    const { seen } = await read(broker, (some) => some.length >= events.length + 3);
    const given = first.flatMap(({ decoded }) => (decoded.ok ? [decoded.event] : []));
    expect(sequencesOf(seen.slice(0, events.length))).toEqual(sequencesOf(given));
  });

  it('keeps the place of an event that is put back: it stays older than those accepted since', async () => {
    const broker = await bench().open();
    const [refused, other] = [anEvent({ entityId }), anEvent({ entityId })];
    const places = new Map<string, number[]>();
    let isRefusing = true;
    await broker.events.consume(
      (input) => {
        if (!input.decoded.ok) throw new Error('not decoded');
        const { event } = input.decoded;
        places.set(event.eventId, [...(places.get(event.eventId) ?? []), event.sequence ?? 0]);
        if (isRefusing && event.eventId === refused.eventId)
          return { kind: 'quarantined', record: quarantined(event, input) };
        return { kind: 'routed', tasks: [], journal: routed(event) };
      },
      { inFlightMax: 10 },
    );
    await broker.publishEvents([refused]);
    const [stored] = await bench().eventually('the quarantine', async () => {
      const list = await broker.quarantine.list({ limit: 10 });
      return list.length > 0 ? list : undefined;
    });
    await broker.publishEvents([other]);
    await bench().eventually('the other one', () => places.has(other.eventId));
    isRefusing = false;
    expect(await broker.quarantine.requeue([stored?.position ?? ''])).toMatchObject({ requeued: 1 });
    await bench().eventually('it again', () => places.get(refused.eventId)?.length === 2);
    const [before, again] = places.get(refused.eventId) ?? [];
    expect(again).toBe(before);
    expect(places.get(other.eventId)?.[0]).toBeGreaterThan(before ?? 0);
  });
}
