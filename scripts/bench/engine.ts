import type { BenchEngine, StoreName } from './engines.ts';
import { EVENTS_PER_REQUEST, makeEvents, Producer, pour, serialise, sleep } from './load.ts';
import { wallClock } from './measure.ts';
import type { Receiver } from './receiver.ts';
import { type Fill, type Service, startService } from './service.ts';

/**
 * Warm-up deliveries before the clock starts, to open connections, grow windows and compile code. The first ones are
 * posted and awaited step by step, like growing traffic on a service that was just started.
 */
const WARM_UP = { events: 3000, step: 100 } as const;
/** Events that the producer repeats: so many that their contents do not compress as repetitions of one another. */
const TEMPLATES = 2000;
const ROOM_MS = 5;
const POLL_MS = 50;
const ARRIVED_MS_MAX = 300_000;
const RECORDED_MS_MAX = 120_000;

export interface RunOptions {
  readonly engine: BenchEngine;
  readonly store: StoreName;
  readonly receiver: Receiver;
  /** PEM of the authority that signed the receiver's certificate. */
  readonly ca: string;
  /** The receiver's origins that the endpoints are spread over; 1 by default. */
  readonly origins?: number;
  /** A file for the service's calls of fsync; absent: they are not traced. */
  readonly traceTo?: string;
}

/** Starts a fresh service with this many endpoints, warms it up, runs the work, and stops everything. */
export async function withService<Result>(
  options: RunOptions,
  endpoints: number,
  work: (service: Service, producer: Producer) => Promise<Result>,
  fill?: Fill,
): Promise<Result> {
  const service = await startService({ ...options, merchants: endpoints, fill });
  const run = async () => {
    const { receiver, origins = 1 } = options;
    await service.createEndpoints((i) => `https://localhost:${receiver.ports[i % origins]}/webhooks/${i}`);
    const producer = new Producer(service.apiUrl, service.producerKey);
    await warmUp(service, producer, options);
    const result = await work(service, producer);
    await producer.close();
    return result;
  };
  try {
    return await Promise.race([run(), service.failed]);
  } finally {
    await service.stop();
  }
}

async function warmUp(service: Service, producer: Producer, { receiver, engine }: RunOptions): Promise<void> {
  const { events, step } = WARM_UP;
  const thenAtOnce = engine.warmUpEvents;
  await receiver.reset({ record: false });
  const posts = serialise(makeEvents(service.merchantIds, events, 'warm-up'), step);
  for (const [i, post] of posts.entries()) {
    await producer.publish(post);
    await arrived(service, receiver, (i + 1) * step);
  }
  await service.prepare(makeEvents(service.merchantIds, TEMPLATES, 'template'));
  const publish = () => service.publish(EVENTS_PER_REQUEST);
  await pour(thenAtOnce / EVENTS_PER_REQUEST, publish, roomAt({ engine, receiver }, events));
  await recorded(service, 2 * (events + thenAtOnce));
}

/**
 * Returns a function that resolves when few enough posted events are still in progress. `before`: deliveries received
 * earlier. Concurrent callers share one poll of the receiver.
 */
export function roomAt(
  { engine, receiver }: Pick<RunOptions, 'engine' | 'receiver'>,
  before = 0,
): (begun: number) => Promise<void> {
  let distinct = 0;
  let poll: Promise<void> | null = null;
  return async (begun) => {
    while (begun * EVENTS_PER_REQUEST - distinct >= engine.underWayMax) {
      poll ??= sleep(ROOM_MS)
        .then(() => receiver.count())
        .then((count) => {
          distinct = count.distinct - before;
          poll = null;
        });
      await poll;
    }
  };
}

/** Waits until this many different deliveries have arrived; returns the time of the last one. */
export async function arrived(service: Service, receiver: Receiver, deliveries: number): Promise<number> {
  const limit = new AbortController();
  const tooLate = async () => {
    await sleep(ARRIVED_MS_MAX, limit.signal);
    if (limit.signal.aborted) return 0;
    const [{ distinct }, left] = await Promise.all([receiver.count(), service.unfinishedWork()]);
    throw new Error(
      `only ${distinct} of ${deliveries} deliveries arrived within ${ARRIVED_MS_MAX / 1000} s. What waits:\n${left}`,
    );
  };
  try {
    return await Promise.race([receiver.reached(deliveries), tooLate()]);
  } finally {
    limit.abort();
  }
}

/** Waits until the delivery log has this many entries: one per routed event and one per attempt. */
export async function recorded(service: Service, entries: number): Promise<void> {
  const giveUpAt = wallClock() + RECORDED_MS_MAX;
  while ((await service.recordedEntries()) < entries) {
    if (wallClock() > giveUpAt) {
      const [found, left] = await Promise.all([service.recordedEntries(), service.unfinishedWork()]);
      throw new Error(`the delivery log has ${found} of ${entries} entries. What waits:\n${left}`);
    }
    await sleep(POLL_MS);
  }
}
