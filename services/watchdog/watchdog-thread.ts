import { randomUUID } from 'node:crypto';
import { readFileSync, write } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../messages/error-message.ts';
import { systemClock } from '../process/clock.ts';
import { glanceAt, partsOf } from './activity.ts';
import { type StallBounds, StallWatch } from './stall-watch.ts';

/**
 * The watchdog's thread. It uses nothing of the main thread: not its log, its connections or its standard output, which
 * all wait for it.
 */

/** How the thread writes down why it ended the process. */
export interface StallWriter {
  /** The address of a module that exports `writeStall`. */
  readonly module: string;
  /** The data of the module, copied to the thread. */
  readonly data: unknown;
  /** A stall of this length is written down early, milliseconds; absent: none is. */
  readonly earlyMs?: number;
}

/** Why a process was ended. */
export interface WrittenStall {
  /** A later one with it replaces this one. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly stalledMs: number;
  /** The label's kind and fields; null and empty when the work had none. */
  readonly busyWith: string | null;
  readonly fields: Readonly<Record<string, string>>;
}

/** Takes a stall back that was written down early. */
interface TakenBack {
  readonly at: number;
  readonly resumed: string;
}

/** Resolves when the entry is durable. */
export type WriteStall = (data: unknown, entry: WrittenStall | TakenBack) => Promise<void>;

export interface WatchdogData {
  readonly shared: SharedArrayBuffer;
  readonly bounds: StallBounds;
  readonly everyMs: number;
  readonly writer: StallWriter;
  /** Lines below this level of pino are not written. */
  readonly levelMin: number;
}

const LEVELS = { warn: 40, error: 50, fatal: 60 } as const;
/** Storage that does not answer must not keep the process alive. */
const WRITTEN_MS_MAX = 10_000;
/** Nor must a pipe that nobody reads. */
const TOLD_MS_MAX = 1000;
const AGAIN_MS = 10;

const { shared, bounds, everyMs, writer, levelMin } = workerData as WatchdogData;
const clock = systemClock();
const watch = new StallWatch(bounds, everyMs);
/** Of the stall that was reported last. */
let reported: string | null = null;
/** The stall that is under way and was written down early; null = none is. */
let early: { readonly id: string; readonly written: Promise<unknown> } | null = null;
// Loaded before it is needed.
const writing = import(writer.module) as Promise<{ readonly writeStall: WriteStall }>;
writing.catch(() => {});

look();

function look(): void {
  clock.at(clock.now() + everyMs, look);
  const glance = glanceAt(shared);
  const verdict = watch.look(clock.now(), glance, waitedMs());
  switch (verdict?.kind) {
    case 'stalled':
      reported = glance.label;
      void tell('warn', 'main_thread_stalled', verdict.stalledMs, glance.label, {
        ...(glance.label === null && glance.lastLabel !== null ? { after: glance.lastLabel } : {}),
        msg: `the main thread has stood still for ${seconds(verdict.stalledMs)}; it is busy with ${glance.label ?? 'work that has no label'}`,
      });
      break;
    case 'early':
      early = writeEarly(verdict.stalledMs, verdict.label);
      break;
    case 'resumed':
      void takeBack();
      parentPort?.postMessage(verdict.stalledMs);
      void tell('warn', 'main_thread_resumed', verdict.stalledMs, reported, {
        msg: `the main thread goes on; it stood still for ${seconds(verdict.stalledMs)}`,
      });
      break;
    case 'over':
      void end(verdict.stalledMs, verdict.label);
      break;
  }
}

/** Returns how long the main thread was ready to run and waited for a CPU, milliseconds; 0 where Linux does not say. */
function waitedMs(): number {
  try {
    return Number(readFileSync(`/proc/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6 || 0;
  } catch {
    return 0;
  }
}

async function end(stalledMs: number, label: string | null): Promise<void> {
  await early?.written;
  const failure = await writeDown(stallOf(early?.id ?? randomUUID(), stalledMs, label));
  if (failure !== null) {
    await tell('error', 'stall_not_written', stalledMs, label, {
      reason: failure,
      msg: 'the stall cannot be written down: it will not count against what the main thread is busy with',
    });
  }
  await tell('fatal', 'main_thread_ended', stalledMs, label, {
    msg: `the main thread has stood still for ${seconds(stalledMs)}: the process is ended; it was busy with ${label ?? 'work that has no label'}`,
  });
  endProcess();
}

/** Writes a stall down although the main thread may go on. */
function writeEarly(stalledMs: number, label: string | null): NonNullable<typeof early> {
  const id = randomUUID();
  return { id, written: writeDown(stallOf(id, stalledMs, label)) };
}

async function takeBack(): Promise<void> {
  const before = early;
  early = null;
  if (before === null) return;
  await before.written;
  await writeDown({ at: clock.wall(), resumed: before.id });
}

function stallOf(id: string, stalledMs: number, label: string | null): WrittenStall {
  return { id, at: clock.wall(), stalledMs, ...describedBy(label) };
}

/** Returns why it is not durable, or null. */
async function writeDown(entry: WrittenStall | TakenBack): Promise<string | null> {
  try {
    const { writeStall } = await writing;
    const late = clock.sleep(WRITTEN_MS_MAX).then(() => {
      throw new Error(`the storage has not answered within ${WRITTEN_MS_MAX / 1000} s`);
    });
    await Promise.race([writeStall(writer.data, entry), late]);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Ends the process as a supervisor sees a failure. `process.exit` would end this thread only. */
function endProcess(): void {
  process.kill(process.pid, 'SIGKILL');
  // Still here: process 1 of a container is immune to signals from within, but not to a fault of its own.
  setFlagsFromString('--allow-natives-syntax');
  runInThisContext('%SystemBreak()');
}

function describedBy(label: string | null): Pick<WrittenStall, 'busyWith' | 'fields'> {
  if (label === null) return { busyWith: null, fields: {} };
  const { kind, fields } = partsOf(label);
  return { busyWith: kind, fields };
}

/** Writes a line in the form of the service's log. Resolves when it is written, or cannot be in time. */
async function tell(
  level: keyof typeof LEVELS,
  event: string,
  stalledMs: number,
  label: string | null,
  rest: Readonly<Record<string, string>>,
): Promise<void> {
  if (LEVELS[level] < levelMin) return;
  const { busyWith, fields } = describedBy(label);
  const line = {
    level: LEVELS[level],
    time: new Date(clock.wall()).toISOString(),
    event,
    stalled_ms: Math.round(stalledMs),
    busy_with: busyWith,
    ...(busyWith === null ? {} : { work: fields }),
    ...rest,
  };
  await Promise.race([writeOut(Buffer.from(`${JSON.stringify(line)}\n`)), clock.sleep(TOLD_MS_MAX)]);
}

async function writeOut(bytes: Buffer): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    const written = await new Promise<number | null>((resolve) =>
      write(1, rest, (error, count) => {
        if (error === null) resolve(count);
        else resolve((error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : null);
      }),
    );
    if (written === null) return;
    rest = rest.subarray(written);
    if (written === 0) await clock.sleep(AGAIN_MS);
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
