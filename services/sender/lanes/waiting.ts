import { LinkedList } from '../../process/linked-list.ts';
import type { EndpointLane, LaneNode } from './endpoint-lane.ts';
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
  readonly #lanes = new LinkedList<LaneNode>();
  #count = 0;
  #forUs = 0;
  #lanesForUs = 0;

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
    return this.#lanesForUs >= spread ? this.#forUs : 0;
  }

  /** A task arrived for the endpoint. */
  seen(lane: EndpointLane, now: number): void {
    lane.seenIn = this.#inUse.seen(lane.seenIn, now);
  }

  add(lane: EndpointLane, now: number): void {
    this.#count += 1;
    this.#lanes.append(lane.busy);
    if (lane.waitsForUs(now)) this.#countForUs(lane, 1);
  }

  /** A task no longer waits: it was started, parked or released. */
  remove(lane: EndpointLane): void {
    this.#count -= 1;
    if (lane.waitingForUs > 0) this.#countForUs(lane, -1);
    if (lane.queue.size === 0) this.#lanes.remove(lane.busy);
  }

  /**
   * Stops counting the tasks of an endpoint that has become slow, silent or fails: they wait for it, and must not hold
   * up the intake. Returns whether fewer are counted.
   */
  recount(lane: EndpointLane, now: number): boolean {
    if (lane.waitingForUs === 0 || lane.waitsForUs(now)) return false;
    this.#countForUs(lane, -lane.waitingForUs);
    return true;
  }

  /**
   * Returns how many tasks may wait for the endpoint: while it is healthy, as many as there is room for; while it is
   * slow and answers, as many as it drains in `drainMs`; while it fails or is silent, a few. None gets more than its
   * share when room is short.
   */
  limit(lane: EndpointLane, now: number): number {
    const { waitingMax, waitingPerEndpointMin, waitingFailingMax, drainMs } = this.#options;
    const isShort = this.#count * 2 >= waitingMax;
    const share = Math.max(waitingPerEndpointMin, Math.floor(waitingMax / 2 / this.#lanes.size));
    const most = isShort ? share : waitingMax;
    if (lane.waitsForUs(now)) return most;
    const wanted = lane.isAnswering(now) ? lane.drainable(drainMs, now) : waitingFailingMax;
    return Math.max(1, Math.min(most, wanted));
  }

  /**
   * Returns the endpoint that gives up a task when there is no room for one of `lane`: itself, unless it waits for us.
   * Then another that does not.
   */
  giver(lane: EndpointLane, now: number): EndpointLane {
    if (!lane.waitsForUs(now)) return lane;
    for (let looked = 0; looked < LOOKED_AT_MAX && this.#lanes.first; looked += 1) {
      const { first } = this.#lanes;
      if (!first.lane.waitsForUs(now)) return first.lane;
      // The next look begins with another.
      this.#lanes.remove(first);
      this.#lanes.append(first);
    }
    return lane;
  }

  #countForUs(lane: EndpointLane, change: number): void {
    const before = lane.waitingForUs;
    lane.waitingForUs += change;
    this.#forUs += change;
    if (before === 0) this.#lanesForUs += 1;
    else if (lane.waitingForUs === 0) this.#lanesForUs -= 1;
  }
}
