import { makeEvents, type Producer, serialise, sleep } from '../load.ts';
import { type Latency, latencyOf, latencyText, median } from '../measure.ts';
import type { Arrival, Receiver } from '../receiver.ts';

/** The latency of live deliveries at a steady rate, without something and beside it. */
export interface Beside {
  readonly without: Latency;
  readonly with: Latency;
  /** Of each turn. */
  readonly turns: readonly Ratios[];
  /** The medians of the turns: one period in which the machine paused does not decide. */
  readonly ratios: Ratios;
}

/** p50 and p99 beside it, divided by those without. */
interface Ratios {
  readonly p50: number;
  readonly p99: number;
}

export interface TurnsOptions {
  readonly eventsPerSecond: number;
  readonly seconds: number;
  /** Pairs of periods. */
  readonly turns: number;
}

/** The load beside which deliveries are measured. */
export interface Neighbour {
  begin(): Promise<void>;
  /** `arrivals`: those of the period. */
  end(arrivals: readonly Arrival[]): Promise<void>;
}

/** The time limit for the last deliveries after the last post. */
const ARRIVED_MS = 3000;

/** Measures periods without the neighbour and with it in turns, so that the ratio holds on any machine. */
export async function inTurns(
  { eventsPerSecond, seconds, turns, receiver }: TurnsOptions & { readonly receiver: Receiver },
  { merchantIds, producer }: { readonly merchantIds: readonly string[]; readonly producer: Producer },
  neighbour: Neighbour,
): Promise<Beside> {
  const posted = { without: new Map<string, number>(), with: new Map<string, number>() };
  const arrivals: Arrival[] = [];
  const ratios: Ratios[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const period = async (kind: 'without' | 'with'): Promise<Latency> => {
      const events = makeEvents(merchantIds, eventsPerSecond * seconds, `${kind} ${turn}`);
      const posts = serialise(events, 1);
      await receiver.reset({ record: true });
      if (kind === 'with') await neighbour.begin();
      const postedAt = await producer.publishAt(eventsPerSecond, posts);
      for (const [eventId, at] of postedAt) posted[kind].set(eventId, at);
      await sleep(ARRIVED_MS);
      const arrived = await receiver.recorded();
      arrivals.push(...arrived);
      if (kind === 'with') await neighbour.end(arrived);
      return latencyOf(postedAt, arrived);
    };
    const [without, beside] = [await period('without'), await period('with')];
    ratios.push({ p50: beside.p50Ms / without.p50Ms, p99: beside.p99Ms / without.p99Ms });
  }
  return {
    without: latencyOf(posted.without, arrivals),
    with: latencyOf(posted.with, arrivals),
    turns: ratios,
    ratios: { p50: median(ratios.map(({ p50 }) => p50)), p99: median(ratios.map(({ p99 }) => p99)) },
  };
}

/** `what`: as in "without streams". */
export function besideLines(what: string, { ratios, turns, ...latencies }: Beside): readonly string[] {
  return [
    `  without ${what}: ${latencyText(latencies.without)}`,
    `  with ${what}: ${latencyText(latencies.with)}; p50 ${ratios.p50.toFixed(2)} times, p99 ${ratios.p99.toFixed(2)} times that without (median of the turns; p99 by turn: ${turns.map(({ p99 }) => p99.toFixed(2)).join(', ')})`,
  ];
}
