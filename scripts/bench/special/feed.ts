/**
 * How much a reader of the event feed (GET /merchant/events?order=asc&include=body) slows down live deliveries, and how
 * long it takes. Deliveries come at a steady rate; periods without and with a reader take turns in one run of one
 * service. The reader begins anew every ten seconds: that is the rate class in production, for pages of 500.
 */
import { startChild } from '../child.ts';
import { type RunOptions, withService } from '../engine.ts';
import type { FeedRead, FeedReaderOptions } from '../feed-reader-process.ts';
import { makeEvents, serialise, sleep } from '../load.ts';
import { type Latency, latencyOf, latencyText } from '../measure.ts';
import { nameOf } from '../report/names.ts';

export interface FeedResult {
  readonly engine: string;
  readonly brokers: number;
  readonly eventsPerSecond: number;
  readonly without: Latency;
  readonly with: Latency;
  /** p50 and p99 beside the reader, divided by those without. */
  readonly ratios: { readonly p50: number; readonly p99: number };
  readonly reads: readonly FeedRead[];
}

interface FeedOptions extends RunOptions {
  /** Events per page of the reader; as many were recorded before. */
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly seconds: number;
  /** Pairs of periods. */
  readonly turns: number;
}

const FILLED_PER_SECOND = 1000;
const FILLED_MS = 5000;
/** The time limit for the last deliveries after the last post. */
const ARRIVED_MS = 3000;

export function measureFeed(options: FeedOptions): Promise<FeedResult> {
  const { engine, events, eventsPerSecond, seconds, turns, receiver } = options;
  return withService(options, 1, async ({ apiUrl, apiKeys, merchantIds }, producer) => {
    const posted = { without: new Map<string, number>(), with: new Map<string, number>() };
    const arrivals: Awaited<ReturnType<typeof receiver.recorded>>[number][] = [];
    const reads: FeedRead[] = [];
    const post = (perSecond: number, count: number, label: string) =>
      producer.publishAt(perSecond, serialise(makeEvents(merchantIds, count, label), 1));
    await post(FILLED_PER_SECOND, events, 'filled');
    await sleep(FILLED_MS);
    const reader = startChild('./feed-reader-process.ts');
    try {
      for (let turn = 0; turn < turns; turn += 1) {
        for (const kind of ['without', 'with'] as const) {
          await receiver.reset({ record: true });
          if (kind === 'with')
            await reader.ask('begin', {
              apiUrl,
              apiKey: apiKeys[0] ?? '',
              events,
            } satisfies FeedReaderOptions);
          const postedAt = await post(eventsPerSecond, eventsPerSecond * seconds, `${kind} ${turn}`);
          if (kind === 'with') reads.push(...(await reader.ask<FeedRead[]>('end')));
          for (const [eventId, at] of postedAt) posted[kind].set(eventId, at);
          await sleep(ARRIVED_MS);
          arrivals.push(...(await receiver.recorded()));
        }
      }
    } finally {
      await reader.stop();
    }
    const [before, during] = [latencyOf(posted.without, arrivals), latencyOf(posted.with, arrivals)];
    return {
      engine: engine.name,
      brokers: engine.brokerPids().length,
      eventsPerSecond,
      without: before,
      with: during,
      ratios: { p50: during.p50Ms / before.p50Ms, p99: during.p99Ms / before.p99Ms },
      reads,
    };
  });
}

export function feedText({ engine, brokers, eventsPerSecond, ratios, reads, ...result }: FeedResult): string {
  const seconds = reads.map(({ ms }) => ms / 1000);
  const [first] = reads;
  return [
    `${nameOf(engine, brokers)}: ${eventsPerSecond} deliveries/s, the feed read every ten seconds in every second period`,
    `  without a reader: ${latencyText(result.without)}`,
    `  with a reader: ${latencyText(result.with)}; p50 ${ratios.p50.toFixed(2)} times, p99 ${ratios.p99.toFixed(2)} times that without`,
    `  reader: ${reads.length} times ${first?.events ?? 0} events with bodies in ${first?.pages ?? 0} pages, ${Math.min(...seconds).toFixed(2)} to ${Math.max(...seconds).toFixed(2)} s`,
  ].join('\n');
}
