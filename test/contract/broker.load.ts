import { expect, it } from 'vitest';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { anEvent, aTask, attempted, routed, taskOf } from '../support/records/broker-records.ts';
import { type GiveBench, gate } from './broker-bench.ts';

const DONE = { kind: 'settled', journal: [] } as const;

export function loadGuarantees(bench: GiveBench): void {
  it('has no more tasks in flight than allowed, and starts none while paused', async () => {
    const broker = await bench().open();
    await broker.publishTasks(Array.from({ length: 200 }, () => ({ task: aTask(), journal: [] })));
    let running = 0;
    let most = 0;
    let calls = 0;
    const consumer = await broker.tasks.live.consume(
      async () => {
        calls += 1;
        running += 1;
        most = Math.max(most, running);
        await bench().clock.sleep(1);
        running -= 1;
        return DONE;
      },
      { inFlightMax: 7 },
    );
    await bench().eventually('50 tasks have started', () => calls >= 50);
    consumer.pause();
    const paused = calls;
    await bench().eventually('the running tasks have ended', () => running === 0);
    await bench().turn(broker);
    expect(calls).toBe(paused);
    consumer.resume();
    await bench().eventually('all', () => calls === 200);
    expect(most).toBe(7);
  });

  it('carries 20,000 events to their end through crashes, and loses none', async () => {
    const total = 20_000;
    let broker = await bench().open();
    const events = Array.from({ length: total }, () => anEvent());
    const publishing = Array.from({ length: total / 500 }, (_, index) =>
      broker.publishEvents(events.slice(index * 500, (index + 1) * 500)),
    );
    await Promise.all(publishing);
    const delivered = new Set<string>();
    const recorded = new Set<string>();
    let finalAttempts = 0;
    const crashAt = [3_000, 11_000];
    for (;;) {
      const crash = gate();
      const limit = crashAt.shift();
      await broker.events.consume(
        ({ decoded }) => {
          const event = decoded.ok ? decoded.event : anEvent();
          return { kind: 'routed', tasks: [taskOf(event)], journal: routed(event) };
        },
        { inFlightMax: 500 },
      );
      await broker.tasks.live.consume(
        async (task: DeliveryTask) => {
          const failed = task.attempt === 1 && task.deliveryId < '4';
          const dueAt = Math.ceil(bench().clock.now() + 5);
          if (failed) return { ...DONE, next: { ...task, attempt: 2, dueAt } };
          delivered.add(task.eventId);
          finalAttempts += 1;
          if (limit !== undefined && finalAttempts >= limit) crash.open();
          return { kind: 'settled', journal: [attempted(task)] };
        },
        { inFlightMax: 500 },
      );
      await broker.journal.consume(
        async ({ entries }) => {
          for (const entry of entries) {
            if (entry.kind === 'attempted') recorded.add(entry.delivery.eventId);
          }
        },
        async () => undefined,
        { batchMax: 500 },
      );
      if (limit === undefined) break;
      await crash.opened;
      broker = await bench().crash(broker);
    }
    await bench().eventually('all delivered', () => delivered.size === total);
    await bench().eventually('all recorded', () => recorded.size === total);
    await bench().eventually('nothing waits', () => {
      const { events: left, tasks, delayed } = broker.status().backlog;
      return left + tasks + delayed === 0;
    });
    for (const { eventId } of events) expect(recorded.has(eventId)).toBe(true);
  }, 120_000);

  it('keeps a backlog on disk and not in memory, and hands all of it over in order', async () => {
    const total = 40_000;
    const body = Buffer.alloc(4_000, 'x');
    let broker = await bench().open();
    const grown = async (work: () => Promise<void>) => {
      const before = process.memoryUsage();
      await work();
      const after = process.memoryUsage();
      return after.arrayBuffers + after.external - before.arrayBuffers - before.external;
    };
    // 160 MB of bodies.
    const inMemory = await grown(async () => {
      for (let at = 0; at < total; at += 500) {
        const tasks = Array.from({ length: 500 }, (_, index) =>
          aTask({ trigger: 'replay', attemptsMax: at + index, body: Buffer.from(body) }),
        );
        await broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));
      }
    });
    expect(inMemory).toBeLessThan(120 * 1024 * 1024);
    broker = await bench().crash(broker);
    let next = 0;
    let outOfOrder = 0;
    await broker.tasks.replay.consume(
      (task) => {
        if (task.attemptsMax !== next || task.body.length !== body.length) outOfOrder += 1;
        next += 1;
        return DONE;
      },
      { inFlightMax: 200 },
    );
    await bench().eventually('all', () => next >= total);
    expect(outOfOrder).toBe(0);
  }, 120_000);

  it('holds many delayed tasks, and hands each over once, when due, soonest first', async () => {
    const { clock } = bench();
    let broker = await bench().open();
    const total = 6_000;
    const base = clock.now() + 500;
    for (let at = 0; at < total; at += 500) {
      // Published in no order of their due times.
      const tasks = Array.from({ length: 500 }, (_, index) =>
        aTask({ dueAt: base + (((at + index) * 7919) % total) / 10 }),
      );
      await broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));
    }
    const seen = new Map<string, number>();
    const settledAt: number[] = [];
    let early = 0;
    const consume = () =>
      broker.tasks.live.consume(
        (task) => {
          if (clock.now() < task.dueAt) early += 1;
          seen.set(task.deliveryId, (seen.get(task.deliveryId) ?? 0) + 1);
          settledAt.push(clock.now());
          return DONE;
        },
        { inFlightMax: 100 },
      );
    await consume();
    await bench().eventually('half of them', () => seen.size > total / 2);
    const justBefore = clock.now() - broker.capabilities.repeatsMs;
    broker = await bench().crash(broker);
    const repeatable = settledAt.filter((at) => at >= justBefore).length;
    await consume();
    await bench().eventually('all of them', () => seen.size === total);
    await bench().eventually('nothing waits', () => broker.status().backlog.delayed === 0);
    expect(early).toBe(0);
    // Repeats are limited to tasks in flight at the crash, and to those that the engine says it may redeliver.
    const twice = [...seen.values()].filter((times) => times > 1).length;
    expect(twice).toBeLessThanOrEqual(200 + repeatable);
  }, 60_000);

  it('lets neither first attempts nor delayed tasks starve the other', async () => {
    const { clock } = bench();
    const broker = await bench().open();
    // Later than everything is published, also on a busy machine.
    const dueAt = clock.now() + 3_000;
    const backlog = Array.from({ length: 1_000 }, () => ({ task: aTask(), journal: [] }));
    const delayed = Array.from({ length: 1_000 }, () => ({
      task: aTask({ attempt: 2, dueAt }),
      journal: [],
    }));
    await broker.publishTasks([...backlog, ...delayed]);
    // The test only shows turns if both kinds are waiting.
    expect(broker.status().backlog).toMatchObject({ tasks: 1_000, delayed: 1_000 });
    await clock.sleep(dueAt - clock.now());
    const order: number[] = [];
    let bothFrom = -1;
    await broker.tasks.live.consume(
      async (task) => {
        order.push(task.attempt);
        if (bothFrom < 0 && order.some((attempt) => attempt !== task.attempt)) bothFrom = order.length;
        // An engine may read the two from different places, one of them later.
        if (bothFrom < 0) await clock.sleep(50);
        return DONE;
      },
      { inFlightMax: 4 },
    );
    await bench().eventually('all', () => order.length === 2_000);
    const next = order.slice(bothFrom, bothFrom + 400);
    expect(next.filter((attempt) => attempt === 1).length).toBeGreaterThan(40);
    expect(next.filter((attempt) => attempt === 2).length).toBeGreaterThan(40);
  });

  it('reports how long the oldest due task has been waiting, and how many wait', async () => {
    const broker = await bench().open();
    expect(broker.status()).toMatchObject({ reachable: true, joining: [], oldestOverdueMs: 0 });
    await broker.publishTasks([
      { task: aTask(), journal: [] },
      { task: aTask({ dueAt: bench().clock.now() + 60_000 }), journal: [] },
    ]);
    await bench().eventually('it is overdue', () => (broker.status().oldestOverdueMs ?? 0) > 20);
    expect(broker.status().backlog).toMatchObject({ tasks: 1, delayed: 1 });
    await broker.tasks.live.consume(() => DONE, { inFlightMax: 1 });
    await bench().eventually('it is no longer overdue', () => broker.status().oldestOverdueMs === 0);
    expect(broker.status().joining).toEqual([]);
  });
}
