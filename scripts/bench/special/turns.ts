import { makeEvents, type Producer, serialise, sleep } from '../load.ts';
import { type Latency, latencyOf, latencyText } from '../measure.ts';
import type { Arrival, Receiver } from '../receiver.ts';

/** The latency of live deliveries at a steady rate, without something and beside it. */
export interface Beside {
  readonly without: Latency;
  readonly with: Latency;
  /** p50 and p99 beside it, divided by those without. */
  readonly ratios: { readonly p50: number; readonly p99: number };
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
  for (let turn = 0; turn < turns; turn += 1) {
    for (const kind of ['without', 'with'] as const) {
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
    }
  }
  const [before, beside] = [latencyOf(posted.without, arrivals), latencyOf(posted.with, arrivals)];
  const ratios = { p50: beside.p50Ms / before.p50Ms, p99: beside.p99Ms / before.p99Ms };
  return { without: before, with: beside, ratios };
}

/** `what`: as in "without streams". */
export function besideLines(what: string, { ratios, ...latencies }: Beside): readonly string[] {
  return [
    `  without ${what}: ${latencyText(latencies.without)}`,
    `  with ${what}: ${latencyText(latencies.with)}; p50 ${ratios.p50.toFixed(2)} times, p99 ${ratios.p99.toFixed(2)} times that without`,
  ];
}
