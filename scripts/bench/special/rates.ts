/**
 * What an event costs on an ordinary day: at a few rates far below the limit, posted one by one over REST, with one
 * endpoint. Two services run after the other: one alone, for CPU, bytes and latency, and one whose calls of fsync and
 * fdatasync strace counts.
 */

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bareTarget } from '../bare-loop.ts';
import { arrived, type RunOptions, recorded, withService } from '../engine.ts';
import { DATA_DIR } from '../engines.ts';
import { type Floor, type FloorMeter, floorOf, ratiosOf, startFloorMeter } from '../floor/floor.ts';
import { makeEvents, type Producer, serialise } from '../load.ts';
import { type Latency, latencyOf, latencyText, usageOf } from '../measure.ts';
import { nameOf } from '../report/names.ts';
import { ratiosText } from '../report/report.ts';
import type { Service } from '../service.ts';
import { countsOf, hasStrace, type Syncs } from './syncs.ts';

export interface RatesResult {
  readonly engine: string;
  readonly brokers: number;
  readonly rows: readonly RatesRow[];
}

/** Per event, of the service's own processes. */
export interface RatesRow extends Latency {
  readonly eventsPerSecond: number;
  readonly cpuMicros: number;
  readonly writtenBytes: number;
  /** Of the service, at the end. */
  readonly pssMib: number;
  readonly floor: Floor;
  readonly ratios: ReturnType<typeof ratiosOf>;
  /** Null where strace is not installed. */
  readonly syncs: Syncs | null;
}

/** The time of the floor's samples before and after each row, at its rate. */
const FLOOR_SECONDS = 5;

interface RatesOptions extends RunOptions {
  readonly ca: string;
  readonly rates: readonly number[];
  /** The length of a row. */
  readonly seconds: number;
}

export async function measureRates(options: RatesOptions): Promise<RatesResult> {
  const { engine, rates } = options;
  const brokers = engine.kafka?.brokers ?? [];
  const floor = await startFloorMeter({ ...bareTarget(options), folder: DATA_DIR, brokers });
  const rows = await withService(options, 1, async (service, producer) => {
    const found: Omit<RatesRow, 'syncs'>[] = [];
    for (const rate of rates) found.push(await measureRow({ ...options, floor }, service, producer, rate));
    return found;
  }).finally(() => floor.stop());
  const syncs = hasStrace() ? await countSyncs(options) : [];
  return {
    engine: engine.name,
    brokers: engine.brokerPids().length,
    rows: rows.map((row, index) => ({ ...row, syncs: syncs[index] ?? null })),
  };
}

/** Returns the calls per event, a row for each rate. */
async function countSyncs(options: RatesOptions): Promise<readonly Syncs[]> {
  const { rates, seconds } = options;
  const traceTo = join(DATA_DIR, `syncs-${process.pid}.txt`);
  const look = () => countsOf(readFileSync(traceTo, 'utf8'));
  try {
    return await withService({ ...options, traceTo }, 1, async (service, producer) => {
      const syncs: Syncs[] = [];
      for (const rate of rates) {
        const before = look();
        await run(options, service, producer, rate);
        const after = look();
        const perEvent = (of: keyof Syncs) => (after[of] - before[of]) / (rate * seconds);
        syncs.push({ commits: perEvent('commits'), others: perEvent('others') });
      }
      return syncs;
    });
  } finally {
    rmSync(traceTo, { force: true });
  }
}

async function measureRow(
  options: RatesOptions & { readonly floor: FloorMeter },
  service: Service,
  producer: Producer,
  rate: number,
) {
  const pace = { eventsPerSecond: rate, seconds: FLOOR_SECONDS };
  const samples = [await options.floor.measure(pace)];
  const before = usageOf(...service.pids);
  const posted = await run(options, service, producer, rate);
  const after = usageOf(...service.pids);
  const latency = latencyOf(posted, await options.receiver.recorded());
  samples.push(await options.floor.measure(pace));
  const floor = floorOf(samples);
  const perEvent = (of: 'cpuMs' | 'writtenBytes') => (after[of] - before[of]) / posted.size;
  return {
    ...{ eventsPerSecond: rate, ...latency, pssMib: after.pssKib / 1024 },
    ...{ floor, ratios: ratiosOf(latency, floor) },
    ...{ cpuMicros: perEvent('cpuMs') * 1000, writtenBytes: perEvent('writtenBytes') },
  };
}

/** Posts events at this rate until the time is over and all are in the delivery log. */
async function run(options: RatesOptions, service: Service, producer: Producer, rate: number) {
  const count = rate * options.seconds;
  const posts = serialise(makeEvents(service.merchantIds, count, `at ${rate}`), 1);
  await options.receiver.reset({ record: true });
  const recordedBefore = await service.recordedEntries();
  const [posted] = await Promise.all([
    producer.publishAt(rate, posts),
    arrived(service, options.receiver, count),
  ]);
  await recorded(service, recordedBefore + 2 * count);
  return posted;
}

export function ratesText({ engine, brokers, rows }: RatesResult): string {
  const lines = rows.map((row) => {
    const { eventsPerSecond, cpuMicros, writtenBytes, pssMib, syncs } = row;
    const synced =
      syncs === null
        ? 'strace is not installed: fsyncs not counted'
        : `${(syncs.commits + syncs.others).toFixed(2)} fsyncs (${syncs.commits.toFixed(2)} of commits)`;
    const cost = `${cpuMicros.toFixed(0)} µs, ${(writtenBytes / 1000).toFixed(1)} KB, ${synced}`;
    return `  ${`${eventsPerSecond}/s`.padEnd(6)} ${cost} per event; ${latencyText(row)} (${ratiosText(row.ratios)}); ${pssMib.toFixed(0)} MiB`;
  });
  return [`${nameOf(engine, brokers)}, what an event costs at a steady rate:`, ...lines].join('\n');
}
