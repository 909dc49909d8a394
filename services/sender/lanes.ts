import { type Tier, tierLasting } from '../domain/retry.ts';
import type { Clock } from '../runtime/clock.ts';
import { LinkedList } from '../runtime/linked-list.ts';
import { type Deadline, Deadlines } from './deadlines.ts';
import { EndpointLane, type Turn } from './endpoint-lane.ts';
import { FastSlots } from './fast-slots.ts';
import type { LaneOptions } from './lane-options.ts';
import { Backlog } from './lanes/backlog.ts';
import { Waiting } from './lanes/waiting.ts';

/** One task on its way through the lanes. Only the lanes write the fields that are not readonly. */
export interface Passage {
  readonly endpointId: string;
  /** First attempts of one entity leave one after the other; null for retries, which keep no order. */
  readonly entityId: string | null;
  /** It was parked before: new tasks go first. */
  readonly isBacklog: boolean;
  /** Called once when a slot is there. */
  start(): void;
  /** Called instead of `start` when the task must come again later. */
  park(tier: Tier): void;
  place: 'new' | 'waiting' | 'fast' | 'slow' | 'over';
  startedAt: number;
  deadline: Deadline<Passage> | null;
  lane: EndpointLane | null;
  /** Whether its entity's next first attempt was released. */
  hasReleased: boolean;
  /** It was started as a probe of an endpoint that does not answer. */
  isProbe: boolean;
}

/**
 * `rejected`: the receiver answered, but not with a 2xx; more requests at once would not make it worse. `failure`: it
 * did not answer, or asked for less (429, 503).
 */
export type PassageResult = 'success' | 'rejected' | 'failure' | 'uncounted';

/**
 * Decides which tasks may start now. A slow endpoint must not slow another: its attempts leave the fast lane after 200
 * ms, while in flight, and its further ones start in the slow lane, a few at a time.
 */
export class Lanes {
  readonly #clock: Clock;
  readonly #options: LaneOptions;
  readonly #endpoints = new Map<string, EndpointLane>();
  readonly #demotions: Deadlines<Passage>;
  /** Endpoints to check again although none of their attempts may end. */
  readonly #looks: Deadlines<EndpointLane>;
  /** Endpoints that could start an attempt if a slot were free, the longest waiting first. */
  readonly #readyFast = new LinkedList<Turn>();
  readonly #readySlow = new LinkedList<Turn>();
  /** Slow attempts that still hold a fast slot because the slow lane was full. */
  readonly #overdue = new Set<Passage>();
  readonly #fast: FastSlots;
  readonly #backlog: Backlog;
  readonly #waiting: Waiting;
  #slow = 0;
  #demoted = 0;
  #isClosed = false;
  /** Called after an attempt was demoted, which no caller requested: tasks may no longer wait for this process. */
  onDemoted: () => void = () => {};

  /**
   * `wake`: brings back at most so many parked tasks of an endpoint now, and resolves with their number; null =
   * cannot.
   */
  constructor(clock: Clock, options: LaneOptions, wake: Backlog['wake'] = null) {
    this.#clock = clock;
    this.#options = options;
    this.#waiting = new Waiting(options);
    const slots = { least: options.fastSlotsLeast, most: options.fastSlots };
    this.#fast = new FastSlots(clock, slots, () => this.#pump());
    const demotion = { aheadMs: options.demoteAfterMs, extendsWhenHeldUp: true };
    this.#demotions = new Deadlines(clock, demotion, (passage) => this.#demote(passage));
    const look = { aheadMs: options.probeEveryMs, extendsWhenHeldUp: false };
    this.#looks = new Deadlines(clock, look, (lane) => this.#look(lane));
    this.#backlog = new Backlog(options, wake);
  }

  get counts(): { fast: number; slow: number; waiting: number; demoted: number; endpoints: number } {
    const endpoints = this.#endpoints.size;
    return {
      fast: this.#fast.taken,
      slow: this.#slow,
      waiting: this.#waiting.count,
      demoted: this.#demoted,
      endpoints,
    };
  }

  /** Tasks that wait for this process alone: taking more from the broker would not make sending faster. */
  get waitingForUs(): number {
    return this.#waiting.forUs;
  }

  /** Starts the task, now or when its turn comes, or parks it; one of its two callbacks will be called. */
  admit(passage: Passage): void {
    const now = this.#clock.now();
    const lane = this.#laneOf(passage.endpointId);
    this.#waiting.seen(lane, now);
    passage.lane = lane;
    if (passage.isBacklog && lane.parked > 0) lane.parked -= 1;
    const isFree = lane.queue.claimEntity(passage);
    if (isFree && !lane.queue.hasNext && lane.hasRoom(now, this.#slow) && this.#hasSlot(lane)) {
      this.#start(lane, passage);
      return;
    }
    passage.place = 'waiting';
    this.#waiting.add(lane, now);
    if (isFree) lane.queue.push(passage);
    // Counted with the new one: an endpoint may always have one task waiting.
    if (lane.queue.size > this.#waiting.limit(lane, now) || this.#waiting.count > this.#options.waitingMax)
      this.#parkOne(lane, now);
    this.#lookLater(lane, now);
    if (lane.hasRoom(now, this.#slow)) this.#markReady(lane);
  }

  /** The attempt has ended. `retryAfterMs`: the pause that the receiver asked for. */
  settle(passage: Passage, result: PassageResult, retryAfterMs: number | null): void {
    const { lane } = passage;
    if (!lane || passage.place === 'over') return;
    const now = this.#clock.now();
    if (passage.deadline) this.#demotions.remove(passage.deadline);
    this.#leave(lane, passage);
    lane.ended(passage, result, now);
    if (retryAfterMs !== null) {
      lane.narrow(now + Math.min(retryAfterMs, this.#options.retryAfterMsMax));
    }
    this.#waiting.recount(lane, now);
    lane.queue.releaseEntity(passage);
    if (result === 'failure' || result === 'rejected') this.#trim(lane, now);
    if (lane.hasRoom(now, this.#slow)) this.#markReady(lane);
    this.#pump();
    if (result === 'success') this.#backlog.refill(lane, this.#waiting.count, now);
    if (lane.isIdle && this.#endpoints.size > this.#options.endpointsMax) this.#endpoints.delete(lane.id);
  }

  /** Removes and returns every task that has not started; for our shutdown. */
  releaseWaiting(): Passage[] {
    this.#isClosed = true;
    this.#looks.clear();
    const released: Passage[] = [];
    for (const lane of this.#endpoints.values()) {
      for (let last = lane.queue.takeSurplus(false); last; last = lane.queue.takeSurplus(false)) {
        last.place = 'over';
        this.#waiting.remove(lane);
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
    lane.started(passage, now);
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
    lane.slow.add(passage);
    passage.place = 'slow';
  }

  #leave(lane: EndpointLane, passage: Passage): void {
    if (passage.place === 'slow') {
      this.#slow -= 1;
      lane.slow.delete(passage);
      this.#moveOverdue();
    } else {
      this.#fast.free();
      this.#overdue.delete(passage);
    }
    passage.place = 'over';
  }

  /** No response in time: the attempt goes on, and its fast slot becomes free. */
  #demote(passage: Passage): void {
    const { lane } = passage;
    if (!lane || passage.place === 'over') return;
    const now = this.#clock.now();
    lane.turnSlow();
    this.#waiting.recount(lane, now);
    if (passage.place === 'fast') {
      this.#demoted += 1;
      this.#overdue.add(passage);
      this.#moveOverdue();
    }
    lane.queue.releaseEntity(passage);
    if (!lane.isAnswering(now)) this.#trim(lane, now);
    if (lane.hasRoom(now, this.#slow)) this.#markReady(lane);
    this.#pump();
    this.onDemoted();
  }

  #moveOverdue(): void {
    for (const passage of this.#overdue) {
      if (this.#slow >= this.#options.slowSlotsMost) return;
      this.#overdue.delete(passage);
      this.#fast.free();
      if (passage.lane) this.#enterSlow(passage.lane, passage);
    }
  }

  #lookLater(lane: EndpointLane, now: number): void {
    const waits = lane.queue.size > 0 || lane.parked > 0;
    if (waits && !lane.look && !this.#isClosed) lane.look = this.#looks.add(lane, now);
  }

  /** Probes an endpoint that does not answer, and brings back parked tasks where none waits. */
  #look(lane: EndpointLane): void {
    lane.look = null;
    const now = this.#clock.now();
    if (lane.hasRoom(now, this.#slow)) {
      this.#markReady(lane);
      this.#backlog.refill(lane, this.#waiting.count, now);
    }
    this.#lookLater(lane, now);
  }

  /** Parks the tasks that a failing endpoint cannot take in a few seconds: they wait in the broker, not here. */
  #trim(lane: EndpointLane, now: number): void {
    const limit = this.#waiting.limit(lane, now);
    while (lane.queue.size > limit) this.#parkOne(lane, now);
  }

  /** Parks one task. For an endpoint that does not answer the newest stay: after its recovery nothing new is late. */
  #parkOne(lane: EndpointLane, now: number): void {
    const passage = lane.queue.takeSurplus(!lane.isHealthy(now) && !lane.isAnswering(now));
    if (!passage) return;
    passage.place = 'over';
    this.#waiting.remove(lane);
    passage.park(tierLasting(this.#backlog.parkedSeconds(lane, now), this.#options.retryScale));
    this.#lookLater(lane, now);
  }

  #hasSlot(lane: EndpointLane): boolean {
    return lane.isSlow ? this.#slow < this.#options.slowSlots : this.#fast.hasRoom();
  }

  #markReady(lane: EndpointLane): void {
    if (!lane.queue.hasNext) return;
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

  /** Starts one attempt per endpoint and turn, so that an endpoint with a backlog does not take every free slot. */
  #pumpReady(ready: LinkedList<Turn>): void {
    for (let turn = ready.first; turn; turn = ready.first) {
      const { lane } = turn;
      if (!this.#hasSlot(lane)) {
        // It has turned slow, or fast again, since it was marked: now it waits for the other kind of slot.
        const other = this.#readyOf(lane);
        if (other === ready) return;
        other.append(turn);
        continue;
      }
      ready.remove(turn);
      const now = this.#clock.now();
      if (!lane.hasRoom(now, this.#slow)) continue;
      const passage = lane.isSilent(now) ? lane.queue.nextProbe() : lane.queue.next();
      if (!passage) continue;
      if (lane.queue.hasNext) ready.append(turn);
      this.#waiting.remove(lane);
      this.#start(lane, passage);
    }
  }
}
