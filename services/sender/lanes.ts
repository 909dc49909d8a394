import type { Tier } from '../domain/retry.ts';
import type { Clock } from '../runtime/clock.ts';
import { LinkedList } from '../runtime/linked-list.ts';
import { type Deadline, Deadlines } from './deadlines.ts';
import { EndpointLane, type Turn } from './endpoint-lane.ts';
import { FastSlots } from './fast-slots.ts';
import { type LaneOptions, slowMost } from './lane-options.ts';

/** One task on its way through the lanes. Only the lanes write what is not readonly. */
export interface Passage {
  readonly endpointId: string;
  /** First attempts of one entity leave one after the other; null for retries, which keep no order. */
  readonly entityId: string | null;
  /** Called once when a slot is there. */
  start(): void;
  /** Called instead of `start` when the task must come again later. */
  park(tier: Tier): void;
  place: 'new' | 'waiting' | 'fast' | 'slow' | 'over';
  startedAt: number;
  deadline: Deadline<Passage> | null;
  lane: EndpointLane | null;
  /** Whether its entity's next first attempt was let go. */
  hasReleased: boolean;
}

/**
 * `rejected`: the receiver answered, and not with a 2xx; more at once would not make it worse. `failure`: it did not
 * answer, or asked for less (429, 503).
 */
export type PassageResult = 'success' | 'rejected' | 'failure' | 'uncounted';

/**
 * Who may send now. A slow endpoint must not slow another: its attempts leave the fast lane after 200 ms, while in
 * flight, and from then on its further ones start in the slow lane, a few at a time.
 */
export class Lanes {
  readonly #clock: Clock;
  readonly #options: LaneOptions;
  readonly #endpoints = new Map<string, EndpointLane>();
  readonly #demotions: Deadlines<Passage>;
  /** Endpoints that could start an attempt but for a free slot, the longest waiting first. */
  readonly #readyFast = new LinkedList<Turn>();
  readonly #readySlow = new LinkedList<Turn>();
  /** Slow attempts that still hold a fast slot because the slow lane was full. */
  readonly #overdue = new Set<Passage>();
  readonly #fast: FastSlots;
  #slow = 0;
  #waiting = 0;
  #waitingForUs = 0;
  readonly #lanesWaiting = new LinkedList<Turn>();
  #demoted = 0;
  /** Called after an attempt was demoted, which nobody asked for: what waits may no longer wait for us. */
  onDemoted: () => void = () => {};

  constructor(clock: Clock, options: LaneOptions) {
    this.#clock = clock;
    this.#options = options;
    const slots = { least: options.fastSlotsLeast, most: options.fastSlots };
    this.#fast = new FastSlots(clock, slots, () => this.#pump());
    this.#demotions = new Deadlines(clock, options.demoteAfterMs, (passage) => this.#demote(passage));
  }

  get counts(): { fast: number; slow: number; waiting: number; demoted: number; endpoints: number } {
    const endpoints = this.#endpoints.size;
    return {
      fast: this.#fast.taken,
      slow: this.#slow,
      waiting: this.#waiting,
      demoted: this.#demoted,
      endpoints,
    };
  }

  /** Tasks of healthy endpoints that wait: for a slot or their window, so in the end for us. */
  get waitingForUs(): number {
    return this.#waitingForUs;
  }

  /** Starts the task, now or when its turn comes, or parks it; one of its two callbacks will be called. */
  admit(passage: Passage): void {
    const lane = this.#laneOf(passage.endpointId);
    passage.lane = lane;
    const isFree = lane.claimEntity(passage);
    if (isFree && lane.isEmpty && lane.hasRoom(this.#clock.now(), this.#slowMost) && this.#hasSlot(lane)) {
      this.#start(lane, passage);
      return;
    }
    passage.place = 'waiting';
    this.#waiting += 1;
    this.#lanesWaiting.append(lane.busy);
    if (lane.isHealthy(this.#clock.now())) this.#countForUs(lane, 1);
    if (isFree) lane.waiting.push(passage);
    // Counted with the new one: an endpoint may always have one task waiting.
    if (lane.waitingCount > this.#waitingLimit(lane) || this.#waiting > this.#options.waitingMax) {
      this.#park(lane, lane.takeLast());
    }
    if (lane.hasRoom(this.#clock.now(), this.#slowMost)) this.#markReady(lane);
  }

  /** The attempt has ended. `retryAfterMs`: the receiver asked for time. */
  settle(passage: Passage, result: PassageResult, retryAfterMs: number | null): void {
    const { lane } = passage;
    if (!lane || passage.place === 'over') return;
    const now = this.#clock.now();
    if (passage.deadline) this.#demotions.remove(passage.deadline);
    this.#leave(lane, passage);
    lane.learn(result, now - passage.startedAt, now);
    if (retryAfterMs !== null) {
      lane.narrow(now + Math.min(retryAfterMs, this.#options.retryAfterMsMax));
    }
    this.#recountForUs(lane, now);
    this.#next(lane, passage);
    if (result === 'failure' || result === 'rejected') this.#trim(lane);
    if (lane.hasRoom(now, this.#slowMost)) this.#markReady(lane);
    this.#pump();
    if (lane.isIdle && this.#endpoints.size > this.#options.endpointsMax) this.#endpoints.delete(lane.id);
  }

  /** Takes out every task that has not started; for our shutdown. */
  releaseWaiting(): Passage[] {
    const released: Passage[] = [];
    for (const lane of this.#endpoints.values()) {
      for (let last = lane.takeLast(); last; last = lane.takeLast()) {
        last.place = 'over';
        this.#waitsNoLonger(lane);
        released.push(last);
      }
    }
    this.#readyFast.clear();
    this.#readySlow.clear();
    return released;
  }

  #laneOf(endpointId: string): EndpointLane {
    let lane = this.#endpoints.get(endpointId);
    if (!lane) {
      lane = new EndpointLane(endpointId, this.#options);
      this.#endpoints.set(endpointId, lane);
    }
    return lane;
  }

  #start(lane: EndpointLane, passage: Passage): void {
    const now = this.#clock.now();
    passage.startedAt = now;
    lane.inFlight += 1;
    if (lane.isSlow) this.#enterSlow(lane, passage);
    else {
      this.#fast.take();
      passage.place = 'fast';
    }
    passage.deadline = this.#demotions.add(passage, now);
    passage.start();
  }

  #enterSlow(lane: EndpointLane, passage: Passage): void {
    this.#slow += 1;
    lane.slow += 1;
    passage.place = 'slow';
  }

  #leave(lane: EndpointLane, passage: Passage): void {
    lane.inFlight -= 1;
    if (passage.place === 'slow') {
      this.#slow -= 1;
      lane.slow -= 1;
      this.#moveOverdue();
    } else {
      this.#fast.free();
      this.#overdue.delete(passage);
    }
    passage.place = 'over';
  }

  /** The response has not come in time: the attempt goes on, and its fast slot goes to another. */
  #demote(passage: Passage): void {
    const { lane } = passage;
    if (!lane || passage.place === 'over') return;
    lane.turnSlow();
    this.#recountForUs(lane, this.#clock.now());
    if (passage.place === 'fast') {
      this.#demoted += 1;
      this.#overdue.add(passage);
      this.#moveOverdue();
    }
    this.#next(lane, passage);
    if (!lane.isAnswering(this.#clock.now())) this.#trim(lane);
    if (lane.hasRoom(this.#clock.now(), this.#slowMost)) this.#markReady(lane);
    this.#pump();
    this.onDemoted();
  }

  #moveOverdue(): void {
    for (const passage of this.#overdue) {
      if (this.#slow >= this.#options.slowSlots) return;
      this.#overdue.delete(passage);
      this.#fast.free();
      if (passage.lane) this.#enterSlow(passage.lane, passage);
    }
  }

  /** The entity's next first attempt may start now. */
  #next(lane: EndpointLane, passage: Passage): void {
    const next = lane.releaseEntity(passage);
    if (next) lane.waiting.push(next);
  }

  /** A failing endpoint takes less; what it cannot take in a few seconds waits in the broker, not here. */
  #trim(lane: EndpointLane): void {
    const limit = this.#waitingLimit(lane);
    while (lane.waitingCount > limit) this.#park(lane, lane.takeLast());
  }

  #park(lane: EndpointLane, passage: Passage | null): void {
    if (!passage) return;
    passage.place = 'over';
    this.#waitsNoLonger(lane);
    passage.park(lane.parkingTier(this.#clock.now(), this.#slowMost));
  }

  /**
   * A healthy endpoint is not parked: it drains its queue in a moment, and when it does not, we are the slow ones. A slow
   * one that answers may have as much waiting as it drains in `drainMs`; one that fails or is silent also gets no more
   * than its share when room is short.
   */
  #waitingLimit(lane: EndpointLane): number {
    const { waitingMax, waitingPerEndpointMin } = this.#options;
    const now = this.#clock.now();
    if (lane.isHealthy(now)) return waitingMax;
    const share = Math.max(waitingPerEndpointMin, Math.floor(waitingMax / 2 / this.#lanesWaiting.size));
    const isShort = this.#waiting * 2 >= waitingMax && !lane.isAnswering(now);
    const most = isShort ? share : waitingMax;
    return Math.max(1, Math.min(most, lane.drainable(now, this.#slowMost)));
  }

  get #slowMost(): number {
    return slowMost(this.#options, this.#slow);
  }

  #countForUs(lane: EndpointLane, change: number): void {
    lane.waitingForUs += change;
    this.#waitingForUs += change;
  }

  /** What waits for an endpoint that is slow or fails waits for that endpoint, and must not hold up the intake. */
  #recountForUs(lane: EndpointLane, now: number): void {
    if (lane.waitingForUs > 0 && !lane.isHealthy(now)) this.#countForUs(lane, -lane.waitingForUs);
  }

  #waitsNoLonger(lane: EndpointLane): void {
    this.#waiting -= 1;
    if (lane.waitingForUs > 0) this.#countForUs(lane, -1);
    if (lane.waitingCount === 0) this.#lanesWaiting.remove(lane.busy);
  }

  #hasSlot(lane: EndpointLane): boolean {
    return lane.isSlow ? this.#slow < this.#options.slowSlots : this.#fast.hasRoom();
  }

  #markReady(lane: EndpointLane): void {
    if (lane.waiting.length === 0) return;
    this.#readyOf(lane).append(lane.ready);
    this.#pump();
  }

  #readyOf(lane: EndpointLane): LinkedList<Turn> {
    return lane.isSlow ? this.#readySlow : this.#readyFast;
  }

  #pump(): void {
    this.#pumpReady(this.#readyFast);
    this.#pumpReady(this.#readySlow);
  }

  /** One attempt per endpoint and turn, so that one with much waiting does not take every free slot. */
  #pumpReady(ready: LinkedList<Turn>): void {
    for (let turn = ready.first; turn; turn = ready.first) {
      const { lane } = turn;
      if (!this.#hasSlot(lane)) {
        // It turned slow, or fast again, since it was marked: it waits for the other kind of slot now.
        const other = this.#readyOf(lane);
        if (other === ready) return;
        other.append(turn);
        continue;
      }
      ready.remove(turn);
      if (!lane.hasRoom(this.#clock.now(), this.#slowMost)) continue;
      const passage = lane.waiting.shift();
      if (!passage) continue;
      if (lane.waiting.length > 0) ready.append(turn);
      this.#waitsNoLonger(lane);
      this.#start(lane, passage);
    }
  }
}
