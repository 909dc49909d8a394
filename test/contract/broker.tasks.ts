import { expect, it } from 'vitest';
import type { Broker, Settlement } from '../../services/broker/broker.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { aTask, attempted, deadLetter, requested } from '../support/records/broker-records.ts';
import { type GiveBench, gate, stopped } from './broker-bench.ts';

const DONE: Settlement = { kind: 'settled', journal: [] };

function publish(broker: Broker, tasks: readonly DeliveryTask[]): Promise<void> {
  return broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));
}

export function taskGuarantees(bench: GiveBench): void {
  it('hands over each class from its own source, unchanged, in order', async () => {
    const broker = await bench().open();
    const of = (trigger: DeliveryTask['trigger']) =>
      Array.from({ length: 20 }, () => aTask({ trigger, traceparent: '00-trace-span-01' }));
    const live = of('live');
    const test = [...of('test'), ...of('manual')];
    const replay = of('replay');
    await publish(broker, [...live, ...test, ...replay]);
    for (const [name, expected] of Object.entries({ live, test, replay })) {
      const seen: DeliveryTask[] = [];
      await broker.tasks[name as 'live'].consume(
        (task) => {
          seen.push(task);
          return DONE;
        },
        { inFlightMax: 5 },
      );
      await bench().eventually(`all of ${name}`, () => seen.length === expected.length);
      expect(seen).toEqual(expected);
    }
  });

  it('never hands a task over before its due time, also after a restart, sooner ones first', async () => {
    const { clock } = bench();
    let broker = await bench().open();
    const now = clock.now();
    const tasks = [300, 50, 200, 100, 0.5].map((ms) => aTask({ dueAt: now + ms }));
    await publish(broker, tasks);
    broker = await bench().crash(broker);
    const seen: { readonly dueAt: number; readonly at: number }[] = [];
    await broker.tasks.live.consume(
      (task) => {
        seen.push({ dueAt: task.dueAt, at: clock.now() });
        return DONE;
      },
      { inFlightMax: 10 },
    );
    // A task that is due before all waiting ones.
    await publish(broker, [aTask({ dueAt: clock.now() + 20 })]);
    await bench().eventually('all tasks', () => seen.length === tasks.length + 1);
    for (const { dueAt, at } of seen) expect(at).toBeGreaterThanOrEqual(dueAt);
  });

  it('hands over the next attempt when it is due, and not before', async () => {
    const { clock } = bench();
    const broker = await bench().open();
    const first = aTask();
    await publish(broker, [first]);
    const seen: { readonly task: DeliveryTask; readonly at: number }[] = [];
    let dueAt = 0;
    await broker.tasks.live.consume(
      (task) => {
        seen.push({ task, at: clock.now() });
        if (task.attempt === 2) return DONE;
        dueAt = Math.ceil(clock.now() + 80);
        return {
          kind: 'settled',
          journal: [attempted(task, { kind: 'retry', dueAt })],
          next: { ...task, attempt: 2, dueAt },
        };
      },
      { inFlightMax: 10 },
    );
    await bench().eventually('attempt 2', () => seen.length === 2);
    expect(seen[1]?.task).toEqual({ ...first, attempt: 2, dueAt: seen[1]?.task.dueAt });
    expect(seen[1]?.task.dueAt).toBeGreaterThanOrEqual(dueAt);
    expect(seen[1]?.at).toBeGreaterThanOrEqual(seen[1]?.task.dueAt ?? Infinity);
  });

  it('keeps a next attempt through a crash right after the previous one was durable', async () => {
    let broker = await bench().open();
    const first = aTask();
    await publish(broker, [first]);
    const consumer = await broker.tasks.live.consume(
      (task) => ({
        kind: 'settled',
        journal: [],
        next: { ...task, attempt: task.attempt + 1, dueAt: bench().clock.now() + 400 },
      }),
      { inFlightMax: 1 },
    );
    await bench().eventually('the first attempt', () => broker.status().backlog.delayed === 1);
    await stopped(consumer);
    broker = await bench().crash(broker);
    const seen: DeliveryTask[] = [];
    await broker.tasks.live.consume(
      (task) => {
        seen.push(task);
        return DONE;
      },
      { inFlightMax: 1 },
    );
    await bench().eventually('the second attempt', () => seen.length > 0);
    expect(seen.map(({ attempt }) => attempt)).toEqual([2]);
  });

  it('offers released tasks again after a restart', async () => {
    let broker = await bench().open();
    const task = aTask();
    await publish(broker, [task]);
    const entered = gate();
    const consumer = await broker.tasks.live.consume(
      (_, signal) => {
        entered.open();
        return new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ kind: 'released' }), { once: true }),
        );
      },
      { inFlightMax: 1 },
    );
    await entered.opened;
    expect(await stopped(consumer)).toBe('drained');
    broker = await bench().restart(broker);
    const seen: DeliveryTask[] = [];
    await broker.tasks.live.consume(
      (given) => {
        seen.push(given);
        return DONE;
      },
      { inFlightMax: 1 },
    );
    await bench().eventually('the task is offered again', () => seen.length > 0);
    expect(seen).toEqual([task]);
  });

  it('makes running tasks durable when it stops, and reports that', async () => {
    let broker = await bench().open();
    await publish(broker, [aTask(), aTask(), aTask()]);
    const release = gate();
    let entered = 0;
    const consumer = await broker.tasks.live.consume(
      async () => {
        entered += 1;
        await release.opened;
        return DONE;
      },
      { inFlightMax: 2 },
    );
    await bench().eventually('two run', () => entered === 2);
    const stop = stopped(consumer);
    expect(stopped(consumer)).toBeInstanceOf(Promise);
    release.open();
    expect(await stop).toBe('drained');
    expect(await stopped(consumer)).toBe('drained');
    expect(entered).toBe(2);
    broker = await bench().crash(broker);
    await bench().eventually('one is left', () => broker.status().backlog.tasks === 1);
  });

  it('abandons a task that does not end in time, and offers it again', async () => {
    let broker = await bench().open();
    const task = aTask();
    await publish(broker, [task]);
    const entered = gate();
    let late: (settlement: Settlement) => void = () => {};
    const consumer = await broker.tasks.live.consume(
      () => {
        entered.open();
        return new Promise<Settlement>((resolve) => {
          late = resolve;
        });
      },
      { inFlightMax: 1 },
    );
    await entered.opened;
    expect(await consumer.stop(50)).toBe('abandoned');
    late(DONE);
    broker = await bench().restart(broker);
    const again = gate();
    await broker.tasks.live.consume(
      (given) => {
        if (given.deliveryId === task.deliveryId) again.open();
        return DONE;
      },
      { inFlightMax: 1 },
    );
    await again.opened;
  });

  it('offers a task again whose handler threw, after a growing pause, while others continue', async () => {
    const { clock } = bench();
    const broker = await bench().open();
    const bad = aTask();
    const good = Array.from({ length: 50 }, () => aTask());
    await publish(broker, [bad, ...good]);
    const tries: number[] = [];
    let others = 0;
    let heal = false;
    await broker.tasks.live.consume(
      (task) => {
        if (task.deliveryId !== bad.deliveryId) {
          others += 1;
          return DONE;
        }
        tries.push(clock.now());
        if (heal) return DONE;
        if (tries.length % 2 === 0) return Promise.reject(new Error('bad input'));
        throw new Error('bad input');
      },
      { inFlightMax: 2 },
    );
    await bench().eventually('the others', () => others === good.length);
    await bench().eventually('three tries', () => tries.length >= 3);
    expect(broker.status().stuck.count).toBe(1);
    expect(broker.status().stuck.oldestMs).toBeGreaterThan(0);
    const [first = 0, second = 0, third = 0] = tries;
    expect(third - second).toBeGreaterThan(second - first);
    heal = true;
    await bench().eventually('nothing is stuck', () => broker.status().stuck.count === 0);
    expect(others).toBe(good.length);
  });

  it('publishes a task and its journal entry together', async () => {
    let broker = await bench().open();
    const tasks = Array.from({ length: 20 }, () => aTask({ trigger: 'test' }));
    await broker.publishTasks(tasks.map((task) => ({ task, journal: [requested(task)] })));
    broker = await bench().crash(broker);
    const delivered = new Set<string>();
    const recorded = new Set<string>();
    await broker.tasks.test.consume(
      (task) => {
        delivered.add(task.deliveryId);
        return DONE;
      },
      { inFlightMax: 5 },
    );
    await broker.journal.consume(
      async ({ entries }) => {
        for (const entry of entries) if (entry.kind === 'requested') recorded.add(entry.delivery.deliveryId);
      },
      async () => undefined,
      { batchMax: 7 },
    );
    await bench().eventually('all of both', () => delivered.size + recorded.size === 2 * tasks.length);
  });

  it('keeps dead letters, oldest first, page by page', async () => {
    let broker = await bench().open();
    const tasks = Array.from({ length: 5 }, () => aTask({ attempt: 7 }));
    await publish(broker, tasks);
    const consumer = await broker.tasks.live.consume(
      (task) => ({ kind: 'settled', journal: [], dead: deadLetter(task) }),
      { inFlightMax: 1 },
    );
    await bench().eventually('all settled', () => broker.status().backlog.tasks === 0);
    await stopped(consumer);
    broker = await bench().crash(broker);
    const page = await broker.deadLetters.list({ limit: 3 });
    const rest = await broker.deadLetters.list({ limit: 3, after: page.at(-1)?.position ?? '' });
    expect([...page, ...rest].map(({ record }) => record)).toEqual(tasks.map(deadLetter));
    await broker.deadLetters.forget(page.map(({ position }) => position));
    broker = await bench().crash(broker);
    const left = await broker.deadLetters.list({ limit: 9 });
    const kept = broker.capabilities.hasRetention ? tasks : tasks.slice(page.length);
    expect(left.map(({ record }) => record)).toEqual(kept.map(deadLetter));
  });
}
