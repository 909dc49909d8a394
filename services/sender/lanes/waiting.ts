import { LinkedList } from '../../process/linked-list.ts';
import type { EndpointNode, EndpointState } from './endpoint-state.ts';
import { EndpointsInUse } from './in-use.ts';
import type { LaneOptions } from './lane-options.ts';

/**
 * While this many endpoints have tasks waiting, most endpoints are held up anyway, so pausing the intake harms no
 * others.
 */
const SPREAD = 32;
/** With fewer endpoints in use, this share of them. */
const SPREAD_SHARE = 0.25;
/** Endpoints looked at to find one whose task makes room. */
const LOOKED_AT_MAX = 16;

/** The tasks that wait in memory over all endpoints: how many, and how many of them wait for this process. */
export class Waiting {
  readonly #options: LaneOptions;
  readonly #inUse = new EndpointsInUse();
  readonly #lanes = new LinkedList<EndpointNode>();
  #count = 0;
  #forUs = 0;
  #endpointsForUs = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Tasks of healthy endpoints, which wait for a slot or their window, so in the end for this process. Zero while they
   * belong to only a few of many endpoints: then those are the bottleneck, and the others' tasks must get past them.
   */
  get forUs(): number {
    const spread = Math.min(SPREAD, Math.ceil(this.#inUse.count * SPREAD_SHARE));
    return this.#endpointsForUs >= spread ? this.#forUs : 0;
  }

  /** A task arrived for the endpoint. */
  seen(endpoint: EndpointState, now: number): void {
    endpoint.seenIn = this.#inUse.seen(endpoint.seenIn, now);
  }

  add(endpoint: EndpointState, now: number): void {
    this.#count += 1;
    this.#lanes.append(endpoint.busy);
    if (endpoint.waitsForUs(now)) this.#countForUs(endpoint, 1);
  }

  /** A task no longer waits: it was started, parked or released. */
  remove(endpoint: EndpointState): void {
    this.#count -= 1;
    if (endpoint.waitingForUs > 0) this.#countForUs(endpoint, -1);
    if (endpoint.queue.size === 0) this.#lanes.remove(endpoint.busy);
  }

  /**
   * Stops counting the tasks of an endpoint that has become slow, silent or fails: they wait for it, and must not hold
   * up the intake. Returns whether fewer are counted.
   */
  recount(endpoint: EndpointState, now: number): boolean {
    if (endpoint.waitingForUs === 0 || endpoint.waitsForUs(now)) return false;
    this.#countForUs(endpoint, -endpoint.waitingForUs);
    return true;
  }

  /**
   * Returns how many tasks may wait for the endpoint: while it is healthy, as many as there is room for; while it is
   * slow and answers, or has a limit of its own, as many as it drains in `drainMs`; while it fails or is silent, a few.
   * None gets more than its share when room is short.
   */
  limit(endpoint: EndpointState, now: number): number {
    const { waitingMax, waitingPerEndpointMin, waitingFailingMax, drainMs } = this.#options;
    const isShort = this.#count * 2 >= waitingMax;
    const share = Math.max(waitingPerEndpointMin, Math.floor(waitingMax / 2 / this.#lanes.size));
    const most = isShort ? share : waitingMax;
    if (endpoint.waitsForUs(now)) return most;
    const wanted = endpoint.isLimitedHere(now)
      ? endpoint.limitedMost(drainMs)
      : endpoint.isAnswering(now)
        ? endpoint.drainable(drainMs, now)
        : waitingFailingMax;
    return Math.max(1, Math.min(most, wanted));
  }

  /** Returns whether an endpoint with a limit of its own has as many tasks waiting as it gets soon. */
  isFull(endpoint: EndpointState, now: number): boolean {
    return endpoint.pace !== null && endpoint.queue.size >= this.limit(endpoint, now);
  }

  /**
   * Returns the endpoint that gives up a task when there is no room for one of `endpoint`: itself, unless it waits for us.
   * Then another that does not.
   */
  giver(endpoint: EndpointState, now: number): EndpointState {
    if (!endpoint.waitsForUs(now)) return endpoint;
    for (let looked = 0; looked < LOOKED_AT_MAX && this.#lanes.first; looked += 1) {
      const { first } = this.#lanes;
      if (!first.endpoint.waitsForUs(now)) return first.endpoint;
      // The next look begins with another.
      this.#lanes.remove(first);
      this.#lanes.append(first);
    }
    return endpoint;
  }

  #countForUs(endpoint: EndpointState, change: number): void {
    const before = endpoint.waitingForUs;
    endpoint.waitingForUs += change;
    this.#forUs += change;
    if (before === 0) this.#endpointsForUs += 1;
    else if (endpoint.waitingForUs === 0) this.#endpointsForUs -= 1;
  }
}
