/**
 * How much open streams (GET /merchant/stream) slow down live deliveries, and how late the streams are. Deliveries come
 * at a steady rate; periods without and with open streams take turns in one run of one service, so that the ratio holds
 * on any machine. The readers run in a process of their own.
 */
import { startChild } from '../child.ts';
import { type RunOptions, withService } from '../engine.ts';
import { makeEvents, type Producer, serialise, sleep } from '../load.ts';
import { type Latency, latencyOf, latencyText, percentile } from '../measure.ts';
import { nameOf } from '../report/names.ts';
import type { Service } from '../service.ts';
import type { ReadersOptions } from '../stream-readers-process.ts';

export interface StreamsResult {
  readonly engine: string;
  readonly brokers: number;
  readonly merchants: number;
  readonly streams: number;
  readonly eventsPerSecond: number;
  readonly without: Latency;
  readonly with: Latency;
  /** p50 and p99 with open streams, divided by those without. */
  readonly ratios: { readonly p50: number; readonly p99: number };
  /** Milliseconds from the end of an attempt until its event was read from a stream. */
  readonly lateness: { readonly events: number } & Pick<Latency, 'p50Ms' | 'p99Ms' | 'maxMs'>;
}

interface StreamsOptions extends RunOptions {
  readonly merchants: number;
  readonly streams: number;
  readonly eventsPerSecond: number;
  readonly seconds: number;
  /** Pairs of periods. */
  readonly turns: number;
}

/** The time limit for the last deliveries after the last post. */
const ARRIVED_MS = 3000;
/** The time between opening the streams and the next period. */
const OPENED_MS = 1000;

export function measureStreams(options: StreamsOptions): Promise<StreamsResult> {
  const { engine, merchants, streams, eventsPerSecond, turns, receiver } = options;
  return withService(options, merchants, async (service, producer) => {
    const posted = { without: new Map<string, number>(), with: new Map<string, number>() };
    const arrivals: Awaited<ReturnType<typeof receiver.recorded>>[number][] = [];
    const lateMs: number[] = [];
    const readers = startChild('./stream-readers-process.ts');
    const { apiUrl, apiKeys } = service;
    try {
      for (let turn = 0; turn < turns; turn += 1) {
        for (const kind of ['without', 'with'] as const) {
          if (kind === 'with') {
            await readers.ask('open', { apiUrl, apiKeys, streams } satisfies ReadersOptions);
            await sleep(OPENED_MS);
          }
          await receiver.reset({ record: true });
          const postedAt = await postAll(service, producer, options, `${kind} ${turn}`);
          for (const [eventId, at] of postedAt) posted[kind].set(eventId, at);
          await sleep(ARRIVED_MS);
          arrivals.push(...(await receiver.recorded()));
          lateMs.push(...(await readers.ask<number[]>('close')));
        }
      }
    } finally {
      await readers.stop();
    }
    const [before, during] = [latencyOf(posted.without, arrivals), latencyOf(posted.with, arrivals)];
    const sorted = Float64Array.from(lateMs).sort();
    const at = (share: number) => percentile(sorted, share);
    return {
      engine: engine.name,
      brokers: engine.brokerPids().length,
      merchants,
      streams,
      eventsPerSecond,
      without: before,
      with: during,
      ratios: { p50: during.p50Ms / before.p50Ms, p99: during.p99Ms / before.p99Ms },
      lateness: { events: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) },
    };
  });
}

function postAll(
  { merchantIds }: Service,
  producer: Producer,
  { eventsPerSecond, seconds }: StreamsOptions,
  label: string,
): Promise<ReadonlyMap<string, number>> {
  const events = makeEvents(merchantIds, eventsPerSecond * seconds, label);
  return producer.publishAt(eventsPerSecond, serialise(events, 1));
}

export function streamsText(result: StreamsResult): string {
  const { engine, brokers, merchants, streams, eventsPerSecond, ratios, lateness } = result;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return [
    `${nameOf(engine, brokers)}: ${eventsPerSecond} deliveries/s of ${merchants} merchant(s), ${streams} streams open in every second period`,
    `  without streams: ${latencyText(result.without)}`,
    `  with streams: ${latencyText(result.with)}; p50 ${ratios.p50.toFixed(2)} times, p99 ${ratios.p99.toFixed(2)} times that without`,
    `  streams: ${lateness.events} attempts read, p50 ${ms(lateness.p50Ms)}, p99 ${ms(lateness.p99Ms)}, max ${ms(lateness.maxMs)} after their end`,
  ].join('\n');
}
