import { makeEvents, Producer, serialise, sleep } from './load.ts';
import { cpuMsOfTree, percentile, usageOf, wallClock } from './measure.ts';
import type { Receiver } from './receiver.ts';
import { type Engine, type Service, startService } from './service.ts';

/** Deliveries before the clock starts: code is compiled, connections are open, windows have grown. */
const WARM_UP_EVENTS = 6000;
/** Posted and awaited at a time: no endpoint is asked for more than it shows it can take. */
const WARM_UP_STEP = 100;
const POLL_MS = 50;
const SAMPLE_MS = 1000;
const ARRIVED_MS_MAX = 300_000;
const RECORDED_MS_MAX = 120_000;

export interface ThroughputResult {
  readonly engine: string;
  readonly endpoints: number;
  readonly deliveries: number;
  /** From the first post until every delivery has arrived and is in the delivery log. */
  readonly seconds: number;
  readonly secondsToLastArrival: number;
  readonly deliveriesPerSecond: number;
  /** User and system time of the service's processes: accepting, routing, sending and recording. */
  readonly cpuMicrosPerDelivery: number;
  /** Requests at the receiver beyond one per delivery. */
  readonly duplicates: number;
  readonly pssPeakMib: number;
  /** Tasks put back for seconds or minutes because their endpoint's window and queue were full. */
  readonly parked: number;
  /** Bytes the service sent to the disk. */
  readonly writtenBytesPerDelivery: number;
}

export interface LatencyResult {
  readonly engine: string;
  readonly eventsPerSecond: number;
  readonly events: number;
  /** From just before the event is posted until the last byte of the webhook is read. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface RunOptions {
  readonly engine: Engine;
  readonly receiver: Receiver;
  /** PEM of the authority that signed the receiver's certificate. */
  readonly ca: string;
}

/** Publishes events as fast as they are taken. Each merchant has one endpoint, so an event is one delivery. */
export function measureThroughput(
  options: RunOptions & { readonly endpoints: number; readonly events: number },
): Promise<ThroughputResult> {
  return withService(options, options.endpoints, async (service, producer) => {
    const { receiver } = options;
    const posts = serialise(makeEvents(service.merchantIds, options.events, 'measured'));
    await receiver.reset({ record: false });
    const recordedBefore = await service.recordedEntries();
    const parkedBefore = await service.parkedTasks();
    const before = usageOf(service.pid);
    const memory = watchMemory(service.pid);
    const startedAt = wallClock();
    const [lastArrivalAt] = await Promise.all([
      arrived(service, receiver, options.events),
      producer.publishAll(posts),
    ]);
    await recorded(service, recordedBefore + 2 * options.events);
    const seconds = (wallClock() - startedAt) / 1000;
    const cpuMs = cpuMsOfTree(service.pid) - before.cpuMs;
    const writtenBytes = usageOf(service.pid).writtenBytes - before.writtenBytes;
    const { total, distinct } = await receiver.count();
    return {
      engine: options.engine.name,
      endpoints: options.endpoints,
      deliveries: options.events,
      seconds,
      secondsToLastArrival: (lastArrivalAt - startedAt) / 1000,
      deliveriesPerSecond: options.events / seconds,
      cpuMicrosPerDelivery: (cpuMs * 1000) / options.events,
      duplicates: total - distinct,
      parked: (await service.parkedTasks()) - parkedBefore,
      pssPeakMib: memory.stop() / 1024,
      writtenBytesPerDelivery: writtenBytes / options.events,
    };
  });
}

/** Publishes events one by one at a steady rate, and joins the times they were posted with those they arrived. */
export function measureLatency(
  options: RunOptions & { readonly eventsPerSecond: number; readonly seconds: number },
): Promise<LatencyResult> {
  return withService(options, 1, async (service, producer) => {
    const { receiver, eventsPerSecond } = options;
    const count = eventsPerSecond * options.seconds;
    const posts = serialise(makeEvents(service.merchantIds, count, 'measured'), 1);
    await receiver.reset({ record: true });
    const [postedAt] = await Promise.all([
      producer.publishAt(eventsPerSecond, posts),
      arrived(service, receiver, count),
    ]);
    const arrivals = await receiver.recorded();
    const latencies = arrivals.map(({ eventId, at }) => at - (postedAt.get(eventId) ?? Number.NaN));
    const sorted = Float64Array.from(latencies).sort();
    return {
      engine: options.engine.name,
      eventsPerSecond,
      events: count,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      maxMs: percentile(sorted, 1),
    };
  });
}

/** Starts a fresh service with so many endpoints, warms it up, runs the work, and takes everything down again. */
async function withService<Result>(
  options: RunOptions,
  endpoints: number,
  work: (service: Service, producer: Producer) => Promise<Result>,
): Promise<Result> {
  const service = await startService(options.engine, options.ca, endpoints);
  const run = async () => {
    await service.createEndpoints((i) => `https://localhost:${options.receiver.port}/webhooks/${i}`);
    const producer = new Producer(service.apiUrl, service.producerKey);
    await warmUp(service, producer, options.receiver);
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

/** Step by step, as traffic grows on a service that was just started. */
async function warmUp(service: Service, producer: Producer, receiver: Receiver): Promise<void> {
  const posts = serialise(makeEvents(service.merchantIds, WARM_UP_EVENTS, 'warm-up'), WARM_UP_STEP);
  await receiver.reset({ record: false });
  for (const [i, post] of posts.entries()) {
    await producer.publishAll([post]);
    await arrived(service, receiver, (i + 1) * WARM_UP_STEP);
  }
  await recorded(service, 2 * WARM_UP_EVENTS);
}

/** Waits until so many different deliveries have arrived; answers when the last one did. */
async function arrived(service: Service, receiver: Receiver, deliveries: number): Promise<number> {
  const limit = new AbortController();
  const tooLate = async () => {
    await sleep(ARRIVED_MS_MAX, limit.signal);
    if (limit.signal.aborted) return 0;
    const [{ distinct }, parked] = await Promise.all([receiver.count(), service.parkedTasks()]);
    throw new Error(
      `only ${distinct} of ${deliveries} deliveries arrived in ${ARRIVED_MS_MAX / 1000} s; ` +
        `tasks were parked ${parked} times because their endpoint's window and queue were full`,
    );
  };
  try {
    return await Promise.race([receiver.reached(deliveries), tooLate()]);
  } finally {
    limit.abort();
  }
}

/** Waits until the delivery log has so many entries: one per routed event and one per attempt. */
async function recorded(service: Service, entries: number): Promise<void> {
  const giveUpAt = wallClock() + RECORDED_MS_MAX;
  while ((await service.recordedEntries()) < entries) {
    if (wallClock() > giveUpAt) throw new Error(`the delivery log did not reach ${entries} entries`);
    await sleep(POLL_MS);
  }
}

/** Reading PSS walks the page tables, so it is sampled once a second; answers the peak in KiB. */
function watchMemory(pid: number): { stop(): number } {
  let peakKib = usageOf(pid).pssKib;
  const timer = setInterval(() => {
    peakKib = Math.max(peakKib, usageOf(pid).pssKib);
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return Math.max(peakKib, usageOf(pid).pssKib);
    },
  };
}
