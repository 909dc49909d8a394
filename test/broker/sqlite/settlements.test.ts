/**
 * Guarantee: a settlement waits for a publication to be committed with, but not for long, not with many others and not
 * when somebody waits for it. A crash repeats what waited, and nothing else.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RecentCommits } from '../../../services/broker/sqlite/file/recent-commits.ts';
import { JOURNAL } from '../../../services/broker/sqlite/file/wire.ts';
import {
  SETTLEMENTS_WAIT_MAX,
  SETTLEMENTS_WAIT_MS,
} from '../../../services/broker/sqlite/settlements-wait.ts';
import { openSqliteBroker, type SqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import type { JournalBatch } from '../../../services/domain/journal.ts';
import type { DeliveryTask, TaskClass } from '../../../services/domain/task.ts';
import { eventually } from '../../support/eventually.ts';
import { anEvent, routed, taskOf } from '../../support/records/broker-records.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

let folder: string;
let broker: SqliteBroker;
let clock: SimulatedClock;
let handled: string[];

const open = async () => {
  clock = new SimulatedClock();
  broker = await openSqliteBroker({ file: join(folder, 'broker.db'), clock, retryScale: 1 });
  handled = [];
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-broker-'));
  await open();
});

afterEach(async () => {
  await broker.close();
  rmSync(folder, { recursive: true, force: true });
});

const consume = (name: TaskClass, inFlightMax = 10_000) =>
  broker.tasks[name].consume(
    ({ deliveryId }) => {
      handled.push(deliveryId);
      return { kind: 'settled', journal: [] };
    },
    { inFlightMax },
  );

const tasks = (count: number): DeliveryTask[] =>
  Array.from({ length: count }, (_, n) => ({ ...taskOf(anEvent()), deliveryId: `${n}` }));

const publish = (...all: readonly DeliveryTask[]) =>
  broker.publishTasks(all.map((task) => ({ task, journal: [] })));

const left = () => broker.status().backlog.tasks;

/** Kills the broker as kill -9 does, and returns what is handed over again. */
async function repeatedAfterCrash(): Promise<readonly string[]> {
  await broker.abandon();
  await open();
  const count = left();
  await consume('live');
  await eventually('they are handed over', () => handled.length === count);
  return handled;
}

it('waits for the next publication, and a crash repeats what waited', async () => {
  await consume('live');
  const [first, second, third] = tasks(3);
  await publish(first as DeliveryTask);
  await eventually('it is settled', () => handled.length === 1);
  await publish(second as DeliveryTask);
  await eventually('it is settled', () => handled.length === 2);
  expect(left()).toBe(1);
  await publish(third as DeliveryTask);
  await eventually('it is settled', () => handled.length === 3);
  expect(await repeatedAfterCrash()).toEqual(['2']);
});

it('is committed alone when there is no publication', async () => {
  await consume('live');
  await publish(...tasks(20));
  await eventually('they are settled', () => handled.length === 20);
  clock.advance(SETTLEMENTS_WAIT_MS - 1);
  expect(left()).toBe(20);
  clock.advance(1);
  await eventually('they are durable', () => left() === 0);
  expect(await repeatedAfterCrash()).toEqual([]);
});

it('waits while fewer than the limit wait', async () => {
  await consume('live');
  await publish(...tasks(SETTLEMENTS_WAIT_MAX - 1));
  await eventually('they are settled', () => handled.length === SETTLEMENTS_WAIT_MAX - 1);
  expect(left()).toBe(SETTLEMENTS_WAIT_MAX - 1);
});

it('is committed at once when as many wait as may', async () => {
  await consume('live');
  await publish(...tasks(SETTLEMENTS_WAIT_MAX));
  await eventually('they are durable', () => left() === 0);
});

it('is committed at once when no more may be in flight', async () => {
  await consume('live', 3);
  await publish(...tasks(9));
  await eventually('they are durable', () => left() === 0);
  expect(handled).toHaveLength(9);
});

it.each([
  ['test', 1],
  ['replay', 0],
] as const)(
  'is committed at once after a %s; only the recorder of a test hears that somebody waits',
  async (trigger, calls) => {
    const heard = vi.fn();
    broker.journal.onAwaited = heard;
    await consume(trigger);
    await publish({ ...(tasks(1)[0] as DeliveryTask), trigger });
    await eventually('it is durable', () => left() === 0);
    expect(heard).toHaveBeenCalledTimes(calls);
  },
);

it('is committed at once when a retry is due soon', async () => {
  await broker.tasks.live.consume(
    (task) => {
      handled.push(task.deliveryId);
      const next =
        handled.length === 1 ? { next: { ...task, dueAt: clock.now() + SETTLEMENTS_WAIT_MS } } : {};
      return { kind: 'settled', journal: [], ...next };
    },
    { inFlightMax: 10 },
  );
  await publish(...tasks(1));
  await eventually('the retry is durable', () => broker.status().backlog.delayed === 1);
});

it('is committed at once when the consumer stops, or when somebody asks whether all is done', async () => {
  const consumer = await consume('live');
  await publish(...tasks(1));
  await eventually('it is settled', () => handled.length === 1);
  expect(await consumer.stop(5000)).toBe('drained');
  expect(left()).toBe(0);
  await consume('live');
  await publish(...tasks(1));
  await eventually('it is settled', () => handled.length === 2);
  await eventually('all is done', () => broker.delays?.isQuiet());
  expect(left()).toBe(0);
});

it('entries that the store has are deleted after a crash, too', async () => {
  const consumeJournal = async (position?: number) => {
    let last = position;
    const handler = async (batch: JournalBatch) => {
      last = batch.last;
    };
    await broker.journal.consume(handler, async () => position, { batchMax: 10 });
    await eventually('it is handed over', () => last !== undefined);
    return last;
  };
  const kept = () => {
    const db = new Database(join(folder, 'broker.db'), { readonly: true });
    const { length } = new RecentCommits(db).rows(JOURNAL);
    db.close();
    return length;
  };
  const entries = [routed(anEvent()), routed(anEvent())];
  await broker.publishTasks(tasks(1).map((task) => ({ task, journal: entries })));
  const last = await consumeJournal();
  await broker.abandon();
  expect(kept()).toBe(1);
  await open();
  await consumeJournal(last);
  await eventually('nothing is kept', () => {
    broker.delays?.isQuiet();
    return kept() === 0;
  });
});
