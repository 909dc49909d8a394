import { Allowance } from './allowance.ts';
import type { EndpointState } from './endpoint-state.ts';
import type { LaneOptions } from './lane-options.ts';

/** Parked tasks come up after one of these, but no later: a recovered endpoint must not wait for its tasks. */
const SOON_SECONDS = 3;
const LATER_SECONDS = 66;
/** An endpoint that answers may have tasks come up this many times before it has taken them. */
const SOON_ROUNDS = 4;
/** A refill brings back as many tasks as the endpoint takes in this time, within these bounds. */
const REFILL_MS = 1000;
const REFILL_MIN = 8;
const REFILL_MAX = 256;
/** After this time a parked task is due by its own schedule. */
const PARKED_MS_MAX = (LATER_SECONDS + 10) * 1000;

/** The parked tasks: decides how long they are parked, and brings them back. */
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
   * Returns how long a task of the endpoint is parked, in seconds: the shortest time while it waits for us, while few
   * tasks are parked, or while the endpoint answers and will take them soon. Bringing all back every few seconds would
   * overload everything.
   */
  parkedSeconds(endpoint: EndpointState, now: number): number {
    endpoint.parked.add(now, this.wake !== null);
    const { parkedSoonMs, parkedSoonPerEndpoint, parkedSoonMax } = this.#options;
    if (endpoint.waitsForUs(now)) return SOON_SECONDS;
    if (endpoint.isLimitedHere(now)) return this.#pacedSeconds(endpoint, now);
    const takes = endpoint.isAnswering(now) ? SOON_ROUNDS * endpoint.drainable(parkedSoonMs, now) : 0;
    const isSoon =
      endpoint.parked.soon.taken(now) < Math.max(takes, parkedSoonPerEndpoint) &&
      (takes > 0 || this.#soon.taken(now) < parkedSoonMax);
    if (!isSoon) return LATER_SECONDS;
    endpoint.parked.soon.take();
    if (takes === 0) this.#soon.take();
    return SOON_SECONDS;
  }

  /**
   * The same for one that has a limit of its own: all for the same time where they can be brought back, so that they keep
   * their order; else as many for the shortest as it takes until the others come.
   */
  #pacedSeconds(endpoint: EndpointState, now: number): number {
    if (this.wake) return LATER_SECONDS;
    const { soon } = endpoint.parked;
    const most = Math.min(this.#options.parkedSoonMax, endpoint.drainable(LATER_SECONDS * 1000, now));
    if (soon.taken(now) >= most) return LATER_SECONDS;
    soon.take();
    return SOON_SECONDS;
  }

  /**
   * Brings parked tasks back: as many as an endpoint that answers takes soon, or one to probe an endpoint that does
   * not.
   */
  refill(endpoint: EndpointState, waiting: number, now: number): void {
    const { wake } = this;
    if (!wake || !endpoint.parked.canCome) return;
    const most = this.#wanted(endpoint, waiting, now);
    if (most > 0) endpoint.parked.bringBack(() => wake(endpoint.id, most), now, PARKED_MS_MAX);
  }

  #wanted(endpoint: EndpointState, waiting: number, now: number): number {
    const { size } = endpoint.queue;
    const room = Math.max(REFILL_MIN, this.#options.waitingMax / 2 - waiting);
    if (endpoint.isLimitedHere(now)) {
      const most = Math.min(REFILL_MAX, endpoint.limitedMost(this.#options.drainMs));
      return size * 2 > most ? 0 : Math.floor(Math.min(most - size, room));
    }
    const answers = endpoint.waitsForUs(now) || endpoint.isAnswering(now);
    if (!answers) return size === 0 ? 1 : 0;
    const takes = Math.min(REFILL_MAX, Math.max(REFILL_MIN, endpoint.drainable(REFILL_MS, now)));
    return size * 2 > takes ? 0 : Math.floor(Math.min(takes - size, room));
  }
}
