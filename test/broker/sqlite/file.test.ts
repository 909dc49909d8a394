/**
 * Guarantee: the embedded engine keeps what it acknowledged in its one file, whatever happens to the file or the disk,
 * and says in one line what is wrong with it.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Broker } from '../../../services/broker/broker.ts';
import { openBrokerFile } from '../../../services/broker/sqlite/file/schema.ts';
import { openSqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import { taskCodec } from '../../../services/codec/records.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import type { DeliveryTask } from '../../../services/domain/task.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { NO_SMALL_DISK, SmallDisk } from '../../support/faults/small-disk.ts';
import { anEvent, aTask, requested, routed } from '../../support/records/broker-records.ts';

const clock = systemClock();
let folder: string;
let file: string;
const opened: Broker[] = [];

async function open(over: { readonly file?: string } = {}) {
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
  await eventually('the tasks have arrived', () => seen.length >= count);
  await consumer.stop(10_000);
  return seen;
}

describe('opening the broker file', () => {
  it('fails when the file is in use, and names it', async () => {
    await open();
    await expect(open()).rejects.toThrow(new RegExp(`${file}.*in use`));
  });

  it('fails in one line when the file is damaged', async () => {
    writeFileSync(file, 'this is not a database, and long enough to be looked at as one'.repeat(100));
    const error = await open().catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(/broker\.db is damaged.*restore it from a backup/);
    expect((error as Error).message).not.toContain('\n');
  });

  it.each([
    ['a newer version', 'PRAGMA user_version = 99', /broker\.db has layout 99, this build knows up to 1/],
    [
      'another build',
      'PRAGMA application_id = 7',
      /broker\.db was written by another build \(layout 7, .*mv /,
    ],
    [
      'a build without a layout',
      'PRAGMA application_id = 0',
      /broker\.db was written by another build \(layout 0,/,
    ],
  ])('fails when the file is of %s', async (_what, change, said) => {
    await (await open()).close();
    const db = new Database(file);
    db.exec(change);
    db.close();
    await expect(open()).rejects.toThrow(said);
  });

  it('sets synchronous=FULL on a WAL, also when the file exists', () => {
    for (let times = 0; times < 2; times += 1) {
      const db = openBrokerFile(file);
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

describe('a broker file of an earlier version', () => {
  it('is read, with tasks of an older schema', async () => {
    const [first, second] = [aTask(), aTask({ dueAt: clock.now() + 60_000 })];
    const tasks = [first, second];
    const broker = await open();
    await broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));
    await broker.close();
    // The same rows as a version before these would have written them: without a null, a text and a double.
    const older = JSON.parse(taskCodec.schema);
    const later = ['parked', 'subjectId', 'sequence'];
    older.fields = older.fields.filter(({ name }: { name: string }) => !later.includes(name));
    const bytes = 1 + 2 + (first.subjectId?.length ?? 0) + 8;
    const db = new Database(file);
    const add = db.prepare("INSERT INTO writer_schema(id, record, schema) VALUES (77, 'task', ?)");
    add.run(JSON.stringify(older));
    const cut = (table: string) =>
      db.exec(`UPDATE ${table} SET schema = 77, blob = substr(blob, 1, length(blob) - ${bytes})`);
    cut('log_live');
    cut('delayed');
    db.exec('UPDATE delayed SET due = 1');
    db.close();
    const seen = await tasksOf(await open(), 2);
    // The row's due time is the one that counts: it is moved when the system's time was set.
    expect(seen).toEqual(
      expect.arrayContaining([
        { ...first, subjectId: null, sequence: 0 },
        { ...second, subjectId: null, sequence: 0, dueAt: 1 },
      ]),
    );
  });

  it('is refused in one line when its records cannot be read', async () => {
    await (await open()).close();
    const other = { ...JSON.parse(taskCodec.schema), fields: [{ name: 'deliveryId', type: 'int' }] };
    const db = new Database(file);
    const add = db.prepare("INSERT INTO writer_schema(id, record, schema) VALUES (78, 'task', ?)");
    add.run(JSON.stringify(other));
    db.close();
    const refused = await open().catch((error: Error) => error.message);
    expect(refused).toMatch(
      /^the task records in .*broker\.db are of another build, and this one cannot read them \(.*begin anew$/,
    );
    // The file was let go.
    await expect(open()).rejects.toThrow('the task records');
  });
});

describe('rows that are packed', () => {
  it('are read again as they were written', async () => {
    const tasks = Array.from({ length: 200 }, () => aTask());
    const broker = await open();
    await broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));
    await broker.close();
    const db = new Database(file);
    expect(db.prepare('SELECT count(*) FROM log_live WHERE packed = 1').pluck().get()).toBeGreaterThan(0);
    db.close();
    expect(await tasksOf(await open(), tasks.length)).toEqual(tasks);
  });
});

describe('a broker on a disk that takes no writes', () => {
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
    await eventually('the first task has arrived', () => entered.length === 1);
    const unblock = blocked();
    release();
    await eventually('the failure shows in the status', () => !broker.status().reachable);
    await expect(broker.publishTasks([{ task: second, journal: [] }])).rejects.toThrow(/could not write/);
    // Not acknowledged before it is durable: it still counts.
    expect(broker.status().backlog.tasks).toBe(1);
    unblock();
    await eventually('the disk is written again', () => broker.status().reachable);
    expect(broker.status().backlog.tasks).toBe(0);
    await broker.publishTasks([{ task: second, journal: [] }]);
    await eventually('the second task has arrived', () => entered.length === 2);
    expect(await consumer.stop(10_000)).toBe('drained');
    const recorded: string[] = [];
    await broker.journal.consume(
      async ({ entries }) => {
        for (const entry of entries) if (entry.kind === 'requested') recorded.push(entry.delivery.deliveryId);
      },
      async () => undefined,
      { batchMax: 10 },
    );
    await eventually('both attempts are recorded', () => recorded.length === 2);
    expect(recorded).toEqual([first.deliveryId, second.deliveryId]);
  });

  it('comes out of a full disk with everything that was acknowledged', async (context) => {
    const disk = new SmallDisk(6);
    if (!disk.isMounted) return context.skip(NO_SMALL_DISK);
    try {
      const broker = await open({ file: join(disk.folder, 'broker.db') });
      const acknowledged: DomainEvent[] = [];
      let refused = 0;
      for (let batch = 0; batch < 60 && refused < 3; batch += 1) {
        const events = Array.from({ length: 50 }, () =>
          anEvent({ data: { text: randomBytes(2_000).toString('hex') } }),
        );
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
      disk.growTo(60);
      await eventually('the disk is written again', () => broker.status().reachable);
      const seen = new Set<string>();
      await broker.events.consume(
        ({ decoded }) => {
          const event = decoded.ok ? decoded.event : anEvent();
          seen.add(event.eventId);
          return { kind: 'routed', tasks: [], journal: routed(event) };
        },
        { inFlightMax: 20 },
      );
      await eventually('every acknowledged task has arrived', () =>
        acknowledged.every((event) => seen.has(event.eventId)),
      );
      await broker.close();
    } finally {
      disk.dispose();
    }
  });
});
