import { expect, it } from 'vitest';
import type { Broker, Settlement } from '../../services/broker/broker.ts';
import type { Tier } from '../../services/domain/retry.ts';
import type { DeliveryTask, ParkedReason } from '../../services/domain/task.ts';
import { aTask } from '../support/records/broker-records.ts';
import type { GiveBench } from './broker-bench.ts';

const DONE: Settlement = { kind: 'settled', journal: [] };
const HOUR_MS = 3_600_000;

function publish(broker: Broker, tasks: readonly DeliveryTask[]): Promise<void> {
  return broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));
}

export function parkingGuarantees(bench: GiveBench): void {
  it('brings a parked task back after its tier, one hop further, without counting the attempt', async () => {
    const { clock } = bench();
    const broker = await bench().open();
    const task = aTask({ attempt: 3, hop: 4 });
    await publish(broker, [task]);
    const seen: { readonly task: DeliveryTask; readonly at: number }[] = [];
    let parkedAt = 0;
    await broker.tasks.live.consume(
      (given) => {
        seen.push({ task: given, at: clock.now() });
        if (given.hop > task.hop) return DONE;
        parkedAt = clock.now();
        return { kind: 'parked', tier: 66, reason: 'endpoint_full' };
      },
      { inFlightMax: 1 },
    );
    await bench().eventually('the task comes back', () => seen.length === 2);
    expect(seen[1]?.task).toMatchObject({ deliveryId: task.deliveryId, attempt: 3, hop: 5 });
    expect(seen[1]?.at).toBeGreaterThanOrEqual(parkedAt + 66_000 / bench().installation.retryScale);
  });

  it('counts the parked tasks by reason, since each was first put back, after a restart too', async () => {
    const { clock, installation } = bench();
    let broker = await bench().open();
    const later = clock.now() + 60_000;
    const [twice, once, done] = [aTask(), aTask(), aTask()];
    await publish(broker, [twice, once, done, aTask({ attempt: 2, dueAt: later })]);
    expect(broker.status().parked).toEqual([]);
    const handed: DeliveryTask[] = [];
    const parked = (tier: Tier, reason: ParkedReason) => ({ kind: 'parked', tier, reason }) as const;
    const handler = (task: DeliveryTask): Settlement => {
      handed.push(task);
      if (task.deliveryId === once.deliveryId) return parked(46658, 'endpoint_full');
      if (task.hop === 0) return parked(731, 'machine_limit');
      return task.deliveryId === done.deliveryId ? DONE : parked(task.hop === 1 ? 66 : 46658, 'network_down');
    };
    await broker.tasks.live.consume(handler, { inFlightMax: 5 });
    await bench().eventually('all came as often as they should', () => handed.length === 6);
    const hops = handed.filter(({ deliveryId }) => deliveryId === twice.deliveryId);
    const since = hops[1]?.parked?.since ?? 0;
    expect(hops.map((task) => task.parked)).toEqual([
      undefined,
      { reason: 'machine_limit', since },
      { reason: 'network_down', since },
    ]);
    const waited = clock.now() - since;
    expect(waited).toBeGreaterThanOrEqual(731_000 / installation.retryScale);
    const status = () => [...broker.status().parked].sort((a, b) => (a.reason < b.reason ? -1 : 1));
    const checked = async () => {
      await bench().eventually('both are counted', () => status().length === 2);
      const [full, down] = status();
      expect([full?.reason, full?.count, down?.reason, down?.count]).toEqual([
        ...['endpoint_full', 1],
        ...['network_down', 1],
      ]);
      const age = clock.now() - since;
      // Ages are told to the second.
      expect(down?.oldestMs).toBeGreaterThanOrEqual(age - 1000);
      expect(down?.oldestMs).toBeLessThanOrEqual(age + 1000);
    };
    await checked();
    broker = await bench().restart(broker);
    await broker.tasks.live.consume(handler, { inFlightMax: 5 });
    await checked();
  });

  it('brings the parked tasks of an endpoint back when woken, and no task that waits for its time', async () => {
    const broker = await bench().open();
    const { live } = broker.tasks;
    if (!live.wake) return;
    const due = bench().clock.now() + 60_000;
    const [endpointId, other] = [aTask().endpointId, `${aTask().endpointId}-other`];
    // More tasks than an engine keeps in memory.
    const parked = Array.from({ length: 3000 }, () => aTask({ endpointId }));
    const elsewhere = aTask({ endpointId: other });
    const retry = aTask({ endpointId, attempt: 2, dueAt: due });
    await publish(broker, [...parked.slice(0, 500), elsewhere, retry]);
    for (let at = 500; at < parked.length; at += 500) await publish(broker, parked.slice(at, at + 500));
    const woken: DeliveryTask[] = [];
    let hops = 0;
    await live.consume(
      (task) => {
        hops += 1;
        if (task.hop === 0) return { kind: 'parked', tier: 46658, reason: 'endpoint_full' };
        woken.push(task);
        return DONE;
      },
      { inFlightMax: 500 },
    );
    await bench().eventually('all are parked', () => hops === parked.length + 1);
    const counted = () => broker.status().parked.reduce((sum, { count }) => sum + count, 0);
    await bench().eventually('all are counted', () => counted() === parked.length + 1);
    let found = 0;
    await bench().eventually('all are found', async () => {
      found += (await live.wake?.(endpointId, 700)) ?? 0;
      return found === parked.length;
    });
    await bench().eventually('all have come back', () => woken.length === parked.length);
    expect(woken.map(({ deliveryId }) => deliveryId)).toEqual(parked.map(({ deliveryId }) => deliveryId));
    expect(await live.wake(endpointId, 700)).toBe(0);
    await bench().turn(broker);
    expect(woken).toHaveLength(parked.length);
    await bench().eventually('they are done', () => broker.status().backlog.delayed === 2);
    expect(counted()).toBe(1);
  });
}

/** Delayed tasks of a sandbox whose clock is moved on; engines that cannot do it have no `delays`. */
export function delayGuarantees(bench: GiveBench): void {
  it('brings every delayed task forward, also those that are not in memory, and keeps their order', async () => {
    const broker = await bench().open();
    const { delays } = broker;
    if (!delays) return;
    const start = bench().clock.now();
    // More tasks than an engine keeps in memory.
    const tasks = Array.from({ length: 3000 }, (_, i) =>
      aTask({ attempt: 2, dueAt: start + HOUR_MS + i * HOUR_MS }),
    );
    for (let at = 0; at < tasks.length; at += 500) {
      await broker.publishTasks(tasks.slice(at, at + 500).map((task) => ({ task, journal: [] })));
    }
    const seen: string[] = [];
    await broker.tasks.live.consume(
      ({ deliveryId }) => {
        seen.push(deliveryId);
        return DONE;
      },
      { inFlightMax: 10 },
    );
    for (const [hours, expected] of [
      [700, 700],
      [1400, 2100],
    ] as const) {
      let moves = 0;
      await delays.bringForward(hours * HOUR_MS, () => {
        moves += 1;
      });
      expect(moves).toBe(1);
      await bench().eventually(`${expected} tasks are due`, () => seen.length >= expected);
      await bench().eventually('it is quiet', () => delays.isQuiet());
      expect(seen).toEqual(tasks.slice(0, expected).map(({ deliveryId }) => deliveryId));
    }
    expect(delays.nextDue()).toBe(start + HOUR_MS);
  });
}
