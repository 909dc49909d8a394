import { expect, it } from 'vitest';
import type { Broker, Settlement } from '../../services/broker/broker.ts';
import type { Stall, StallEntry } from '../../services/domain/stalls/stall.ts';
import { type DeliveryTask, TASK_CLASSES, type Trigger, taskClass } from '../../services/domain/task.ts';
import { aTask } from '../support/records/broker-records.ts';
import type { Bench, GiveBench } from './broker-bench.ts';

const DETAIL = 'a process stood still';
const TRIGGERS: Readonly<Record<string, Trigger>> = { live: 'live', test: 'manual', replay: 'replay' };

function aside(bench: Bench): Settlement {
  const at = bench.clock.wall();
  return { kind: 'settled', journal: [], aside: { reason: 'attempt_stalled', detail: DETAIL, at } };
}

async function follow(broker: Broker): Promise<{ entries: StallEntry[]; close(): Promise<void> }> {
  const entries: StallEntry[] = [];
  const follower = await broker.stalls.follow((entry) => void entries.push(entry));
  return { entries, close: () => follower.close() };
}

/** Writes as the thread of a watchdog does. */
async function writeAsThread(broker: Broker, stall: Stall): Promise<void> {
  const { module, data } = broker.stalls.writer;
  const { writeStall } = await import(module);
  // What it needs is copied to the thread.
  await writeStall(structuredClone(data), stall);
}

export function stallGuarantees(bench: GiveBench): void {
  it.each(TASK_CLASSES)(
    'puts a task of the class %s aside with its ids, and back as it was, one hop further',
    async (name) => {
      const broker = await bench().open();
      const trigger = TRIGGERS[name] ?? 'live';
      const task = aTask({ trigger, attempt: 2, hop: 3, body: Buffer.from([0, 255, 1, 128]) });
      await broker.publishTasks([{ task, journal: [] }]);
      const seen: DeliveryTask[] = [];
      let settlement: Settlement = aside(bench());
      await broker.tasks[taskClass(task)].consume(
        (given) => {
          seen.push(given);
          return settlement;
        },
        { inFlightMax: 1 },
      );
      const [stored] = await bench().eventually('it is in quarantine', async () => {
        const list = await broker.quarantine.list({ limit: 10 });
        return list.length > 0 ? list : null;
      });
      const { eventId, merchantId, endpointId, deliveryId } = task;
      expect(stored?.record).toMatchObject({
        ...{ reason: 'attempt_stalled', detail: DETAIL },
        ...{ eventId, merchantId, endpointId, deliveryId },
      });
      expect(broker.status().quarantined.get('attempt_stalled')).toBe(1);

      settlement = { kind: 'settled', journal: [] };
      const { position = '' } = stored ?? {};
      expect(await broker.quarantine.requeue([position])).toEqual({ requeued: 1, refused: [] });
      await bench().eventually('it comes again', () => seen.length === 2);
      const { dueAt: _before, ...first } = seen[0] ?? task;
      const { dueAt: _after, ...again } = seen[1] ?? task;
      expect({ ...again, body: Buffer.from(again.body) }).toEqual({
        ...first,
        hop: first.hop + 1,
        body: Buffer.from(task.body),
      });
      expect(await broker.quarantine.list({ limit: 10 })).toEqual([]);
    },
  );

  it('does not hand a task that was put aside over again after a restart', async () => {
    const first = await bench().open();
    await first.publishTasks([{ task: aTask(), journal: [] }]);
    await first.tasks.live.consume(() => aside(bench()), { inFlightMax: 1 });
    await bench().eventually(
      'it is in quarantine',
      async () => (await first.quarantine.list({ limit: 1 })).length === 1,
    );
    await first.close();
    const second = await bench().open();
    const seen: string[] = [];
    const later = aTask();
    await second.publishTasks([{ task: later, journal: [] }]);
    await second.tasks.live.consume(
      ({ deliveryId }) => {
        seen.push(deliveryId);
        return { kind: 'settled', journal: [] };
      },
      { inFlightMax: 1 },
    );
    await bench().eventually('a later task is handed over', () => seen.includes(later.deliveryId));
    expect(seen).toEqual([later.deliveryId]);
  });

  it('keeps what the thread of a watchdog writes, in order, for a later process', async () => {
    const broker = await bench().open();
    const at = bench().clock.wall();
    const fields = { delivery: 'd', endpoint: 'e' };
    const stall = { id: 'first', at, stalledMs: 20_000, busyWith: 'attempt', fields };
    await writeAsThread(broker, stall);
    const second = { ...stall, id: 'second', busyWith: null, fields: {} };
    await writeAsThread(broker, second);
    const pardon = { at: at + 1, pardoned: ['delivery:d'] };
    await broker.stalls.append(pardon);
    const next = await bench().crash(broker);
    const written = [stall, second, pardon];
    const { entries, close } = await follow(next);
    expect(entries).toEqual(written);
    await next.stalls.append({ at: at + 2, pardoned: [] });
    await bench().eventually('a follower gets later ones', () => entries.length === 4);
    await close();
  });

  it('gives a new process no stalls', async () => {
    const { entries, close } = await follow(await bench().open());
    expect(entries).toEqual([]);
    await close();
  });
}
