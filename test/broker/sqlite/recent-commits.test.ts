/**
 * Guarantee: the ring of recent commits loses no open record and brings no finished one back, whatever fits in its slots,
 * when slots are written again, after a commit that failed and after a crash.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CommitHalf, SpareBuffers } from '../../../services/broker/sqlite/commit-half.ts';
import { Committer } from '../../../services/broker/sqlite/file/commit.ts';
import { Reader } from '../../../services/broker/sqlite/file/reads.ts';
import { RecentCommits } from '../../../services/broker/sqlite/file/recent-commits.ts';
import { openBrokerFile } from '../../../services/broker/sqlite/file/schema.ts';
import { vacuumBrokerFile } from '../../../services/broker/sqlite/file/vacuum.ts';
import { JOURNAL, STREAMS } from '../../../services/broker/sqlite/file/wire.ts';
import { anEvent, routed } from '../../support/records/broker-records.ts';

const SLOTS = 128;
const NO_IDS = new Uint8Array();
const ID_BYTES = 24;

let folder: string;
let file: string;
let db: Database;
let recent: RecentCommits;
/** Where each stream goes on, and the delayed tasks. */
let positions: number[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-recent-'));
  file = join(folder, 'broker.db');
  positions = [...STREAMS.map(() => 0), 0, 0];
  open();
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(): void {
  db = openBrokerFile(file);
  // No power cut here, and thousands of commits.
  db.pragma('synchronous = OFF');
  recent = new RecentCommits(db);
}

function reopen(): void {
  db.close();
  open();
}

/** A row whose bytes can be told from those of every other. */
function addRow(stream: number, length = 300, count = 1): number {
  const first = positions[stream] ?? 0;
  const bytes = Buffer.alloc(length, `${stream}:${first}, `);
  recent.add({ stream, first, count, at: first, schema: 1, bytes, done: null });
  positions[stream] = first + count;
  return first;
}

function commit(fill: () => unknown = () => {}, seen: Uint8Array = NO_IDS): void {
  db.transaction(() => {
    fill();
    recent.write([...positions], seen);
  })();
}

function done(stream: number, first: number, bits: Uint8Array | null = null): void {
  if (!recent.done(stream, first, bits)) recent.tables.done(stream, first, bits);
}

function doneUpTo(stream: number, last: number): void {
  recent.doneUpTo(stream, last);
  recent.tables.doneUpTo(stream, last);
}

/** What a start would find of a stream, in order. */
function found(stream: number): { first: number; bytes: string; done: number[] }[] {
  const reply = new Reader(db, recent).rows({ kind: 'readRows', stream, from: 0, bytesMax: 1e9 });
  if (reply.kind !== 'rows') throw new Error(reply.kind);
  return reply.rows.map((row) => {
    const bytes = Buffer.from(row.blob).toString();
    expect(bytes).toBe(Buffer.alloc(bytes.length, `${stream}:${row.first}, `).toString());
    return { first: row.first, bytes: bytes.slice(0, 12), done: [...(row.done ?? [])] };
  });
}

const firstsOf = (stream: number) => found(stream).map(({ first }) => first);
const inTable = (stream: number) =>
  Number(db.prepare(`SELECT count(*) FROM log_${STREAMS[stream]}`).pluck().get());
const idsOf = (commitNumber: number) => new Uint8Array(ID_BYTES).fill(1 + (commitNumber % 250));
const idsInFile = () =>
  [
    ...db.prepare<[], Buffer>('SELECT ids FROM seen_recent').pluck().all(),
    ...new RecentCommits(db).seenIds(),
  ].reduce((sum, ids) => sum + ids.length, 0) / ID_BYTES;

it('rows that are done leave nothing in the tables, and a commit of few records writes one page', () => {
  const round = () => {
    for (let n = 0; n < SLOTS; n += 1) {
      commit(() => {
        const first = addRow(1);
        addRow(JOURNAL, 800);
        if (first > 0) done(1, first - 1);
        doneUpTo(JOURNAL, first - 30);
      });
    }
  };
  round();
  const before = statSync(`${file}-wal`).size;
  round();
  expect((statSync(`${file}-wal`).size - before) / SLOTS).toBeLessThan(1.2 * 4120);
  expect([inTable(1), inTable(JOURNAL)]).toEqual([0, 0]);
  reopen();
  expect(firstsOf(1)).toEqual([2 * SLOTS - 1]);
  expect(firstsOf(JOURNAL)).toEqual(Array.from({ length: 30 }, (_, n) => 2 * SLOTS - 30 + n));
});

it('a row that stays open moves to its table with its bits, and can be finished there', () => {
  commit(() => addRow(1, 300, 10));
  commit(() => done(1, 0, Uint8Array.of(5, 0)));
  for (let n = 0; n < SLOTS; n += 1) commit();
  expect(inTable(1)).toBe(1);
  reopen();
  expect(found(1)).toMatchObject([{ first: 0, done: [5, 0] }]);
  commit(() => done(1, 0, Uint8Array.of(7, 0)));
  reopen();
  expect(found(1)).toMatchObject([{ first: 0, done: [7, 0] }]);
  commit(() => done(1, 0));
  expect(found(1)).toEqual([]);
});

it.each([100, 3_000, 4_100, 7_900, 8_148, 20_000, 200_000])(
  'a row of %d bytes is read as written',
  (length) => {
    for (let n = 0; n < 3; n += 1) {
      commit(() => {
        addRow(1, length);
        addRow(2, 500);
      });
    }
    const was = [found(1), found(2)];
    expect(was.map((rows) => rows.length)).toEqual([3, 3]);
    reopen();
    expect([found(1), found(2)]).toEqual(was);
  },
);

it('more marks than a slot holds are kept', () => {
  for (let n = 0; n < SLOTS - 1; n += 1) {
    commit(() => {
      for (const stream of [0, 1, 2, 3]) addRow(stream, 10, 2_000);
    });
  }
  commit(() => {
    for (const stream of [0, 1, 2, 3])
      for (const first of firstsOf(stream)) done(stream, first, new Uint8Array(250).fill(stream + 1));
    addRow(1, 10);
  });
  reopen();
  for (const stream of [0, 1, 2, 3])
    expect(found(stream).filter((row) => row.done[0] === stream + 1)).toHaveLength(SLOTS - 1);
  expect(positions[1]).toBe(2_000 * (SLOTS - 1) + 1);
  expect(recent.positions).toEqual(positions);
});

it('ids of events are in the file until they are in the table, also more than a slot holds', () => {
  for (let n = 0; n < 3 * SLOTS; n += 1) {
    commit(() => {}, idsOf(n));
    if (n % 50 === 0) expect(idsInFile()).toBeGreaterThanOrEqual(n + 1);
  }
  expect(Number(db.prepare('SELECT count(*) FROM seen_recent').pluck().get())).toBeLessThan(8);
  commit(() => {}, new Uint8Array(1000 * ID_BYTES));
  expect(idsInFile()).toBeGreaterThanOrEqual(3 * SLOTS + 1000);
});

it('nothing is kept of a commit that failed', () => {
  const kept = addRow(1);
  commit();
  const failing = () =>
    commit(() => {
      done(1, kept);
      addRow(1);
      recent.write([...positions], idsOf(1));
      throw new Error('the disk is full');
    });
  expect(failing).toThrow('the disk is full');
  recent.load();
  positions = [...(recent.positions ?? [])];
  expect(firstsOf(1)).toEqual([kept]);
  expect([...recent.seenIds()]).toEqual([]);
  commit(() => addRow(1));
  reopen();
  expect(firstsOf(1)).toEqual([kept, kept + 1]);
});

it('ends whose commit failed are kept when it is tried again', () => {
  const committer = new Committer(db, [1, 1, 1, 1, 1, 1], recent);
  const write = (fill: (half: CommitHalf) => void) => {
    const half = new CommitHalf(new SpareBuffers());
    fill(half);
    const publications = new CommitHalf(new SpareBuffers()).seal();
    const request = { kind: 'commit', at: 0, setBy: 0, sequence: 0, publications } as const;
    const settlements = half.seal();
    return () => committer.commit({ ...request, settlements });
  };
  const openEntries = () => recent.rows(JOURNAL).map(({ first }) => first);
  write((half) => half.append(JOURNAL, routed(anEvent())))();
  expect(openEntries()).toEqual([0]);
  const ends = write((half) => half.rowsDoneUpTo(JOURNAL, 0));
  db.exec(
    `CREATE TEMP TRIGGER failing BEFORE INSERT ON recent_commit BEGIN SELECT RAISE(ABORT, 'full'); END`,
  );
  expect(ends).toThrow('full');
  expect(openEntries()).toEqual([0]);
  db.exec('DROP TRIGGER failing');
  ends();
  reopen();
  expect(openEntries()).toEqual([]);
});

it('cleared slots keep what is open, and where the streams go on', () => {
  for (let n = 0; n < 10; n += 1) commit(() => addRow(1), idsOf(n));
  commit(() => done(1, 3));
  const was = found(1);
  db.close();
  vacuumBrokerFile(file);
  open();
  expect(Number(db.prepare('SELECT count(*) FROM recent_commit').pluck().get())).toBe(0);
  expect(found(1)).toEqual(was);
  expect(idsInFile()).toBe(10);
  expect(db.prepare('SELECT next FROM position WHERE stream = 1').pluck().get()).toBe(10);
  commit(() => addRow(1));
  reopen();
  expect(firstsOf(1)).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9, 10]);
});

it('any order of rows, ends, crashes and failures leaves the rows that are open', {
  timeout: 120_000,
}, () => {
  const step = fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({ kind: fc.constant('add' as const), stream: fc.nat(4), size: fc.nat(9_000) }),
    },
    { weight: 12, arbitrary: fc.record({ kind: fc.constant('done' as const), pick: fc.nat() }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('upTo' as const), pick: fc.nat() }) },
    {
      weight: 20,
      arbitrary: fc.record({ kind: fc.constant('many' as const), commits: fc.integer({ min: 1, max: 60 }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail' as const) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
      db.exec('DELETE FROM recent_commit; DELETE FROM position; DELETE FROM log_done');
      for (const stream of STREAMS) db.exec(`DELETE FROM log_${stream}`);
      positions = [...STREAMS.map(() => 0), 0, 0];
      reopen();
      const open = new Set<string>();
      const pickOf = (pick: number) => [...open][pick % Math.max(1, open.size)]?.split(':').map(Number) ?? [];
      for (const one of steps) {
        if (one.kind === 'add') commit(() => open.add(`${one.stream}:${addRow(one.stream, one.size + 1)}`));
        else if (one.kind === 'many') for (let n = 0; n < one.commits; n += 1) commit();
        else if (one.kind === 'crash') reopen();
        else if (one.kind === 'clear') db.transaction(() => recent.clear())();
        else if (one.kind === 'fail') {
          const where = [...positions];
          const failing = () =>
            commit(() => {
              for (const at of open) done(Number(at.split(':')[0]), Number(at.split(':')[1]));
              addRow(1, 4_000);
              throw new Error('failed');
            });
          expect(failing).toThrow('failed');
          recent.load();
          positions = where;
        } else {
          const [stream, first] = pickOf(one.pick);
          if (stream === undefined || first === undefined) continue;
          if (one.kind === 'done') commit(() => done(stream, first));
          else commit(() => doneUpTo(stream, first));
          for (const at of [...open]) {
            const [ofStream, at1] = at.split(':').map(Number);
            if (ofStream === stream && (at1 === first || (one.kind === 'upTo' && Number(at1) < first)))
              open.delete(at);
          }
        }
        const all = STREAMS.flatMap((_, stream) => firstsOf(stream).map((first) => `${stream}:${first}`));
        expect(all.sort()).toEqual([...open].sort());
      }
    }),
    { numRuns: 40 },
  );
});
