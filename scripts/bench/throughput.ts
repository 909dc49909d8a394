import type { BareLoop, BareLoopResult } from './bare-loop.ts';
import { arrived, type RunOptions, recorded, roomAt, withService } from './engine.ts';
import { perDelivery, type Traffic, trafficSince } from './kafka/traffic.ts';
import { EVENTS_PER_REQUEST, makeEvents, type Producer, pour, serialise } from './load.ts';
import { cpuMsOfTree, usageOf, wallClock } from './measure.ts';
import type { Parked } from './parked.ts';
import type { Service } from './service.ts';

const SAMPLE_MS = 1000;

/**
 * How events enter: `engine` – a producer inside the service hands them to the engine, as when producers write to a broker
 * themselves; `rest` – by POST /producer/events, which includes parsing and validation.
 */
export type Via = 'engine' | 'rest';

export interface ThroughputResult {
  readonly engine: string;
  readonly via: Via;
  readonly endpoints: number;
  readonly deliveries: number;
  /** From the first post of each slice until every delivery of it has arrived and is in the delivery log. */
  readonly seconds: number;
  readonly deliveriesPerSecond: number;
  /** User and system time of the service's processes: accepting, routing, sending and recording. */
  readonly cpuMicrosPerDelivery: number;
  /** Requests at the receiver beyond one per delivery. */
  readonly duplicates: number;
  readonly pssPeakMib: number;
  /** Tasks put back without an attempt, the warm-up's included: every endpoint is healthy, so there should be none. */
  readonly parked: Parked;
  /** Bytes that the service sent to the disk. */
  readonly writtenBytesPerDelivery: number;
  /** The engine's servers, which the figures above exclude; null if it has none. */
  readonly brokers: (ServerResult & { readonly count: number }) | null;
  /** The store's server, which they exclude, too; null if it has none. */
  readonly store: ServerResult | null;
  /** Requests and records that the service and its brokers exchange per delivery; null without brokers. */
  readonly traffic: Traffic | null;
  /** The bare loop, run between the slices of this row. */
  readonly bare: BareLoopResult;
  /** Ratios to the bare loop: throughput (more is better), CPU per delivery (less is better). */
  readonly ratios: { readonly throughput: number; readonly cpu: number };
}

export interface ServerResult {
  readonly cpuMicrosPerDelivery: number;
  readonly pssPeakMib: number;
  readonly writtenBytesPerDelivery: number;
}

interface ThroughputOptions extends RunOptions {
  readonly endpoints: number;
  readonly via: Via;
  /** The number of events in one slice. */
  readonly events: number;
  readonly slices: number;
  readonly bare: BareLoop;
}

/**
 * Publishes events as fast as they arrive, in slices. The bare loop runs between them, so that a change of the machine's
 * speed affects both. Each merchant has one endpoint, so an event is one delivery.
 */
export function measureThroughput(options: ThroughputOptions): Promise<ThroughputResult> {
  const { engine, endpoints, via, events, slices, bare } = options;
  return withService(options, endpoints, async (service, producer) => {
    const brokers = engine.brokerPids().length;
    const done: Slice[] = [];
    const bareResults = [await bare.run()];
    for (let i = 0; i < slices; i += 1) {
      done.push(await measureSlice(options, service, producer, `measured ${i}`));
      bareResults.push(await bare.run());
    }
    const sum = (of: (slice: Slice) => number) => done.reduce((total, slice) => total + of(slice), 0);
    const deliveries = slices * events;
    const seconds = sum((slice) => slice.seconds);
    const bareResult = bareOf(bareResults);
    const usedBy = (who: 'own' | 'brokers' | 'store') =>
      usedOf(
        done.map((slice) => slice[who]),
        deliveries,
      );
    const own = usedBy('own');
    const rate = deliveries / seconds;
    const traffic = done.flatMap((slice) => slice.traffic ?? []);
    return {
      ...{ engine: engine.name, via, endpoints, deliveries, seconds, deliveriesPerSecond: rate },
      ...own,
      duplicates: sum((slice) => slice.duplicates),
      parked: await service.parkedTasks(),
      brokers: brokers === 0 ? null : { count: brokers, ...usedBy('brokers') },
      store: engine.storePids().length === 0 ? null : usedBy('store'),
      traffic: traffic.length === 0 ? null : perDelivery(traffic, deliveries),
      bare: bareResult,
      ratios: {
        throughput: rate / bareResult.deliveriesPerSecond,
        cpu: own.cpuMicrosPerDelivery / bareResult.cpuMicrosPerDelivery,
      },
    };
  });
}

interface Slice {
  readonly seconds: number;
  readonly duplicates: number;
  readonly own: Used;
  readonly brokers: Used;
  readonly store: Used;
  readonly traffic: Traffic | null;
}

async function measureSlice(
  options: ThroughputOptions,
  service: Service,
  producer: Producer,
  label: string,
): Promise<Slice> {
  const { receiver, events, engine, via } = options;
  const posts = via === 'rest' ? serialise(makeEvents(service.merchantIds, events, label)) : [];
  const publish = async (step: number) => {
    const post = posts[step];
    await (post ? producer.publish(post) : service.publish(EVENTS_PER_REQUEST));
  };
  await receiver.reset({ record: false });
  const trafficBefore = await engine.kafka?.traffic(service.pids);
  const recordedBefore = await service.recordedEntries();
  const own = watchUsage(service.pids);
  const brokers = watchUsage(engine.brokerPids());
  const store = watchUsage(engine.storePids());
  const startedAt = wallClock();
  await Promise.all([
    arrived(service, receiver, events),
    pour(events / EVENTS_PER_REQUEST, publish, roomAt(options)),
  ]);
  await recorded(service, recordedBefore + 2 * events);
  const seconds = (wallClock() - startedAt) / 1000;
  const used = { own: own.stop(), brokers: brokers.stop(), store: store.stop() };
  const trafficAfter = await engine.kafka?.traffic(service.pids);
  const traffic = trafficBefore && trafficAfter ? trafficSince(trafficBefore, trafficAfter) : null;
  const { total, distinct } = await receiver.count();
  return { seconds, duplicates: total - distinct, ...used, traffic };
}

function bareOf(runs: readonly BareLoopResult[]): BareLoopResult {
  const deliveries = runs.reduce((sum, run) => sum + run.deliveries, 0);
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  const cpuMicros = runs.reduce((sum, run) => sum + run.cpuMicrosPerDelivery * run.deliveries, 0);
  return {
    ...{ deliveries, seconds, deliveriesPerSecond: deliveries / seconds },
    cpuMicrosPerDelivery: cpuMicros / deliveries,
  };
}

interface Used {
  readonly cpuMs: number;
  readonly pssPeakKib: number;
  readonly writtenBytes: number;
}

function usedOf(slices: readonly Used[], deliveries: number) {
  const sum = (of: (used: Used) => number) => slices.reduce((total, used) => total + of(used), 0);
  return {
    cpuMicrosPerDelivery: (sum(({ cpuMs }) => cpuMs) * 1000) / deliveries,
    pssPeakMib: Math.max(...slices.map(({ pssPeakKib }) => pssPeakKib)) / 1024,
    writtenBytesPerDelivery: sum(({ writtenBytes }) => writtenBytes) / deliveries,
  };
}

/** Measures from now until `stop`. Reading PSS walks the page tables, so it is sampled once a second. */
function watchUsage(pids: readonly number[]): { stop(): Used } {
  const before = usageOf(...pids);
  let peakKib = before.pssKib;
  const timer = setInterval(() => {
    peakKib = Math.max(peakKib, usageOf(...pids).pssKib);
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      const cpuMs = cpuMsOfTree(...pids) - before.cpuMs;
      const { pssKib, writtenBytes } = usageOf(...pids);
      return {
        cpuMs,
        pssPeakKib: Math.max(peakKib, pssKib),
        writtenBytes: writtenBytes - before.writtenBytes,
      };
    },
  };
}
