import { startChild } from '../child.ts';
import { type Latency, median, percentileOf } from '../measure.ts';

/**
 * The floor of the latency: what each webhook needs at the least, measured one at a time by a process that does nothing
 * else.
 */
export interface Floor {
  /** Milliseconds at the median: appending 2 KB to a file and one fdatasync. */
  readonly diskMs: number;
  /** One HTTPS request over an open connection to the receiver, until its response. */
  readonly requestMs: number;
  /** Both, one after the other. */
  readonly diskAndRequestMs: number;
  /** From writing a record to a topic (acks=all) until it is read; null without brokers. */
  readonly produceAndFetchMs: number | null;
  /** The sum of what the engine needs. */
  readonly ms: number;
  /** The same at the 99th percentile. */
  readonly p99Ms: number;
}

export interface FloorOptions {
  readonly url: string;
  /** PEM of the authority that signed the receiver's certificate. */
  readonly ca: string;
  /** The body of every request and record. */
  readonly body: Uint8Array;
  /** On the disk of the service's data. */
  readonly folder: string;
  /** host:port of each broker; empty without. */
  readonly brokers: readonly string[];
}

/** Milliseconds, one for each time that it was done. */
export interface FloorSamples {
  readonly disk: readonly number[];
  readonly request: readonly number[];
  readonly produceAndFetch: readonly number[];
}

export interface Pace {
  readonly eventsPerSecond: number;
  readonly seconds: number;
}

/** A process that measures the floor on request. */
export interface FloorMeter {
  measure(pace: Pace): Promise<FloorSamples>;
  stop(): Promise<void>;
}

/** Starts and warms up the process. It never outlives this one. */
export async function startFloorMeter(options: FloorOptions): Promise<FloorMeter> {
  const child = startChild('./floor/floor-process.ts');
  try {
    await child.ask('prepare', options);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    measure: (pace) => child.ask<FloorSamples>('measure', pace),
    async stop() {
      await child.ask('close');
      await child.stop();
    },
  };
}

/** Returns the latency divided by the floor: the median by its median, the 99th percentile by its own. */
export function ratiosOf({ p50Ms, p99Ms }: Pick<Latency, 'p50Ms' | 'p99Ms'>, floor: Floor) {
  return { p50: p50Ms / floor.ms, p99: p99Ms / floor.p99Ms };
}

/** Returns the medians and the 99th percentile over all turns. */
export function floorOf(turns: readonly FloorSamples[]): Floor {
  const all = (of: keyof FloorSamples) => turns.flatMap((samples) => samples[of]);
  const [disk, request, produceAndFetch] = [all('disk'), all('request'), all('produceAndFetch')];
  const both = disk.map((ms, index) => ms + (request[index] ?? Number.NaN));
  const diskAndRequestMs = median(both);
  const isKafka = produceAndFetch.length > 0;
  const produceAndFetchMs = isKafka ? median(produceAndFetch) : null;
  return {
    diskMs: median(disk),
    requestMs: median(request),
    diskAndRequestMs,
    produceAndFetchMs,
    ms: diskAndRequestMs + (produceAndFetchMs ?? 0),
    p99Ms: percentileOf(both, 0.99) + (isKafka ? percentileOf(produceAndFetch, 0.99) : 0),
  };
}
