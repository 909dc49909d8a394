import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/**
 * The resource use of a process and its children, read from /proc (Linux). CPU is user and system time of every thread;
 * memory is PSS, which counts a shared page once. Syncs are not counted: tracing each call would slow down the process, and
 * no file under /proc counts them for a process. Bytes sent to the disk are reported instead.
 */
export interface Usage {
  readonly cpuMs: number;
  readonly pssKib: number;
  readonly writtenBytes: number;
}

/** Returns milliseconds since the epoch with fractions, the same for all processes of one machine. */
export function wallClock(): number {
  return performance.timeOrigin + performance.now();
}

export function usageOf(...rootPids: number[]): Usage {
  const processes = rootPids.flatMap(treeOf);
  const sum = (read: (pid: number) => number) => processes.reduce((total, pid) => total + read(pid), 0);
  return { cpuMs: sum(cpuMsOf), pssKib: sum(pssKibOf), writtenBytes: sum(writtenBytesOf) };
}

/** Returns the CPU time alone: cheap enough for the start and end of a measurement. */
export function cpuMsOfTree(...rootPids: number[]): number {
  return rootPids.flatMap(treeOf).reduce((total, pid) => total + cpuMsOf(pid), 0);
}

/** Returns the process and all its descendants. */
function treeOf(rootPid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = Number(statOf(Number(entry))?.[1]);
    if (parent) children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found = [rootPid];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** Returns the fields of /proc/<pid>/stat after the command's name, which may contain spaces; [0] is the state. */
function statOf(pid: number): string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

const TICK_MS = process.platform === 'linux' ? 1000 / Number(execFileSync('getconf', ['CLK_TCK'])) : 10;

/** Returns user and system time, with those of exited children that were waited for. */
function cpuMsOf(pid: number): number {
  const fields = statOf(pid) ?? [];
  return [11, 12, 13, 14].reduce((ticks, index) => ticks + Number(fields[index] ?? 0), 0) * TICK_MS;
}

function pssKibOf(pid: number): number {
  return numberIn(read(`/proc/${pid}/smaps_rollup`), /^Pss:\s+(\d+) kB$/m);
}

function writtenBytesOf(pid: number): number {
  return numberIn(read(`/proc/${pid}/io`), /^write_bytes: (\d+)$/m);
}

function numberIn(text: string | undefined, pattern: RegExp): number {
  return Number(pattern.exec(text ?? '')?.[1] ?? 0);
}

/** Returns undefined if the process exited between listing and reading. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the smallest value that at least the share `p` (0 … 1) of the values does not exceed; `sorted` is ascending. */
export function percentile(sorted: ArrayLike<number>, p: number): number {
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(p * sorted.length) - 1));
  return sorted[index] ?? Number.NaN;
}

/** Returns the percentile of values in any order. */
export function percentileOf(values: readonly number[], p: number): number {
  return percentile(Float64Array.from(values).sort(), p);
}

export const median = (values: readonly number[]): number => percentileOf(values, 0.5);

/** Latency of deliveries: from just before the event is posted until the last byte of the webhook is read. */
export interface Latency {
  readonly deliveries: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** Returns the latency of the posted events; ignores other arrivals. Throws if an event has not arrived. */
export function latencyOf(
  posted: ReadonlyMap<string, number>,
  arrivals: readonly { readonly eventId: string; readonly at: number }[],
): Latency {
  const latencies: number[] = [];
  for (const { eventId, at } of arrivals) {
    const postedAt = posted.get(eventId);
    if (postedAt !== undefined) latencies.push(at - postedAt);
  }
  if (latencies.length < posted.size) {
    throw new Error(`only ${latencies.length} of ${posted.size} live deliveries arrived`);
  }
  const sorted = Float64Array.from(latencies).sort();
  return {
    deliveries: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    p999Ms: percentile(sorted, 0.999),
    maxMs: percentile(sorted, 1),
  };
}

export function latencyText({ p50Ms, p99Ms, p999Ms, maxMs }: Omit<Latency, 'deliveries'>): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, p99.9 ${p999Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms`;
}
