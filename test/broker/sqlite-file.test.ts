/**
 * Guarantee: the embedded engine keeps what it acknowledged in its one file, whatever happens to the file or the disk,
 * and says in one line what is wrong with it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Broker } from '../../services/broker/broker.ts';
import { openDatabase } from '../../services/broker/sqlite/schema.ts';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { taskCodec } from '../../services/codec/records.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { systemClock } from '../../services/runtime/clock.ts';
import { anEvent, aTask, requested, routed } from '../support/broker-records.ts';
import { eventually } from '../support/eventually.ts';

const clock = systemClock();
let folder: string;
let file: string;
const opened: Broker[] = [];

async function open(over: { readonly recentEventsRetentionMs?: number; readonly file?: string } = {}) {
  const broker = await openSqliteBroker({ file, clock, retryScale: 1_000, ...over });
  opened.push(broker);
  return broker;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-broker-'));
  file = join(folder, 'broker.db');
});

afterEach(async () => {
  for (const broker of opened.splice(0)) await broker.close();
  rmSync(folder, { recursive: true, force: true });
});

async function tasksOf(broker: Broker, count: number): Promise<DeliveryTask[]> {
  const seen: DeliveryTask[] = [];
  const consumer = await broker.tasks.live.consume(
    (task) => {
      seen.push(task);
      return { kind: 'settled', journal: [] };
    },
    { inFlightMax: 10 },
  );
  await eventually('the tasks', () => seen.length >= count);
  await consumer.stop(10_000);
  return seen;
}

describe('opening', () => {
  it('refuses a file that is in use, naming it', async () => {
    await open();
    await expect(open()).rejects.toThrow(new RegExp(`${file}.*in use`));
  });

  it('says in one line that a file is damaged', async () => {
    writeFileSync(file, 'this is not a database, and long enough to be looked at as one'.repeat(100));
    const error = await open().catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(/broker\.db is damaged.*restore it from a backup/);
    expect((error as Error).message).not.toContain('\n');
  });

  it('refuses a file of a newer version', async () => {
    const db = new Database(file);
    db.pragma('user_version = 99');
    db.close();
    await expect(open()).rejects.toThrow(/broker\.db.*newer version.*99/);
  });

  it('runs with synchronous=FULL on a WAL, also when it opens a file again', () => {
    for (let times = 0; times < 2; times += 1) {
      const db = openDatabase(file);
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      db.close();
    }
  });

  it('names the journal after the file, for good', async () => {
    const partitionOf = async (broker: Broker) => {
      let partition = '';
      await broker.journal.consume(
        async () => {},
        async (name) => {
          partition = name;
          return undefined;
        },
        { batchMax: 1 },
      );
      await broker.close();
      return partition;
    };
    const first = await partitionOf(await open());
    expect(first).toMatch(/^sqlite:[0-9a-f-]{36}$/);
    expect(await partitionOf(await open())).toBe(first);
    file = join(folder, 'another.db');
    expect(await partitionOf(await open())).not.toBe(first);
  });
});

describe('records of an earlier version', () => {
  it('reads tasks that were written with an older schema', async () => {
    const tasks = [aTask(), aTask({ dueAt: clock.now() + 60_000 })];
    const broker = await open();
    await broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));
    await broker.close();
    // The same rows as a version before `traceparent` would have written them: without its last byte, the null.
    const older = JSON.parse(taskCodec.schema);
    older.fields = older.fields.filter((field: { name: string }) => field.name !== 'traceparent');
    const db = new Database(file);
    const add = db.prepare("INSERT INTO writer_schema(id, record, schema) VALUES (77, 'task', ?)");
    add.run(JSON.stringify(older));
    const cut = (table: string) =>
      db.exec(`UPDATE ${table} SET schema = 77, blob = substr(blob, 1, length(blob) - 1)`);
    cut('log_live');
    cut('delayed');
    db.exec('UPDATE delayed SET due = 1');
    db.close();
    const seen = await tasksOf(await open(), 2);
    expect(seen).toEqual(expect.arrayContaining(tasks));
  });
});

describe('a disk that takes no writes', () => {
  /** Another connection that holds the write lock makes every commit fail as a full disk would: nothing is written. */
  function blocked(): () => void {
    const db = new Database(file);
    db.exec('BEGIN IMMEDIATE');
    return () => db.close();
  }

  it('rejects publishers, keeps settlements until they are durable, and recovers by itself', async () => {
    const broker = await open();
    const [first, second] = [aTask(), aTask()];
    await broker.publishTasks([{ task: first, journal: [] }]);
    let release = () => {};
    const entered: string[] = [];
    const consumer = await broker.tasks.live.consume(
      async (task) => {
        entered.push(task.deliveryId);
        if (task.deliveryId === first.deliveryId) {
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        }
        return { kind: 'settled', journal: [requested(task)] };
      },
      { inFlightMax: 1 },
    );
    await eventually('the first task', () => entered.length === 1);
    const unblock = blocked();
    release();
    await eventually('it shows', () => !broker.status().reachable);
    await expect(broker.publishTasks([{ task: second, journal: [] }])).rejects.toThrow(/could not write/);
    // Not acknowledged before it is durable: it still counts.
    expect(broker.status().backlog.tasks).toBe(1);
    unblock();
    await eventually('it writes again', () => broker.status().reachable);
    expect(broker.status().backlog.tasks).toBe(0);
    await broker.publishTasks([{ task: second, journal: [] }]);
    await eventually('the second task', () => entered.length === 2);
    expect(await consumer.stop(10_000)).toBe('drained');
    const recorded: string[] = [];
    await broker.journal.consume(
      async ({ entries }) => {
        for (const entry of entries) if (entry.kind === 'requested') recorded.push(entry.delivery.deliveryId);
      },
      async () => undefined,
      { batchMax: 10 },
    );
    await eventually('both recorded', () => recorded.length === 2);
    expect(recorded).toEqual([first.deliveryId, second.deliveryId]);
  });

  it('comes out of a full disk with everything that was acknowledged', async (context) => {
    const mount = join(folder, 'small-disk');
    try {
      execFileSync('mkdir', [mount]);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', mount], { stdio: 'ignore' });
    } catch {
      // Only root may mount a disk of its own.
      return context.skip();
    }
    try {
      const broker = await open({ file: join(mount, 'broker.db') });
      const acknowledged: DomainEvent[] = [];
      let refused = 0;
      for (let batch = 0; batch < 60 && refused < 3; batch += 1) {
        const events = Array.from({ length: 50 }, () => anEvent({ data: { text: 'x'.repeat(4_000) } }));
        await broker.publishEvents(events).then(
          () => acknowledged.push(...events),
          (error: Error) => {
            expect(error.message).toMatch(/SQLITE_FULL|SQLITE_IOERR/);
            refused += 1;
          },
        );
      }
      expect(refused).toBeGreaterThan(0);
      expect(acknowledged.length).toBeGreaterThan(0);
      execFileSync('mount', ['-o', 'remount,size=60m', mount]);
      await eventually('it writes again', () => broker.status().reachable);
      const seen = new Set<string>();
      await broker.events.consume(
        ({ decoded }) => {
          const event = decoded.ok ? decoded.event : anEvent();
          seen.add(event.eventId);
          return { kind: 'routed', tasks: [], journal: routed(event) };
        },
        { inFlightMax: 20 },
      );
      await eventually('all that was acknowledged', () =>
        acknowledged.every((event) => seen.has(event.eventId)),
      );
      await broker.close();
    } finally {
      execFileSync('umount', ['-l', mount]);
    }
  });
});

describe('recent events', () => {
  it('are forgotten after their retention', async () => {
    const day = 24 * 60 * 60 * 1000;
    const broker = await open();
    const event = anEvent();
    await broker.publishEvents([event]);
    await broker.close();
    const db = new Database(file);
    db.prepare('UPDATE seen_event SET seen_at = seen_at - ?').run(2 * day);
    db.close();
    const { Reader } = await import('../../services/broker/sqlite/reads.ts');
    const again = openDatabase(file);
    const reader = new Reader(again);
    const left = () => again.prepare('SELECT count(*) FROM seen_event').pluck().get();
    reader.forgetEvents({ kind: 'forgetEvents', before: clock.now() - 3 * day, limit: 10 });
    reader.forgetEvents({ kind: 'forgetEvents', before: clock.now() - 3 * day, limit: 10 });
    expect(left()).toBe(1);
    reader.forgetEvents({ kind: 'forgetEvents', before: clock.now() - day, limit: 10 });
    expect(left()).toBe(0);
    again.close();
  });
});
