import { expect, it } from 'vitest';
import type { Settlement } from '../../services/broker/broker.ts';
import { aTask } from '../support/records/broker-records.ts';
import type { GiveBench } from './broker-bench.ts';

const DONE: Settlement = { kind: 'settled', journal: [] };
const HOUR_MS = 3_600_000;

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
