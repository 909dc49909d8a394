import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from '../child.ts';
import { DATA_DIR } from '../engines.ts';
import { type BenchPostgres, withPostgres } from '../postgres/postgres-server.ts';
import type { JournalLoad } from './journal-load.ts';
import type { Recorded, RecorderPlace } from './recorder-process.ts';

/** Entries before the clock starts, so that code is compiled and connections are open. */
const WARM_UP = 0.2;

export interface RecorderRow {
  readonly store: 'sqlite' | 'postgres';
  readonly processes: number;
  readonly entries: number;
  readonly entriesPerSecond: number;
  readonly nodeCpuMicros: number;
  /** Null for SQLite, which works in the same process. */
  readonly serverCpuMicros: number | null;
  readonly walBytes: number | null;
}

export interface RecorderSizes extends JournalLoad {
  readonly turns: number;
}

/** Records the same journal with SQLite, and with one and two processes on PostgreSQL, in turns. */
export function measureRecorder({ turns, ...load }: RecorderSizes): Promise<readonly RecorderRow[]> {
  return withPostgres(async (postgres) => {
    const rows: RecorderRow[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      rows.push(await onSqlite(load));
      for (const processes of [1, 2]) rows.push(await onPostgres(postgres, load, processes));
    }
    return rows;
  });
}

async function onSqlite(load: JournalLoad): Promise<RecorderRow> {
  const folder = mkdtempSync(join(DATA_DIR, 'recorder-'));
  try {
    const place = { store: 'sqlite', at: join(folder, 'store.db') } as const;
    const measured = await withRecorders(place, load, 1, (run) => run());
    return { store: 'sqlite', processes: 1, ...measured, serverCpuMicros: null, walBytes: null };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(
  postgres: BenchPostgres,
  load: JournalLoad,
  processes: number,
): Promise<RecorderRow> {
  const name = 'recorder';
  const at = await postgres.createDatabase(name);
  let cpuMs = 0;
  let bytes = 0;
  try {
    const measured = await withRecorders({ store: 'postgres', at }, load, processes, async (run) => {
      const before = { cpuMs: postgres.cpuMs(), bytes: await postgres.walBytes() };
      const result = await run();
      cpuMs = postgres.cpuMs() - before.cpuMs;
      bytes = (await postgres.walBytes()) - before.bytes;
      return result;
    });
    const { entries } = measured;
    const serverCpuMicros = (cpuMs * 1000) / entries;
    return { store: 'postgres', processes, ...measured, serverCpuMicros, walBytes: bytes / entries };
  } finally {
    await postgres.dropDatabase(name);
  }
}

type Run = () => Promise<readonly Recorded[]>;

async function withRecorders(
  place: RecorderPlace,
  load: JournalLoad,
  count: number,
  measured: (run: Run) => Promise<readonly Recorded[]>,
): Promise<Pick<RecorderRow, 'entries' | 'entriesPerSecond' | 'nodeCpuMicros'>> {
  const children = Array.from({ length: count }, () => startChild('./recorder/recorder-process.ts'));
  try {
    for (const child of children) await child.ask('open', place);
    await children[0]?.ask('createEndpoints', load);
    await Promise.all(
      children.map((child, index) => child.ask('prepare', { load, ...shareOf(load, index, count) })),
    );
    await recordAll(children, { from: 0, to: WARM_UP });
    const results = await measured(() => recordAll(children, { from: WARM_UP, to: 1 }));
    for (const child of children) await child.ask('close');
    const sum = (of: (result: Recorded) => number) => results.reduce((total, each) => total + of(each), 0);
    const entries = sum((each) => each.entries);
    const from = Math.min(...results.map((each) => each.from));
    const to = Math.max(...results.map((each) => each.to));
    return {
      entries,
      entriesPerSecond: (entries * 1000) / (to - from),
      nodeCpuMicros: (sum(({ cpuMs }) => cpuMs) * 1000) / entries,
    };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

function recordAll(
  children: readonly Child[],
  part: { readonly from: number; readonly to: number },
): Promise<readonly Recorded[]> {
  return Promise.all(children.map((child) => child.ask<Recorded>('record', part)));
}

/** Returns the partitions of one of several recorders. */
function shareOf({ partitions }: JournalLoad, index: number, count: number) {
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  return { partitions: all.filter((partition) => partition % count === index) };
}

export function recorderText(rows: readonly RecorderRow[]): string {
  const lines = rows.map((row) => {
    const server = row.serverCpuMicros === null ? '' : `, PostgreSQL ${row.serverCpuMicros.toFixed(1)} µs`;
    const wal = row.walBytes === null ? '' : `, WAL ${Math.round(row.walBytes)} B`;
    const name = row.store === 'sqlite' ? 'SQLite' : `PostgreSQL, ${row.processes} recorder(s)`;
    const rate = Math.round(row.entriesPerSecond).toLocaleString('en-US');
    return `  ${name}: ${rate} records/s; CPU a record: node ${row.nodeCpuMicros.toFixed(1)} µs${server}${wal}`;
  });
  return [`the recorder alone, ${rows[0]?.entries ?? 0} journal records each:`, ...lines].join('\n');
}
