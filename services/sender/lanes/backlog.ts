import { Allowance } from './allowance.ts';
import type { EndpointLane } from './endpoint-lane.ts';
import type { LaneOptions } from './lane-options.ts';

/** Parked tasks come up after one of these. Not later: an endpoint that recovers must not wait for its tasks. */
const SOON_SECONDS = 3;
const LATER_SECONDS = 66;
/** An endpoint that answers may have tasks come up again this many times before it has taken them. */
const SOON_ROUNDS = 4;
/** As much is brought back at once as the endpoint takes in this time, within these bounds. */
const REFILL_MS = 1000;
const REFILL_MIN = 8;
const REFILL_MAX = 256;
/** After this time a parked task is due by its own schedule. */
const PARKED_MS_MAX = (LATER_SECONDS + 10) * 1000;

/** The tasks that were parked: how long they are parked, and when they are brought back. */
export class Backlog {
  readonly wake: ((endpointId: string, most: number) => Promise<number>) | null;
  readonly #options: LaneOptions;
  readonly #soon: Allowance;

  constructor(options: LaneOptions, wake: Backlog['wake']) {
    this.#options = options;
    this.#soon = new Allowance(options.parkedSoonMs);
    this.wake = wake;
  }

  /**
   * Returns how long a task of the endpoint is parked, seconds. The shortest time while that is few tasks, or the endpoint
   * answers and takes them soon: all coming back every few seconds would be a storm.
   */
  parkedSeconds(lane: EndpointLane, now: number): number {
    if (this.wake) lane.parked += 1;
    lane.parkedAt = now;
    const { parkedSoonMs, parkedSoonPerEndpoint, parkedSoonMax } = this.#options;
    const takes =
      lane.isHealthy(now) || lane.isAnswering(now) ? SOON_ROUNDS * lane.drainable(parkedSoonMs, now) : 0;
    const isSoon =
      lane.soon.taken(now) < Math.max(takes, parkedSoonPerEndpoint) &&
      (takes > 0 || this.#soon.taken(now) < parkedSoonMax);
    if (!isSoon) return LATER_SECONDS;
    lane.soon.take();
    if (takes === 0) this.#soon.take();
    return SOON_SECONDS;
  }

  /** Brings parked tasks back: as many as an endpoint that answers takes soon, one to try an endpoint that does not. */
  refill(lane: EndpointLane, waiting: number, now: number): void {
    if (!this.wake || lane.isWaking || lane.parked === 0) return;
    const most = this.#wanted(lane, waiting, now);
    if (most <= 0) return;
    lane.isWaking = true;
    this.wake(lane.id, most).then(
      (woken) => this.#woken(lane, woken, now),
      () => this.#woken(lane, 0, now),
    );
  }

  #wanted(lane: EndpointLane, waiting: number, now: number): number {
    const { size } = lane.queue;
    const answers = lane.isHealthy(now) || lane.isAnswering(now);
    if (!answers) return size === 0 ? 1 : 0;
    const takes = Math.min(REFILL_MAX, Math.max(REFILL_MIN, lane.drainable(REFILL_MS, now)));
    const room = Math.max(REFILL_MIN, this.#options.waitingMax / 2 - waiting);
    return size * 2 > takes ? 0 : Math.floor(Math.min(takes - size, room));
  }

  /** Finding no parked task does not mean that there is none: on a full disk they become durable late. */
  #woken(lane: EndpointLane, woken: number, now: number): void {
    lane.isWaking = false;
    if (woken === 0 && now - lane.parkedAt >= PARKED_MS_MAX) lane.parked = 0;
  }
}
