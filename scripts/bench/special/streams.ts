/**
 * How much open streams (GET /merchant/stream) slow down live deliveries, and how late the streams are. The readers run in
 * a process of their own.
 */
import { startChild } from '../child.ts';
import { type RunOptions, withService } from '../engine.ts';
import { sleep } from '../load.ts';
import { type Latency, percentile } from '../measure.ts';
import { nameOf } from '../report/names.ts';
import type { ReadersOptions } from '../stream-readers-process.ts';
import { type Beside, besideLines, inTurns, type TurnsOptions } from './turns.ts';

export interface StreamsResult extends Beside {
  readonly engine: string;
  readonly brokers: number;
  readonly merchants: number;
  readonly streams: number;
  readonly eventsPerSecond: number;
  /** Milliseconds from the end of an attempt until its event was read from a stream. */
  readonly lateness: { readonly events: number } & Pick<Latency, 'p50Ms' | 'p99Ms' | 'maxMs'>;
}

interface StreamsOptions extends RunOptions, TurnsOptions {
  readonly merchants: number;
  readonly streams: number;
}

/** The time between opening the streams and the next period. */
const OPENED_MS = 1000;

export function measureStreams(options: StreamsOptions): Promise<StreamsResult> {
  const { engine, merchants, streams, eventsPerSecond } = options;
  return withService(options, merchants, async ({ apiUrl, apiKeys, merchantIds }, producer) => {
    const credentials = apiKeys.map((key) => ({ authorization: `API-Key ${key}` }));
    const lateMs: number[] = [];
    const readers = startChild('./stream-readers-process.ts');
    const neighbour = {
      async begin() {
        const opened = { apiUrl, credentials, streams, read: merchants };
        await readers.ask('open', opened satisfies ReadersOptions);
        await sleep(OPENED_MS);
      },
      async end() {
        lateMs.push(...(await readers.ask<number[]>('close')));
      },
    };
    const beside = await inTurns(options, { merchantIds, producer }, neighbour).finally(() => readers.stop());
    const sorted = Float64Array.from(lateMs).sort();
    const at = (share: number) => percentile(sorted, share);
    return {
      engine: engine.name,
      brokers: engine.brokerPids().length,
      merchants,
      streams,
      eventsPerSecond,
      ...beside,
      lateness: { events: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) },
    };
  });
}

export function streamsText(result: StreamsResult): string {
  const { engine, brokers, merchants, streams, eventsPerSecond, lateness } = result;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return [
    `${nameOf(engine, brokers)}: ${eventsPerSecond} deliveries/s of ${merchants} merchant(s), ${streams} streams open in every second period`,
    ...besideLines('streams', result),
    `  streams: ${lateness.events} attempts read, p50 ${ms(lateness.p50Ms)}, p99 ${ms(lateness.p99Ms)}, max ${ms(lateness.maxMs)} after their end`,
  ].join('\n');
}
