/**
 * Where the latency of the embedded engine goes, hop by hop: from the event's request to the receiver's response, as the
 * service's own process sees it. Events come one by one, so each belongs to the commit and the webhook that follow it.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { arrived, type RunOptions, withService } from '../engine.ts';
import { DATA_DIR } from '../engines.ts';
import { makeEvents, serialise } from '../load.ts';
import { percentile } from '../measure.ts';

const PRELOADED = pathToFileURL(join(import.meta.dirname, '..', 'hops', 'mark-hops.mjs'));

/** What mark-hops.mjs writes; times in milliseconds since the epoch. */
interface Marks {
  readonly posts: readonly number[];
  readonly commits: readonly {
    readonly sent: number;
    readonly taken: number;
    readonly durable: number;
    readonly back: number;
  }[];
  readonly webhooks: readonly {
    readonly begun: number;
    readonly written?: number;
    readonly answered?: number;
  }[];
}

const HOPS = [
  'read, checked and routed',
  'taken by the file’s thread',
  'durable (one commit)',
  'back on the main thread',
  'the attempt begins',
  'written to the connection',
  'the receiver’s response is read',
] as const;

export interface HopsResult {
  readonly events: number;
  readonly hops: readonly {
    readonly hop: string;
    readonly p50Ms: number;
    readonly p99Ms: number;
    readonly slowestMs: number;
  }[];
  readonly total: { readonly p50Ms: number; readonly p99Ms: number };
}

interface HopsOptions extends RunOptions {
  readonly eventsPerSecond: number;
  readonly seconds: number;
}

export async function measureHops(options: HopsOptions): Promise<HopsResult> {
  const file = join(DATA_DIR, `hops-${process.pid}.json`);
  const { engine, eventsPerSecond, seconds } = options;
  const environment = async () => ({
    ...(await engine.environment()),
    NODE_OPTIONS: `--import=${PRELOADED.href}`,
    MARK_HOPS: file,
  });
  let since = 0;
  await withService({ ...options, engine: { ...engine, environment } }, 1, async (service, producer) => {
    const count = eventsPerSecond * seconds;
    const posts = serialise(makeEvents(service.merchantIds, count, 'hops'), 1);
    await options.receiver.reset({ record: false });
    since = performance.timeOrigin + performance.now();
    await Promise.all([
      producer.publishAt(eventsPerSecond, posts),
      arrived(service, options.receiver, count),
    ]);
  });
  const marks = JSON.parse(readFileSync(file, 'utf8')) as Marks;
  rmSync(file);
  return resultOf(tracesOf(marks, since));
}

/** Returns, for each webhook, the duration of each hop in milliseconds. */
function tracesOf({ posts, commits, webhooks }: Marks, since: number): number[][] {
  const traces: number[][] = [];
  let commit = 0;
  let post = 0;
  for (const { begun, written, answered } of webhooks) {
    if (begun < since || written === undefined || answered === undefined) continue;
    while ((commits[commit + 1]?.back ?? Number.POSITIVE_INFINITY) <= begun) commit += 1;
    const of = commits[commit];
    if (!of) continue;
    while ((posts[post + 1] ?? Number.POSITIVE_INFINITY) <= of.sent) post += 1;
    const times = [posts[post] ?? of.sent, of.sent, of.taken, of.durable, of.back, begun, written, answered];
    traces.push(times.slice(1).map((time, hop) => time - (times[hop] ?? time)));
  }
  return traces;
}

function resultOf(traces: readonly number[][]): HopsResult {
  const totalOf = (trace: readonly number[]) => trace.reduce((sum, ms) => sum + ms, 0);
  const at = (values: readonly number[], share: number) =>
    percentile(Float64Array.from(values).sort(), share);
  const slowest = traces
    .toSorted((one, other) => totalOf(other) - totalOf(one))
    .slice(0, Math.max(1, Math.ceil(traces.length / 100)));
  const totals = traces.map(totalOf);
  return {
    events: traces.length,
    hops: HOPS.map((hop, index) => {
      const times = traces.map((trace) => trace[index] ?? 0);
      const late = slowest.map((trace) => trace[index] ?? 0);
      return { hop, p50Ms: at(times, 0.5), p99Ms: at(times, 0.99), slowestMs: totalOf(late) / late.length };
    }),
    total: { p50Ms: at(totals, 0.5), p99Ms: at(totals, 0.99) },
  };
}

export function hopsText({ events, hops, total }: HopsResult): string {
  const ms = (value: number) => value.toFixed(3).padStart(8);
  const line = (name: string, ...figures: readonly number[]) =>
    `  ${name.padEnd(34)}${figures.map(ms).join('')}`;
  return [
    `the embedded engine, ${events} events: milliseconds of each hop: p50, p99, and the mean of the slowest hundredth`,
    ...hops.map(({ hop, p50Ms, p99Ms, slowestMs }) => line(hop, p50Ms, p99Ms, slowestMs)),
    line('from the request to the response', total.p50Ms, total.p99Ms),
  ].join('\n');
}
