import { expect, it } from 'vitest';
import { Directory } from '../../services/domain/directory.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import type { JournalEntry } from '../../services/domain/journal.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { fanOut } from '../../services/router/fan-out.ts';
import { anEvent, merchantChange, quarantined, routed, taskOf } from '../support/records/broker-records.ts';
import { accepted, type GiveBench, gate, stopped } from './broker-bench.ts';

const route = (event: DomainEvent) => ({
  kind: 'routed' as const,
  tasks: [taskOf(event)],
  journal: routed(event),
});

export function eventGuarantees(bench: GiveBench): void {
  it('hands over events as they were published, in the order of their entity', async () => {
    const broker = await bench().open();
    const entityId = '22222222-2222-4222-8222-222222222222';
    const events = Array.from({ length: 50 }, () => anEvent({ entityId }));
    const answers = await broker.publishEvents(events);
    expect(answers).toEqual(events.map(() => 'accepted'));
    const seen: DomainEvent[] = [];
    await broker.events.consume(
      (input) => {
        if (!input.decoded.ok) throw new Error('not decoded');
        expect(input.acceptedAt).toBeLessThanOrEqual(bench().clock.now());
        expect(input.acceptedAt).toBeGreaterThan(bench().clock.now() - 60_000);
        seen.push(input.decoded.event);
        return route(input.decoded.event);
      },
      { inFlightMax: 10 },
    );
    await bench().eventually('all events', () => seen.length === events.length);
    expect(seen).toEqual(events.map(accepted));
  });

  it('offers events again after a crash that were published and never consumed', async () => {
    let broker = await bench().open();
    const events = [anEvent(), anEvent(), anEvent()];
    await broker.publishEvents(events);
    broker = await bench().crash(broker);
    const seen: DomainEvent[] = [];
    await broker.events.consume(
      (input) => {
        if (input.decoded.ok) seen.push(input.decoded.event);
        return { kind: 'routed', tasks: [], journal: routed(events[0] ?? anEvent()) };
      },
      { inFlightMax: 10 },
    );
    await bench().eventually('all events', () => seen.length >= events.length);
    expect(seen).toEqual(expect.arrayContaining(events.map(accepted)));
  });

  it('offers an event again when the crash came during its handler', async () => {
    let broker = await bench().open();
    const event = anEvent();
    await broker.publishEvents([event]);
    const entered = gate();
    await broker.events.consume(
      () => {
        entered.open();
        return new Promise(() => {});
      },
      { inFlightMax: 1 },
    );
    await entered.opened;
    broker = await bench().crash(broker);
    const again = gate();
    await broker.events.consume(
      (input) => {
        if (input.decoded.ok && input.decoded.event.eventId === event.eventId) again.open();
        return route(event);
      },
      { inFlightMax: 1 },
    );
    await again.opened;
  });

  it('loses nothing when the crash comes right after the handlers answered', async () => {
    let broker = await bench().open();
    const events = Array.from({ length: 200 }, () => anEvent());
    await broker.publishEvents(events);
    let handled = 0;
    const some = gate();
    const consume = async () =>
      broker.events.consume(
        (input) => {
          handled += 1;
          if (handled === 50) some.open();
          return route(input.decoded.ok ? input.decoded.event : anEvent());
        },
        { inFlightMax: 25 },
      );
    await consume();
    await some.opened;
    broker = await bench().crash(broker);
    // Each event either has yet to be routed, or has both its task and its journal entry.
    const tasks = new Set<string>();
    const entries = new Set<string>();
    await consume();
    await broker.tasks.live.consume(
      (task: DeliveryTask) => {
        tasks.add(task.eventId);
        return { kind: 'settled', journal: [] };
      },
      { inFlightMax: 100 },
    );
    await broker.journal.consume(
      async ({ entries: batch }) => {
        for (const entry of batch) if (entry.kind === 'routed') entries.add(entry.event.eventId);
      },
      async () => undefined,
      { batchMax: 100 },
    );
    await bench().eventually('a task for each event', () => tasks.size === events.length);
    await bench().eventually('a journal entry for each event', () => entries.size === events.length);
  });

  it('does not hand over again what is settled and durable', async () => {
    let broker = await bench().open();
    await broker.publishEvents([anEvent(), anEvent()]);
    let handled = 0;
    const consumer = await broker.events.consume(
      (input) => {
        handled += 1;
        return route(input.decoded.ok ? input.decoded.event : anEvent());
      },
      { inFlightMax: 10 },
    );
    await bench().eventually('both', () => handled === 2);
    expect(await stopped(consumer)).toBe('drained');
    broker = await bench().crash(broker);
    await bench().eventually('nothing waits', () => broker.status().backlog.events === 0);
    await broker.events.consume(
      (input) => {
        handled += 1;
        return route(input.decoded.ok ? input.decoded.event : anEvent());
      },
      { inFlightMax: 10 },
    );
    await bench().turn(broker);
    expect(handled).toBe(2);
  });

  it('makes the journal entry and the tasks of a routed event durable together with it', async () => {
    const broker = await bench().open();
    const event = anEvent();
    await broker.publishEvents([event]);
    await broker.events.consume(() => route(event), { inFlightMax: 10 });
    const entries: JournalEntry[] = [];
    const tasks: DeliveryTask[] = [];
    await broker.journal.consume(
      async (batch) => void entries.push(...batch.entries),
      async () => undefined,
      { batchMax: 10 },
    );
    await broker.tasks.live.consume(
      (task) => {
        tasks.push(task);
        return { kind: 'settled', journal: [] };
      },
      { inFlightMax: 10 },
    );
    await bench().eventually('both', () => entries.length > 0 && tasks.length > 0);
    expect(entries).toEqual([routed(event)]);
    expect(tasks).toEqual([taskOf(event)]);
  });

  it('quarantines what the router refuses, and requeues it as it arrived', async () => {
    let broker = await bench().open();
    const event = anEvent();
    await broker.publishEvents([event]);
    const seen: DomainEvent[] = [];
    const refuse = await broker.events.consume(
      (input) => ({ kind: 'quarantined', record: quarantined(event, input) }),
      { inFlightMax: 1 },
    );
    const [stored] = await bench().eventually('the store', async () => {
      const list = await broker.quarantine.list({ limit: 10 });
      return list.length > 0 ? list : undefined;
    });
    expect(stored?.record).toMatchObject({ reason: 'unknown_merchant', eventId: event.eventId });
    await stopped(refuse);
    broker = await bench().crash(broker);
    const position = stored?.position ?? '';
    expect(await broker.quarantine.read(position)).toEqual(stored?.record);
    expect(await broker.quarantine.requeue([position, position, '999999'])).toEqual({
      requeued: 1,
      refused: [],
    });
    await broker.events.consume(
      (input) => {
        if (input.decoded.ok) seen.push(input.decoded.event);
        return route(event);
      },
      { inFlightMax: 1 },
    );
    await bench().eventually('the event is handed over again', () => seen.length === 1);
    expect(seen).toEqual([accepted(event)]);
    expect(await broker.quarantine.list({ limit: 10 })).toEqual([]);
    expect(await broker.quarantine.requeue([position])).toEqual({ requeued: 0, refused: [] });
  });

  it('puts no event back that would be quarantined again: it stays as it arrived', async () => {
    const broker = await bench().open();
    const [wrong, mended] = [anEvent(), anEvent()];
    await broker.publishEvents([wrong, mended]);
    const seen: string[] = [];
    await broker.events.consume(
      (input) => {
        const event = input.decoded.ok ? input.decoded.event : anEvent();
        const isFirst = !seen.includes(event.eventId);
        seen.push(event.eventId);
        return isFirst ? { kind: 'quarantined', record: quarantined(event, input) } : route(event);
      },
      { inFlightMax: 1 },
    );
    const stored = await bench().eventually('both are in quarantine', async () => {
      const list = await broker.quarantine.list({ limit: 10 });
      return list.length === 2 ? list : undefined;
    });
    const kept = stored.filter(({ record }) => record.eventId === wrong.eventId);
    const positions = stored.map(({ position }) => position);
    const stillRefused = async ({ eventId }: DomainEvent) =>
      eventId === wrong.eventId ? 'no merchant' : null;
    expect(await broker.quarantine.requeue(positions, { stillRefused })).toEqual({
      requeued: 1,
      refused: [{ position: kept[0]?.position, detail: 'it would be quarantined again: no merchant' }],
    });
    await bench().eventually('the other one is handed over again', () => seen.length === 3);
    expect(seen[2]).toBe(mended.eventId);
    expect(await broker.quarantine.list({ limit: 10 })).toEqual(kept);
  });

  it('quarantines what its publisher refused though the router knows the merchant, until it is put back', async () => {
    const broker = await bench().open();
    const [refused, accepted] = [anEvent(), anEvent()];
    const refusals = new Map([[refused, 'unknown_merchant' as const]]);
    expect(await broker.publishEvents([refused, accepted], { refusals })).toEqual(['accepted', 'accepted']);
    const directory = new Directory();
    directory.apply(merchantChange(refused.merchantId, 1));
    const seen: string[] = [];
    await broker.events.consume(
      (input) => {
        const result = fanOut(input, { directory, acceptsSimulated: true, now: 1_700_000_000_000 });
        if (result.kind === 'routed') seen.push(result.journal.event.eventId);
        return result;
      },
      { inFlightMax: 10 },
    );
    const [stored] = await bench().eventually('the store', async () => {
      const list = await broker.quarantine.list({ limit: 10 });
      return list.length > 0 ? list : undefined;
    });
    expect(stored?.record).toMatchObject({
      reason: 'unknown_merchant',
      eventId: refused.eventId,
      merchantId: refused.merchantId,
    });
    await bench().eventually('the other event is routed', () => seen.length === 1);
    expect(await broker.quarantine.requeue([stored?.position ?? ''])).toEqual({ requeued: 1, refused: [] });
    await bench().eventually('the refused one is routed', () => seen.length === 2);
    expect(seen).toEqual([accepted.eventId, refused.eventId]);
    expect(await broker.quarantine.list({ limit: 10 })).toEqual([]);
  });

  it('recognises a repeated event, if it claims that capability', async (context) => {
    let broker = await bench().open();
    if (!broker.capabilities.recognisesRepeatedEvents) return context.skip();
    const event = anEvent();
    const other = { ...event, subType: 'KYC_REJECTED' };
    const fresh = anEvent();
    expect(await broker.publishEvents([event, event])).toEqual(['accepted', 'duplicate']);
    broker = await bench().crash(broker);
    expect(await broker.publishEvents([other, fresh, event])).toEqual(['conflict', 'accepted', 'duplicate']);
    const seen: DomainEvent[] = [];
    await broker.events.consume(
      (input) => {
        if (input.decoded.ok) seen.push(input.decoded.event);
        return { kind: 'routed', tasks: [], journal: routed(event) };
      },
      { inFlightMax: 10 },
    );
    await bench().eventually('both', () => seen.length >= 2);
    await bench().turn(broker);
    expect(seen).toEqual([event, fresh].map(accepted));
    const records = await broker.quarantine.list({ limit: 10 });
    expect(records.map(({ record }) => [record.reason, record.eventId])).toEqual([
      ['event_id_conflict', event.eventId],
    ]);
  });

  it('refuses more than 500 events per call, and takes none of them', async () => {
    const broker = await bench().open();
    expect(await broker.publishEvents([])).toEqual([]);
    await expect(broker.publishEvents(Array.from({ length: 501 }, () => anEvent()))).rejects.toThrow(/500/);
    expect(broker.status().backlog.events).toBe(0);
  });
}
