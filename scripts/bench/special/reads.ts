import { join } from 'node:path';
import { Pool } from 'undici';
import { KeyRing } from '../../../services/keys/keyring.ts';
import { arrived, type RunOptions, withService } from '../engine.ts';
import { makeEvents, type Post, type Producer, serialise, sleep } from '../load.ts';
import { type Latency, latencyOf, percentile, wallClock } from '../measure.ts';
import type { Service } from '../service.ts';
import { type FilledLog, fillLog, type LogSizes } from './fill-log.ts';
import { type ReadKind, readKinds } from './read-kinds.ts';

const READS_PER_SECOND = 50;
/** How often each read is made alone. */
const ALONE_TURNS = 30;
const SETTLE_MS = 3000;

interface LiveOptions extends RunOptions {
  readonly eventsPerSecond: number;
  readonly seconds: number;
}

interface LiveResult extends Latency {
  readonly phase: Phase;
}

interface Times {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface ReadResult {
  readonly read: string;
  /** With no other read, and no deliveries. */
  readonly alone: Times;
  /** At a steady rate beside live deliveries. */
  readonly beside: Times;
}

export interface ReadsResult {
  readonly endpoints: number;
  readonly attempts: number;
  readonly fillSeconds: number;
  readonly eventsPerSecond: number;
  readonly live: readonly LiveResult[];
  readonly reads: readonly ReadResult[];
  readonly plans: readonly string[];
}

/**
 * Fills a service's store with many endpoints and attempts. Measures each read of the API alone; then live deliveries at a
 * steady rate before, during and after repeated reads, and the duration of each.
 */
export async function measureReads(
  options: LiveOptions & { readonly sizes: LogSizes },
): Promise<ReadsResult> {
  const { sizes, eventsPerSecond } = options;
  let filled: (FilledLog & { readonly apiKey: string; readonly fillSeconds: number }) | undefined;
  const fill = async (
    dataDir: string,
    merchant: { readonly merchantId: string; readonly apiKey: string },
  ) => {
    const startedAt = wallClock();
    const keyRing = KeyRing.read(join(dataDir, 'keyring.json'));
    const log = await fillLog(join(dataDir, 'store.db'), merchant.merchantId, { ...sizes, keyRing });
    filled = { ...log, apiKey: merchant.apiKey, fillSeconds: (wallClock() - startedAt) / 1000 };
  };
  return withService(
    options,
    1,
    async (service, producer) => {
      if (!filled) throw new Error('the store was not filled');
      const posts = livePosts(service, options);
      const live: LiveResult[] = [];
      const measure = async (phase: Phase, reads?: Reads) => {
        const over = new AbortController();
        const reading = reads?.run(over.signal);
        const postedAt = await postAll(posts.get(phase) ?? [], options, service, producer);
        over.abort();
        await reading;
        live.push({ phase, ...latencyOf(postedAt, await options.receiver.recorded()) });
      };
      const reads = new Reads(service.apiUrl, filled);
      await reads.alone();
      await measure('before');
      await measure('while reading', reads);
      await measure('after');
      await reads.close();
      const { attempts, fillSeconds, plans } = filled;
      return {
        endpoints: sizes.endpoints,
        attempts,
        fillSeconds,
        eventsPerSecond,
        live,
        reads: reads.results(),
        plans,
      };
    },
    fill,
  );
}

const PHASES = ['before', 'while reading', 'after'] as const;
type Phase = (typeof PHASES)[number];

/** Creates all live events before the first phase, because creating them would slow down the concurrent reads. */
function livePosts(
  service: Service,
  { eventsPerSecond, seconds }: LiveOptions,
): ReadonlyMap<Phase, readonly Post[]> {
  const count = eventsPerSecond * seconds;
  return new Map(PHASES.map((phase) => [phase, serialise(makeEvents(service.merchantIds, count, phase), 1)]));
}

/** Publishes at a steady rate. Resolves when all have arrived, with the time at which each was posted. */
async function postAll(
  posts: readonly Post[],
  { receiver, eventsPerSecond }: LiveOptions,
  service: Service,
  producer: Producer,
): Promise<ReadonlyMap<string, number>> {
  await sleep(SETTLE_MS);
  await receiver.reset({ record: true });
  const [postedAt] = await Promise.all([
    producer.publishAt(eventsPerSecond, posts),
    arrived(service, receiver, posts.length),
  ]);
  return postedAt;
}

/** Makes every read of the API, in turn, at a steady rate. */
class Reads {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;
  readonly #kinds: readonly ReadKind[];
  readonly #alone = new Map<string, number[]>();
  readonly #beside = new Map<string, number[]>();

  constructor(apiUrl: string, filled: FilledLog & { readonly apiKey: string }) {
    this.#pool = new Pool(apiUrl, { connections: 8 });
    this.#headers = { authorization: `API-Key ${filled.apiKey}` };
    this.#kinds = readKinds(filled);
  }

  /** Makes every read some times, one after the other. */
  async alone(): Promise<void> {
    for (let turn = 0; turn < ALONE_TURNS; turn += 1)
      for (const kind of this.#kinds) await this.#read(kind, turn, this.#alone);
  }

  async run(over: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>();
    const startedAt = wallClock();
    for (let turn = 0; !over.aborted; turn += 1) {
      const wait = startedAt + (turn * 1000) / READS_PER_SECOND - wallClock();
      if (wait > 0) await sleep(wait);
      const kind = this.#kinds[turn % this.#kinds.length];
      if (!kind) throw new Error('there is nothing to read');
      const times = Math.floor(turn / this.#kinds.length);
      const one = this.#read(kind, times, this.#beside).finally(() => running.delete(one));
      running.add(one);
    }
    await Promise.all(running);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  results(): ReadResult[] {
    return [...this.#alone].map(([read, times]) => ({
      read,
      alone: timesOf(times),
      beside: timesOf(this.#beside.get(read) ?? []),
    }));
  }

  async #read(
    { name, path: pathOf, lastEventId, status = 200 }: ReadKind,
    turn: number,
    tookMs: Map<string, number[]>,
  ): Promise<void> {
    const path = pathOf(turn);
    const resumed = lastEventId === undefined ? {} : { 'last-event-id': lastEventId(turn) };
    const startedAt = wallClock();
    const headers = { ...this.#headers, ...resumed };
    const answer = await this.#pool.request({ path, method: 'GET', headers });
    const text = await answer.body.text();
    if (answer.statusCode !== status)
      throw new Error(`GET ${path} returned ${answer.statusCode}: ${text.slice(0, 500)}`);
    const times = tookMs.get(name) ?? [];
    times.push(wallClock() - startedAt);
    tookMs.set(name, times);
  }
}

function timesOf(times: readonly number[]): Times {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => percentile(sorted, share);
  return { count: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

export function readsText(result: ReadsResult): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const [before, during] = result.live;
  const ratio = before && during ? during.p99Ms / before.p99Ms : Number.NaN;
  return [
    ...result.plans,
    `${result.endpoints} endpoints of one merchant, ${result.attempts} attempts in the log (filled in ${result.fillSeconds.toFixed(0)} s)`,
    ...result.reads.map(
      ({ read, alone, beside }) =>
        `  ${read}: p50 ${ms(alone.p50Ms)}, p99 ${ms(alone.p99Ms)}; beside deliveries p50 ${ms(beside.p50Ms)}, p99 ${ms(beside.p99Ms)}`,
    ),
    `live deliveries at ${result.eventsPerSecond}/s, with ${READS_PER_SECOND} reads/s in the second phase:`,
    ...result.live.map(({ phase, p50Ms, p99Ms }) => `  ${phase}: p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`),
    `  p99 while reading ÷ p99 before: ${ratio.toFixed(2)}`,
  ].join('\n');
}
