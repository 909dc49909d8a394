/**
 * How much a reader of the event feed (GET /merchant/events?order=asc&include=body) slows down live deliveries, and how
 * long it takes. The reader begins anew every ten seconds: that is the rate class in production, for pages of 500.
 */
import { startChild } from '../child.ts';
import { type RunOptions, withService } from '../engine.ts';
import type { FeedRead, FeedReaderOptions } from '../feed-reader-process.ts';
import { makeEvents, serialise, sleep } from '../load.ts';
import { nameOf } from '../report/names.ts';
import { type Beside, besideLines, inTurns, type TurnsOptions } from './turns.ts';

export interface FeedResult extends Beside {
  readonly engine: string;
  readonly brokers: number;
  readonly eventsPerSecond: number;
  readonly reads: readonly FeedRead[];
}

interface FeedOptions extends RunOptions, TurnsOptions {
  /** Events that the reader reads; as many were recorded before. */
  readonly events: number;
}

const FILLED_PER_SECOND = 1000;
const FILLED_MS = 5000;

export function measureFeed(options: FeedOptions): Promise<FeedResult> {
  const { engine, events, eventsPerSecond } = options;
  return withService(options, 1, async ({ apiUrl, apiKeys, merchantIds }, producer) => {
    const reads: FeedRead[] = [];
    await producer.publishAt(FILLED_PER_SECOND, serialise(makeEvents(merchantIds, events, 'filled'), 1));
    await sleep(FILLED_MS);
    const reader = startChild('./feed-reader-process.ts');
    const neighbour = {
      async begin() {
        const begun = { apiUrl, apiKey: apiKeys[0] ?? '', events };
        await reader.ask('begin', begun satisfies FeedReaderOptions);
      },
      async end() {
        reads.push(...(await reader.ask<FeedRead[]>('end')));
      },
    };
    const beside = await inTurns(options, { merchantIds, producer }, neighbour).finally(() => reader.stop());
    return {
      engine: engine.name,
      brokers: engine.brokerPids().length,
      eventsPerSecond,
      ...beside,
      reads,
    };
  });
}

export function feedText({ engine, brokers, eventsPerSecond, reads, ...beside }: FeedResult): string {
  const seconds = reads.map(({ ms }) => ms / 1000);
  const [first] = reads;
  return [
    `${nameOf(engine, brokers)}: ${eventsPerSecond} deliveries/s, the feed read every ten seconds in every second period`,
    ...besideLines('a reader', beside),
    `  reader: ${reads.length} times ${first?.events ?? 0} events with bodies in ${first?.pages ?? 0} pages, ${Math.min(...seconds).toFixed(2)} to ${Math.max(...seconds).toFixed(2)} s`,
  ].join('\n');
}
