/**
 * The effect of dark endpoints on the others: some of many endpoints accept requests and never respond, all from the same
 * moment on, in the middle of the traffic. Measures the latency of the healthy ones with none, some, half and nine in ten
 * dark, in one run of one service, which has its endpoints at one origin or at many.
 */

import type { DomainEvent } from '../../../services/domain/event.ts';
import { since, totalOf } from '../counts.ts';
import { type RunOptions, withService } from '../engine.ts';
import { makeEvents, type Post, serialise, sleep } from '../load.ts';
import { type Latency, latencyOf, latencyText, wallClock } from '../measure.ts';
import type { Arrival, Receiver } from '../receiver.ts';
import { nameOf } from '../report/names.ts';
import type { Service } from '../service.ts';

export interface IsolationResult {
  readonly engine: string;
  readonly brokers: number;
  readonly endpoints: number;
  readonly origins: number;
  readonly eventsPerSecond: number;
  readonly rows: readonly IsolationRow[];
}

export interface IsolationRow {
  readonly darkShare: number;
  /** The latency of first attempts at healthy endpoints. */
  readonly healthy: Latency;
  /** Healthy p99, divided by that with none dark. */
  readonly ratio: number;
  /** Tasks parked because their endpoint's window and queue were full. */
  readonly parked: number;
  /** The highest latency of the events posted in each part of the row, milliseconds; null for a part without any. */
  readonly worstMs: Readonly<Record<Part, number | null>>;
}

/** The parts of a row by the time since the endpoints went dark: each has other causes of lateness. */
const PARTS = {
  'first second': [0, 1000],
  'until time-outs': [1000, 9500],
  'first time-outs': [9500, 12_000],
  later: [12_000, Number.POSITIVE_INFINITY],
} as const;
type Part = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as Part[];

/** The same traffic with all endpoints healthy, before each row, as a share of the row's time. */
const BEFORE_SHARE = 1 / 3;
/** Events posted together, as a producer batches them. */
const EVENTS_PER_POST = 10;
/** The interval of looks for the last deliveries after the last post, and their number. */
const ARRIVED_MS = 3000;
const LOOKS_MAX = 20;

export function measureIsolation(
  options: RunOptions & {
    readonly endpoints: number;
    readonly eventsPerSecond: number;
    readonly seconds: number;
    /** The dark share of the endpoints in each row; the first is what the others are compared with. */
    readonly darkShares: readonly number[];
  },
): Promise<IsolationResult> {
  const { endpoints, origins = 1, eventsPerSecond, seconds, darkShares, receiver, engine } = options;
  return withService(options, endpoints, async (service, producer) => {
    const rows: IsolationRow[] = [];
    for (const darkShare of darkShares) {
      const dark = Math.floor(endpoints * darkShare);
      const before = loadOf(service, eventsPerSecond, seconds * BEFORE_SHARE, `before ${dark} dark`);
      const load = loadOf(service, eventsPerSecond, seconds, `${dark} dark`);
      await receiver.reset({ record: false });
      await producer.publishAt(before.postsPerSecond, before.posts);
      const parkedBefore = await service.parkedTasks();
      await receiver.reset({ record: true, dark });
      const darkAt = wallClock();
      const posted = healthyOf(load, await producer.publishAt(load.postsPerSecond, load.posts), dark);
      const arrivals = await arrivalsOf(posted, service, receiver);
      const healthy = latencyOf(posted, arrivals);
      const ratio = healthy.p99Ms / (rows[0]?.healthy.p99Ms ?? healthy.p99Ms);
      const parked = totalOf(since(parkedBefore, await service.parkedTasks()));
      rows.push({ darkShare, healthy, ratio, parked, worstMs: worstOf(posted, arrivals, darkAt) });
    }
    const brokers = engine.brokerPids().length;
    return { engine: engine.name, brokers, endpoints, origins, eventsPerSecond, rows };
  });
}

/** Waits until each posted event has arrived, and returns what has. Rejects with what waits if that takes a minute. */
async function arrivalsOf(
  posted: ReadonlyMap<string, number>,
  service: Service,
  receiver: Receiver,
): Promise<readonly Arrival[]> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    await sleep(ARRIVED_MS);
    const arrivals = await receiver.recorded();
    const found = new Set(arrivals.map(({ eventId }) => eventId));
    if ([...posted.keys()].every((eventId) => found.has(eventId))) return arrivals;
  }
  throw new Error(
    `deliveries to healthy endpoints are missing. What waits:\n${await service.unfinishedWork()}`,
  );
}

/** Returns the highest latency of each part. */
function worstOf(
  posted: ReadonlyMap<string, number>,
  arrivals: readonly Arrival[],
  darkAt: number,
): IsolationRow['worstMs'] {
  const worst = (part: Part) => {
    const [from, until] = PARTS[part];
    const found = arrivals.flatMap(({ eventId, at }) => {
      const postedAt = posted.get(eventId);
      const isIn = postedAt !== undefined && postedAt - darkAt >= from && postedAt - darkAt < until;
      return isIn ? [at - postedAt] : [];
    });
    return found.length === 0 ? null : found.reduce((most, ms) => Math.max(most, ms), 0);
  };
  return Object.fromEntries(PART_NAMES.map((part) => [part, worst(part)])) as IsolationRow['worstMs'];
}

interface Load {
  readonly events: readonly DomainEvent[];
  /** The endpoint of each event in turn, over and over. */
  readonly endpoints: readonly number[];
  readonly posts: readonly Post[];
  readonly postsPerSecond: number;
}

/** A prime, so that dark endpoints and healthy ones alternate. */
const STRIDE = 617;

/** Returns events for all endpoints in turn. Made before the traffic, which must not pause. `label` distinguishes them. */
function loadOf({ merchantIds }: Service, eventsPerSecond: number, seconds: number, label: string): Load {
  const count = Math.round((eventsPerSecond * seconds) / EVENTS_PER_POST) * EVENTS_PER_POST;
  const endpoints = merchantIds.map((_, turn) => (turn * STRIDE) % merchantIds.length);
  const inTurn = endpoints.flatMap((endpoint) => merchantIds[endpoint] ?? []);
  const events = makeEvents(inTurn, count, label);
  return {
    events,
    endpoints,
    posts: serialise(events, EVENTS_PER_POST),
    postsPerSecond: eventsPerSecond / EVENTS_PER_POST,
  };
}

/** Returns when each event for a healthy endpoint was posted. */
function healthyOf(
  { events, endpoints }: Load,
  postedAt: ReadonlyMap<string, number>,
  dark: number,
): ReadonlyMap<string, number> {
  const healthy = events.filter((_, index) => (endpoints[index % endpoints.length] ?? 0) >= dark);
  return new Map(healthy.map(({ eventId }) => [eventId, postedAt.get(eventId) ?? Number.NaN]));
}

export function isolationText({
  engine,
  brokers,
  endpoints,
  origins,
  eventsPerSecond,
  rows,
}: IsolationResult): string {
  return [
    `${nameOf(engine, brokers)}: ${eventsPerSecond} events/s to ${endpoints} endpoints at ${origins} origin(s), some of which accept requests and never respond`,
    ...rows.map(
      ({ darkShare, healthy, ratio, parked, worstMs }) =>
        `  ${Math.round(darkShare * 100)} % dark: ${healthy.deliveries} deliveries to healthy ones, ${latencyText(healthy)}; ` +
        `p99 ${ratio.toFixed(2)} times that without dark ones, ${parked} tasks parked; worst: ${worstText(worstMs)}`,
    ),
  ].join('\n');
}

function worstText(worstMs: IsolationRow['worstMs']): string {
  return PART_NAMES.flatMap((part) =>
    worstMs[part] === null ? [] : `${part} ${worstMs[part].toFixed(0)} ms`,
  ).join(', ');
}
