import { tierLasting } from '../../domain/retry.ts';
import type { Clock } from '../../process/clock.ts';
import { Deadlines } from '../../process/deadlines.ts';
import { Backlog } from './backlog.ts';
import { Demotions } from './demotions.ts';
import { EndpointLane } from './endpoint-lane.ts';
import { FastSlots } from './fast-slots.ts';
import { Handshakes } from './handshakes.ts';
import type { LaneOptions } from './lane-options.ts';
import type { AttemptResult, QueuedTask } from './queued-task.ts';
import { ReadyLanes } from './ready-lanes.ts';
import { UsualAnswer } from './usual-answer.ts';
import { Waiting } from './waiting.ts';

/**
 * Decides which tasks may start now. A slow endpoint must not slow another: its attempts leave the fast lane after 200
 * ms, while in flight, and its further ones start in the slow lane, a few at a time.
 */
export class Lanes {
  readonly #clock: Clock;
  readonly #options: LaneOptions;
  readonly #endpoints = new Map<string, EndpointLane>();
  readonly #demotions: Demotions;
  /** Endpoints to check again although none of their attempts may end. */
  readonly #rechecks: Deadlines<EndpointLane>;
  readonly #ready = new ReadyLanes((lane) => lane.kind(this.#clock.now()));
  /** Slow attempts that still hold a fast slot because the slow lane was full. */
  readonly #overdue = new Set<QueuedTask>();
  readonly #fast: FastSlots;
  readonly #handshakes: Handshakes;
  readonly #backlog: Backlog;
  readonly #waiting: Waiting;
  readonly #usual = new UsualAnswer();
  #slow = 0;
  #demoted = 0;
  #isClosed = false;
  /** Called when tasks may no longer wait for this process although nothing was admitted or settled. */
  onFewerWaiting: () => void = () => {};

  /**
   * `wake`: brings back at most this many parked tasks of an endpoint now, and resolves with their number; null =
   * cannot.
   */
  constructor(clock: Clock, options: LaneOptions, wake: Backlog['wake'] = null) {
    this.#clock = clock;
    this.#options = options;
    this.#waiting = new Waiting(options);
    const slots = { least: options.fastSlotsLeast, most: options.fastSlots };
    const waitingSince = (at: number) => this.#demotions.fastWaitingSince(at);
    this.#fast = new FastSlots(clock, slots, waitingSince, () => this.#pump());
    this.#handshakes = new Handshakes(clock, options, () => this.#pump());
    this.#demotions = new Demotions(clock, options.demoteAfterMs, (task) => this.#demote(task));
    const recheck = { aheadMs: options.probeEveryMs, whenLate: 'fire' } as const;
    this.#rechecks = new Deadlines(clock, recheck, (lane) => this.#recheck(lane));
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

  /**
   * Returns whether an attempt starts slow: others to its endpoint are slow. The first slow one alone does not count: an
   * endpoint that was slow for a moment must be able to show that it has recovered.
   */
  startsSlow({ place, endpointId }: QueuedTask): boolean {
    return place === 'slow' && (this.#endpoints.get(endpointId)?.slow.size ?? 0) > 1;
  }

  /** Returns whether a task of the endpoint would be over soon, as far as is known. */
  isPrompt(endpointId: string): boolean {
    return this.#endpoints.get(endpointId)?.waitsForUs(this.#clock.now()) ?? true;
  }

  /** Starts the task, now or when its turn comes, or parks it; one of its two callbacks will be called. */
  admit(task: QueuedTask): void {
    const now = this.#clock.now();
    const lane = this.#laneOf(task.endpointId);
    this.#waiting.seen(lane, now);
    if (task.isBacklog && lane.parked > 0) lane.parked -= 1;
    const isFree = lane.queue.claimEntity(task);
    if (isFree && !lane.queue.hasNext && lane.hasRoom(now, this.#slow) && this.#hasSlot(lane)) {
      this.#start(lane, task);
      return;
    }
    task.place = 'waiting';
    this.#waiting.add(lane, now);
    if (isFree) lane.queue.push(task);
    // Counted with the new one: an endpoint may always have one task waiting.
    if (lane.queue.size > this.#waiting.limit(lane, now)) this.#parkOne(lane, now);
    if (this.#waiting.count > this.#options.waitingMax) this.#parkOne(this.#waiting.giver(lane, now), now);
    this.#recheckLater(lane, now);
    if (lane.hasRoom(now, this.#slow)) this.#markReady(lane);
  }

  /** The attempt cannot begin yet, for a reason of our own: no time of its receiver passes until `stepped`. */
  held(task: QueuedTask): void {
    this.#demotions.held(task);
  }

  /** Our part of the attempt is done again: it waits for the receiver from now on. */
  stepped(task: QueuedTask): void {
    this.#demotions.stepped(task);
  }

  /**
   * The attempt has ended. `retryAfterMs`: the pause that the receiver asked for. `receiverMs`: how long the receiver
   * certainly took; all the time since its start by default.
   */
  settle(task: QueuedTask, result: AttemptResult, retryAfterMs: number | null, receiverMs?: number): void {
    const lane = this.#endpoints.get(task.endpointId);
    if (!lane || task.place === 'over') return;
    const now = this.#clock.now();
    const took = receiverMs ?? now - task.startedAt;
    this.#demotions.ended(task);
    this.#leave(lane, task);
    lane.ended(task, result, {
      now,
      took: task.isDemoted ? Math.max(took, this.#options.demoteAfterMs) : took,
    });
    if (retryAfterMs !== null) {
      lane.narrow(now + Math.min(retryAfterMs, this.#options.retryAfterMsMax));
    }
    this.#waiting.recount(lane, now);
    lane.queue.releaseEntity(task);
    if (result !== 'success' && result !== 'uncounted') this.#trim(lane, now);
    if (lane.hasRoom(now, this.#slow)) this.#markReady(lane);
    this.#pump();
    if (lane.isAnswering(now)) this.#backlog.refill(lane, this.#waiting.count, now);
    if (lane.isIdle && this.#endpoints.size > this.#options.endpointsMax) this.#endpoints.delete(lane.id);
  }

  /** Removes and returns every task that has not started; for our shutdown. */
  releaseWaiting(): QueuedTask[] {
    this.#isClosed = true;
    this.#rechecks.clear();
    const released: QueuedTask[] = [];
    for (const lane of this.#endpoints.values()) {
      for (let last = lane.queue.takeSurplus(false); last; last = lane.queue.takeSurplus(false)) {
        last.place = 'over';
        this.#waiting.remove(lane);
        released.push(last);
      }
    }
    this.#ready.clear();
    return released;
  }

  #laneOf(endpointId: string): EndpointLane {
    let lane = this.#endpoints.get(endpointId);
    if (!lane) {
      lane = new EndpointLane(endpointId, this.#options, this.#usual);
      this.#endpoints.set(endpointId, lane);
    }
    return lane;
  }

  #start(lane: EndpointLane, task: QueuedTask): void {
    const now = this.#clock.now();
    task.startedAt = now;
    lane.started(task, now);
    if (lane.isSlow) this.#enterSlow(lane, task);
    else {
      this.#fast.take();
      task.place = 'fast';
    }
    this.#demotions.started(task, now);
    if (task.place === 'slow') this.#handshakes.start(task, lane.kind(now) === 'dark');
    else task.start();
  }

  #enterSlow(lane: EndpointLane, task: QueuedTask): void {
    this.#slow += 1;
    lane.slow.add(task);
    task.place = 'slow';
  }

  #leave(lane: EndpointLane, task: QueuedTask): void {
    if (task.place === 'slow') {
      this.#slow -= 1;
      lane.slow.delete(task);
      this.#moveOverdue();
    } else {
      this.#fast.free();
      this.#overdue.delete(task);
    }
    task.place = 'over';
  }

  /** No response in time: the attempt continues, and its fast slot becomes free. */
  #demote(task: QueuedTask): void {
    const lane = this.#endpoints.get(task.endpointId);
    if (!lane || task.place === 'over') return;
    const now = this.#clock.now();
    task.isDemoted = true;
    task.turnSlow();
    lane.turnSlow();
    this.#waiting.recount(lane, now);
    if (task.place === 'fast') {
      this.#demoted += 1;
      this.#overdue.add(task);
      this.#moveOverdue();
    }
    lane.queue.releaseEntity(task);
    if (!lane.isAnswering(now)) this.#trim(lane, now);
    if (lane.hasRoom(now, this.#slow)) this.#markReady(lane);
    this.#pump();
    this.onFewerWaiting();
  }

  #moveOverdue(): void {
    for (const task of this.#overdue) {
      if (this.#slow >= this.#options.slowSlotsMost) return;
      this.#overdue.delete(task);
      this.#fast.free();
      const lane = this.#endpoints.get(task.endpointId);
      if (lane) this.#enterSlow(lane, task);
    }
  }

  #recheckLater(lane: EndpointLane, now: number): void {
    const waits = lane.queue.size > 0 || lane.parked > 0;
    if (waits && !lane.recheck && !this.#isClosed) lane.recheck = this.#rechecks.add(lane, now);
  }

  /**
   * Probes an endpoint that does not answer, and brings back parked tasks where none waits. Once it is silent, or this
   * process is no longer late, its tasks do not wait for us any more, although none of its attempts ends or starts.
   */
  #recheck(lane: EndpointLane): void {
    lane.recheck = null;
    const now = this.#clock.now();
    const areFewer = this.#waiting.recount(lane, now);
    if (lane.hasRoom(now, this.#slow)) {
      this.#markReady(lane);
      this.#backlog.refill(lane, this.#waiting.count, now);
    }
    this.#recheckLater(lane, now);
    if (areFewer) this.onFewerWaiting();
  }

  /** Parks the tasks that a failing endpoint cannot take in a few seconds: they wait in the broker, not here. */
  #trim(lane: EndpointLane, now: number): void {
    const limit = this.#waiting.limit(lane, now);
    while (lane.queue.size > limit) this.#parkOne(lane, now);
  }

  /** Parks one task. For an endpoint that does not answer the newest stay: after its recovery nothing new is late. */
  #parkOne(lane: EndpointLane, now: number): void {
    const task = lane.queue.takeSurplus(!lane.isHealthy(now) && !lane.isAnswering(now));
    if (!task) return;
    task.place = 'over';
    this.#waiting.remove(lane);
    task.park(tierLasting(this.#backlog.parkedSeconds(lane, now), this.#options.retryScale));
    this.#recheckLater(lane, now);
  }

  #hasSlot(lane: EndpointLane): boolean {
    if (!lane.isSlow) return this.#fast.hasRoom();
    const isDark = lane.kind(this.#clock.now()) === 'dark';
    return this.#slow < this.#options.slowSlots && this.#handshakes.hasRoom(isDark);
  }

  #markReady(lane: EndpointLane): void {
    if (!lane.queue.hasNext) return;
    this.#ready.add(lane);
    this.#pump();
  }

  /** Starts one attempt per endpoint and turn, so that an endpoint with a backlog does not take every free slot. */
  #pump(): void {
    const hasSlot = (lane: EndpointLane) => this.#hasSlot(lane);
    for (let lane = this.#ready.next(hasSlot); lane; lane = this.#ready.next(hasSlot)) {
      const now = this.#clock.now();
      if (!lane.hasRoom(now, this.#slow)) continue;
      const task = lane.isSilent(now) ? lane.queue.nextProbe() : lane.queue.next();
      if (!task) continue;
      if (lane.queue.hasNext) this.#ready.add(lane);
      this.#waiting.remove(lane);
      this.#start(lane, task);
    }
  }
}
