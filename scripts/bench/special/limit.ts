/**
 * Measures an endpoint that takes ten requests a second and gets 500 events at once: how exactly its limit is kept, and how
 * much its waiting deliveries slow down those of others.
 */
import { type RunOptions, withService } from '../engine.ts';
import { makeEvents, serialise } from '../load.ts';
import type { Arrival } from '../receiver.ts';
import { nameOf } from '../report/names.ts';
import { type Beside, besideLines, inTurns, type TurnsOptions } from './turns.ts';

export interface LimitResult extends Beside {
  readonly engine: string;
  readonly brokers: number;
  readonly eventsPerSecond: number;
  readonly perSecond: number;
  readonly events: number;
  /** One for each period with the limited endpoint. */
  readonly bursts: readonly Burst[];
}

interface Burst {
  /** Events of the limited endpoint that arrived in the period. */
  readonly arrived: number;
  /** Arrivals a second, from the first to the last. */
  readonly perSecond: number;
  /** The most arrivals in any second. */
  readonly mostInASecond: number;
}

interface LimitOptions extends RunOptions, TurnsOptions {
  /** The limit of the endpoint. */
  readonly perSecond: number;
  /** Events for it, published at once at the start of a period. */
  readonly events: number;
}

const NEIGHBOURS = 10;
/** The merchant whose endpoint is limited. */
const LIMITED = NEIGHBOURS;

export function measureLimit(options: LimitOptions): Promise<LimitResult> {
  const { engine, events, eventsPerSecond, perSecond } = options;
  return withService(options, NEIGHBOURS + 1, async (service, producer) => {
    const bursts: Burst[] = [];
    await service.ask(LIMITED, 'PATCH', '', { requests_per_second: perSecond });
    const ofLimited = service.merchantIds.slice(LIMITED);
    let published: ReadonlySet<string> = new Set();
    const neighbour = {
      async begin() {
        const posts = serialise(makeEvents(ofLimited, events, `burst ${bursts.length}`));
        published = new Set(posts.flatMap(({ eventIds }) => eventIds));
        await Promise.all(posts.map((post) => producer.publish(post)));
      },
      end(arrivals: readonly Arrival[]) {
        bursts.push(burstOf(arrivals.filter(({ eventId }) => published.has(eventId))));
        return Promise.resolve();
      },
    };
    const merchantIds = service.merchantIds.slice(0, NEIGHBOURS);
    const beside = await inTurns(options, { merchantIds, producer }, neighbour);
    const brokers = engine.brokerPids().length;
    return { engine: engine.name, brokers, eventsPerSecond, perSecond, events, ...beside, bursts };
  });
}

function burstOf(arrivals: readonly Arrival[]): Burst {
  const times = arrivals.map(({ at }) => at).sort((one, other) => one - other);
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const within = times.map((from, index) => times.slice(index).filter((at) => at < from + 1000).length);
  return {
    arrived: times.length,
    perSecond: ((times.length - 1) * 1000) / (last - first),
    mostInASecond: Math.max(0, ...within),
  };
}

export function limitText(result: LimitResult): string {
  const { engine, brokers, eventsPerSecond, perSecond, events, bursts } = result;
  return [
    `${nameOf(engine, brokers)}: ${eventsPerSecond} deliveries/s of ${NEIGHBOURS} merchants, and in every second period ${events} events at once for an endpoint that takes ${perSecond}/s`,
    ...besideLines('it', result),
    ...bursts.map(
      (burst) =>
        `  the limited endpoint: ${burst.arrived} arrivals, ${burst.perSecond.toFixed(2)}/s (${((100 * burst.perSecond) / perSecond).toFixed(1)} % of its limit), at most ${burst.mostInASecond} in a second`,
    ),
  ].join('\n');
}
