/**
 * How much a replay slows down live deliveries. One merchant has live traffic at a steady rate; another's endpoint was
 * disabled while many events arrived. Live latency is measured before and during the replay, in one run of one service,
 * so that the ratio holds on any machine.
 */

import { type RunOptions, recorded, withService } from '../engine.ts';
import { EVENTS_PER_REQUEST, makeEvents, type Producer, pour, serialise, sleep } from '../load.ts';
import { type Latency, latencyOf, latencyText, wallClock } from '../measure.ts';
import { nameOf } from '../report/names.ts';
import type { Service } from '../service.ts';

export interface ReplayResult {
  readonly engine: string;
  readonly brokers: number;
  readonly eventsPerSecond: number;
  readonly replayed: number;
  readonly replaySeconds: number;
  /** The latency of live deliveries. */
  readonly before: Latency;
  readonly during: Latency;
  /** p99 during the replay, divided by p99 before. */
  readonly ratio: number;
}

const [LIVE, REPLAYED] = [0, 1];
/** The time until the router knows a changed endpoint. */
const DIRECTORY_MS = 1500;
const POLL_MS = 250;
/** Live events are posted in periods of this length, until the replay has ended. */
const STRETCH_SECONDS = 5;
/** The time limit for the last live deliveries after the last post. */
const ARRIVED_MS = 3000;

export function measureReplay(
  options: RunOptions & {
    readonly eventsPerSecond: number;
    readonly secondsBefore: number;
    readonly events: number;
  },
): Promise<ReplayResult> {
  return withService(options, 2, async (service, producer) => {
    const { receiver, engine, events, eventsPerSecond, secondsBefore } = options;
    const since = new Date(Math.floor(wallClock())).toISOString();
    await skip(service, events);
    const live = new LiveTraffic(service, producer, eventsPerSecond);
    await receiver.reset({ record: true });
    const postedBefore = await live.run(secondsBefore);
    await sleep(ARRIVED_MS);
    const arrivedBefore = await receiver.recorded();

    await receiver.reset({ record: true });
    const startedAt = wallClock();
    const replay = await service.ask(REPLAYED, 'POST', '/replay', { since, only: 'missing' });
    if (replay.count !== events)
      throw new Error(`${replay.count} of ${events} events were selected for the replay`);
    let endedAt = 0;
    const ended = replayEnded(service, `${replay.replay_uuid}`).then(() => {
      endedAt = wallClock();
    });
    const postedDuring = new Map<string, number>();
    while (endedAt === 0) {
      for (const [eventId, at] of await live.run(STRETCH_SECONDS)) postedDuring.set(eventId, at);
    }
    await ended;
    await sleep(ARRIVED_MS);
    const arrivedDuring = await receiver.recorded();
    // Events posted after the replay's end are not counted.
    for (const [eventId, at] of postedDuring) if (at > endedAt) postedDuring.delete(eventId);
    const before = latencyOf(postedBefore, arrivedBefore);
    const during = latencyOf(postedDuring, arrivedDuring);
    return {
      engine: engine.name,
      brokers: engine.brokerPids().length,
      eventsPerSecond,
      replayed: events,
      replaySeconds: (endedAt - startedAt) / 1000,
      before,
      during,
      ratio: during.p99Ms / before.p99Ms,
    };
  });
}

/** Publishes events for an endpoint that is disabled meanwhile. */
async function skip(service: Service, events: number): Promise<void> {
  const before = await service.recordedEntries();
  await service.ask(REPLAYED, 'PATCH', '', { status: 'disabled' });
  await sleep(DIRECTORY_MS);
  await service.prepare(makeEvents([service.merchantIds[REPLAYED] ?? ''], 100, 'skipped'));
  const publish = () => service.publish(EVENTS_PER_REQUEST);
  await pour(events / EVENTS_PER_REQUEST, publish, () => Promise.resolve());
  // One journal entry for each event: it was routed to no endpoint.
  await recorded(service, before + events);
  await service.ask(REPLAYED, 'PATCH', '', { status: 'active' });
  await sleep(DIRECTORY_MS);
}

/** Publishes live events one by one at a steady rate; each period has its own events. */
class LiveTraffic {
  readonly #service: Service;
  readonly #producer: Producer;
  readonly #perSecond: number;
  #stretches = 0;

  constructor(service: Service, producer: Producer, perSecond: number) {
    this.#service = service;
    this.#producer = producer;
    this.#perSecond = perSecond;
  }

  /** Returns the time at which each event was posted. */
  run(seconds: number): Promise<ReadonlyMap<string, number>> {
    this.#stretches += 1;
    const merchant = this.#service.merchantIds[LIVE] ?? '';
    const events = makeEvents([merchant], this.#perSecond * seconds, `live-${this.#stretches}`);
    return this.#producer.publishAt(this.#perSecond, serialise(events, 1));
  }
}

async function replayEnded(service: Service, replayId: string): Promise<void> {
  for (;;) {
    const { status, cancel_reason: reason } = await service.ask(REPLAYED, 'GET', `/replays/${replayId}`);
    if (status === 'completed') return;
    if (status !== 'running') throw new Error(`the replay ended with status ${status}: ${reason}`);
    await sleep(POLL_MS);
  }
}

export function replayText(result: ReplayResult): string {
  const { engine, brokers, eventsPerSecond, replayed, replaySeconds, before, during, ratio } = result;
  const line = (when: string, latency: Latency) =>
    `  ${when}: ${latency.deliveries} live deliveries, ${latencyText(latency)}`;
  return [
    `${nameOf(engine, brokers)}: ${eventsPerSecond} live events/s during a replay of ${replayed} in ${replaySeconds.toFixed(1)} s`,
    line('before', before),
    line('during', during),
    `  p99 during ÷ p99 before: ${ratio.toFixed(2)}`,
  ].join('\n');
}
