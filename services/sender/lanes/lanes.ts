import { type Tier, tierLasting } from '../../domain/retry.ts';
import type { Clock } from '../../process/clock.ts';
import { type Deadline, Deadlines } from '../../process/deadlines.ts';
import { LinkedList } from '../../process/linked-list.ts';
import { Backlog } from './backlog.ts';
import { EndpointLane, type Turn } from './endpoint-lane.ts';
import { FastSlots } from './fast-slots.ts';
import type { LaneOptions } from './lane-options.ts';
import { Waiting } from './waiting.ts';

/** One task on its way through the lanes. Only the lanes write what is not readonly. */
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
  /** Whether its entity's next first attempt was let go. */
  hasReleased: boolean;
  /** It was started to see whether an endpoint that does not answer is back. */
  isProbe: boolean;
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
  /** Endpoints to look at again although none of their attempts may end. */
  readonly #looks: Deadlines<EndpointLane>;
  /** Endpoints that could start an attempt but for a free slot, the longest waiting first. */
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
  /** Called after an attempt was demoted, which nobody asked for: what waits may no longer wait for us. */
  onDemoted: () => void = () => {};

  /** `wake`: brings parked tasks of an endpoint back now, at most so many, and resolves with how many; null = cannot. */
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

  /** Tasks that wait for this process, so that taking more of them would make nothing faster. */
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

  /** The attempt has ended. `retryAfterMs`: the receiver asked for time. */
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

  /** Takes out every task that has not started; for our shutdown. */
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

  /** The response has not come in time: the attempt goes on, and its fast slot goes to another. */
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

  /** Tries an endpoint that does not answer once more, and asks for what is parked where nothing waits. */
  #look(lane: EndpointLane): void {
    lane.look = null;
    const now = this.#clock.now();
    if (lane.hasRoom(now, this.#slow)) {
      this.#markReady(lane);
      this.#backlog.refill(lane, this.#waiting.count, now);
    }
    this.#lookLater(lane, now);
  }

  /** A failing endpoint takes less; what it cannot take in a few seconds waits in the broker, not here. */
  #trim(lane: EndpointLane, now: number): void {
    const limit = this.#waiting.limit(lane, now);
    while (lane.queue.size > limit) this.#parkOne(lane, now);
  }

  /** For an endpoint that does not answer the newest stay: after its recovery nothing new is late. */
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
