import { expect, it } from 'vitest';
import type { Broker, Settlement } from '../../services/broker/broker.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { anEvent, aTask, attempted, routed } from '../support/records/broker-records.ts';
import { type GiveBench, gate, stopped } from './broker-bench.ts';

const DONE = (task: DeliveryTask): Settlement => ({ kind: 'settled', journal: [attempted(task)] });
const ENTITY = '33333333-3333-4333-8333-333333333333';
const TWO = '44444444-4444-4444-8444-444444444444';

/** Events of the entity TWO have tasks for two endpoints, others for one. */
function tasksOf(event: DomainEvent): DeliveryTask[] {
  const { eventId, entityId } = event;
  const of = (endpointId: string) =>
    aTask({ deliveryId: `${eventId} ${endpointId}`, eventId, entityId, endpointId });
  return entityId === TWO ? [of('endpoint-2'), of('endpoint-3')] : [of('endpoint-1')];
}

/**
 * Guarantees for the first attempts of events that are routed in this process: an engine may hand them to the sender
 * without storing the task.
 */
export function firstAttemptGuarantees(bench: GiveBench): void {
  const route = (broker: Broker) =>
    broker.events.consume(
      ({ decoded }) => {
        if (!decoded.ok) throw new Error('not decoded');
        const { event } = decoded;
        return { kind: 'routed', tasks: tasksOf(event), journal: routed(event) };
      },
      { inFlightMax: 100, inline: { isPure: true } },
    );

  const send = (
    broker: Broker,
    handler: (task: DeliveryTask, signal: AbortSignal) => Settlement | Promise<Settlement>,
    isPrompt = () => true,
  ) => broker.tasks.live.consume(handler, { inFlightMax: 1000, inline: { isPrompt } });

  it('repeats after a crash the attempts that were not settled, and no others', async () => {
    let broker = await bench().open();
    const events = Array.from({ length: 60 }, (_, at) => anEvent(at % 2 === 0 ? { entityId: TWO } : {}));
    const firsts = events.flatMap((event) => tasksOf(event).slice(0, 1));
    const hangs = new Set(firsts.filter((_, at) => at % 3 === 0).map(({ deliveryId }) => deliveryId));
    const wanted = events.flatMap(tasksOf);
    const started = new Set<string>();
    await send(broker, (task) => {
      started.add(task.deliveryId);
      return hangs.has(task.deliveryId) ? new Promise<Settlement>(() => {}) : DONE(task);
    });
    await route(broker);
    await broker.publishEvents(events);
    await bench().eventually('every attempt', () => started.size === wanted.length);
    await bench().turn(broker);
    await bench().clock.sleep(2 * broker.capabilities.repeatsMs);
    broker = await bench().crash(broker);
    const again: string[] = [];
    await send(broker, (task) => {
      again.push(task.deliveryId);
      return DONE(task);
    });
    await route(broker);
    await bench().eventually('those that hung', () => again.length >= hangs.size);
    await bench().turn(broker);
    expect(again.sort()).toEqual([...hangs].sort());
  });

  it('gives attempts that a stopped sender has not made to the next one', async () => {
    const broker = await bench().open();
    await route(broker);
    const first: string[] = [];
    const sender = await send(broker, ({ deliveryId }, signal) => {
      first.push(deliveryId);
      return new Promise((settle) => {
        signal.addEventListener('abort', () => settle({ kind: 'released' }), { once: true });
      });
    });
    const events = Array.from({ length: 40 }, () => anEvent());
    await broker.publishEvents(events);
    await bench().eventually('every attempt', () => first.length >= events.length);
    expect(await stopped(sender)).toBe('drained');
    const next = new Set<string>();
    await send(broker, (task) => {
      next.add(task.deliveryId);
      return DONE(task);
    });
    await bench().eventually('every attempt again', () => next.size === events.length);
    expect([...next].sort()).toEqual([...first].sort());
  });

  it('records the routing of an attempt that takes long, and later its results', async () => {
    const broker = await bench().open();
    const kinds: string[] = [];
    await broker.journal.consume(
      async ({ entries }) => void kinds.push(...[...entries].map(({ kind }) => kind)),
      async () => undefined,
      { batchMax: 10 },
    );
    const released = gate();
    await route(broker);
    await send(broker, async (task) => {
      await released.opened;
      return DONE(task);
    });
    await broker.publishEvents([anEvent()]);
    await bench().eventually('the routing', () => kinds.length > 0);
    expect(kinds).toEqual(['routed']);
    released.open();
    await bench().eventually('the results', () => kinds.length > 1);
    await bench().turn(broker);
    expect(kinds).toEqual(['routed', 'attempted']);
  });

  it('keeps the order of an entity while its endpoint turns slow and quick again', async () => {
    const broker = await bench().open();
    let isPrompt = true;
    const taken: string[] = [];
    await send(
      broker,
      (task) => {
        taken.push(task.eventId);
        return DONE(task);
      },
      () => isPrompt,
    );
    await route(broker);
    const events: DomainEvent[] = [];
    for (let round = 0; round < 30; round += 1) {
      isPrompt = round % 3 !== 1;
      const some = [anEvent({ entityId: ENTITY }), anEvent({ entityId: ENTITY })];
      events.push(...some);
      await broker.publishEvents(some);
      if (round % 5 === 0) await bench().turn(broker);
    }
    await bench().eventually('every attempt', () => taken.length >= events.length);
    expect(taken).toEqual(events.map(({ eventId }) => eventId));
  });

  it('does not lose events that wait while the sender takes nothing', async () => {
    const broker = await bench().open();
    await route(broker);
    const taken = new Set<string>();
    const released = gate();
    const sender = await send(broker, async (task) => {
      await released.opened;
      taken.add(task.eventId);
      return DONE(task);
    });
    await broker.publishEvents([anEvent()]);
    sender.pause();
    const events = Array.from({ length: 300 }, () => anEvent());
    await broker.publishEvents(events);
    await bench().turn(broker);
    released.open();
    expect(events.some(({ eventId }) => taken.has(eventId))).toBe(false);
    sender.resume();
    await bench().eventually('every attempt', () => taken.size === events.length + 1);
  });
}
