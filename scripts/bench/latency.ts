import { arrived, type RunOptions, withService } from './engine.ts';
import { type Floor, type FloorMeter, type FloorSamples, floorOf, ratiosOf } from './floor/floor.ts';
import { makeEvents, serialise } from './load.ts';
import { type Latency, latencyOf } from './measure.ts';
import type { Parked } from './parked.ts';
import type { Arrival } from './receiver.ts';
import { nameOf } from './report/names.ts';

/** The time of the floor's samples in each turn: short, so that the service does not fall asleep. */
const FLOOR_SECONDS = 1;

export interface LatencyResult extends Latency {
  readonly engine: string;
  readonly brokers: number;
  readonly eventsPerSecond: number;
  readonly events: number;
  /** Tasks put back without an attempt, the warm-up's included. */
  readonly parked: Parked;
  readonly floor: Floor;
  /** As `ratiosOf` returns them. */
  readonly ratios: { readonly p50: number; readonly p99: number };
}

interface LatencyOptions extends RunOptions {
  readonly eventsPerSecond: number;
  /** The seconds of a turn. */
  readonly seconds: number;
  readonly turns: number;
  readonly floor: FloorMeter;
}

/**
 * Publishes events one by one at a steady rate, and measures the time from post to arrival. The floor is measured before,
 * between and after the turns, because a disk changes its speed.
 */
export function measureLatency(options: LatencyOptions): Promise<LatencyResult> {
  return withService(options, 1, async (service, producer) => {
    const { engine, receiver, eventsPerSecond, seconds, turns, floor } = options;
    const count = eventsPerSecond * seconds;
    const measureFloor = () => floor.measure({ eventsPerSecond, seconds: FLOOR_SECONDS });
    const posted = new Map<string, number>();
    const arrivals: Arrival[] = [];
    const samples: FloorSamples[] = [await measureFloor()];
    for (let turn = 0; turn < turns; turn += 1) {
      const posts = serialise(makeEvents(service.merchantIds, count, `measured ${turn}`), 1);
      await receiver.reset({ record: true });
      const [postedAt] = await Promise.all([
        producer.publishAt(eventsPerSecond, posts),
        arrived(service, receiver, count),
      ]);
      for (const [eventId, at] of postedAt) posted.set(eventId, at);
      for (const arrival of await receiver.recorded()) arrivals.push(arrival);
      samples.push(await measureFloor());
    }
    const latency = latencyOf(posted, arrivals);
    const floorFound = floorOf(samples);
    return {
      ...{ engine: engine.name, brokers: engine.brokerPids().length },
      ...{ eventsPerSecond, events: posted.size, ...latency },
      parked: await service.parkedTasks(),
      floor: floorFound,
      ratios: ratiosOf(latency, floorFound),
    };
  });
}

export function latencyName({ engine, brokers, eventsPerSecond }: LatencyResult): string {
  return `${nameOf(engine, brokers)} at ${eventsPerSecond}/s`;
}
