import { tierLasting } from '../../domain/retry.ts';
import type { Clock } from '../../process/clock.ts';
import { type Blame, Deadlines, type LaneBlame } from '../blame/blame.ts';
import { Backlog } from './backlog.ts';
import { EndpointState } from './endpoint-state.ts';
import type { LaneOptions } from './lane-options.ts';
import { type LanesOf, Pacing } from './pacing.ts';
import type { AttemptEnding, QueuedTask } from './queued-task.ts';
import { ReadyEndpoints } from './ready-endpoints.ts';
import { Waiting } from './waiting.ts';

/**
 * Decides which tasks may start now. A slow endpoint must not slow another: its attempts leave the fast lane after 200
 * ms, while in flight, and its further ones start in the slow lane, a few at a time.
 */
export class Lanes {
  readonly #clock: Clock;
  readonly #options: LaneOptions;
  readonly #endpoints = new Map<string, EndpointState>();
  readonly #blame: LaneBlame<QueuedTask>;
  /** Endpoints to check again although none of their attempts may end. */
  readonly #rechecks: Deadlines<EndpointState>;
  readonly #ready = new ReadyEndpoints((endpoint) => endpoint.kind(this.#clock.now()));
  /** Slow attempts that still hold a fast slot because the slow lane was full. */
  readonly #overdue = new Set<QueuedTask>();
  readonly #backlog: Backlog;
  readonly #waiting: Waiting;
  readonly #pacing: Pacing;
  #slow = 0;
  #demoted = 0;
  #isClosed = false;
  /** Called when tasks may no longer wait for this process although nothing was admitted or settled. */
  onFewerWaiting: () => void = () => {};

  constructor(clock: Clock, blame: Blame, options: LaneOptions, of: LanesOf = {}) {
    this.#clock = clock;
    this.#options = options;
    this.#waiting = new Waiting(options);
    this.#blame = blame.ofLanes(options, {
      demote: (task) => this.#demote(task),
      isFast: ({ place }) => place === 'fast',
      more: () => this.#pump(),
    });
    const recheck = { aheadMs: options.probeEveryMs, whenLate: 'fire' } as const;
    this.#rechecks = new Deadlines(clock, recheck, (endpoint) => this.#recheck(endpoint));
    this.#backlog = new Backlog(options, of.wake ?? null);
    this.#pacing = new Pacing(clock, of, (endpoint) => this.#markReady(endpoint));
  }

  get counts(): { fast: number; slow: number; waiting: number; demoted: number; endpoints: number } {
    const endpoints = this.#endpoints.size;
    return {
      fast: this.#blame.slots.taken,
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
    if (!this.#pacing.isFree(endpointId)) return false;
    return this.#endpoints.get(endpointId)?.waitsForUs(this.#clock.now()) ?? true;
  }

  /** Starts the task, now or when its turn comes, or parks it; one of its two callbacks will be called. */
  admit(task: QueuedTask): void {
    const now = this.#clock.now();
    const endpoint = this.#endpointOf(task.endpointId);
    this.#waiting.seen(endpoint, now);
    if (task.isBacklog) endpoint.parked.cameBack();
    if (this.#pacing.mustFollow(endpoint, task, now) || this.#waiting.isFull(endpoint, now)) {
      this.#park(endpoint, task, now);
      return;
    }
    const isFree = endpoint.queue.claimEntity(task);
    if (isFree && !endpoint.queue.hasNext && this.#hasSlot(endpoint) && this.#mayStart(endpoint, now)) {
      this.#start(endpoint, task);
      return;
    }
    task.place = 'waiting';
    this.#waiting.add(endpoint, now);
    if (isFree) endpoint.queue.push(task);
    // Counted with the new one: an endpoint may always have one task waiting.
    if (endpoint.queue.size > this.#waiting.limit(endpoint, now)) this.#parkOne(endpoint, now);
    if (this.#waiting.count > this.#options.waitingMax)
      this.#parkOne(this.#waiting.giver(endpoint, now), now);
    this.#recheckLater(endpoint, now);
    if (endpoint.hasRoom(now, this.#slow)) this.#markReady(endpoint);
  }

  /**
   * The attempt has ended. `retryAfterMs`: the pause that the receiver asked for. `receiverMs`: how long the receiver
   * certainly took; absent where no exchange has measured it.
   */
  settle(task: QueuedTask, result: AttemptEnding, retryAfterMs: number | null, receiverMs?: number): void {
    const endpoint = this.#endpoints.get(task.endpointId);
    if (!endpoint || task.place === 'over') return;
    const now = this.#clock.now();
    this.#pacing.look(endpoint);
    if (result === 'uncounted') endpoint.pace?.giveBack(task);
    const took = this.#blame.ended(task, now, receiverMs);
    this.#leave(endpoint, task);
    endpoint.ended(task, result, { now, took });
    if (retryAfterMs !== null) {
      endpoint.narrow(now + Math.min(retryAfterMs, this.#options.retryAfterMsMax));
    }
    this.#waiting.recount(endpoint, now);
    endpoint.queue.releaseEntity(task);
    if (endpoint.pace || (result !== 'success' && result !== 'uncounted')) this.#trim(endpoint, now);
    if (endpoint.hasRoom(now, this.#slow)) this.#markReady(endpoint);
    this.#pump();
    if (endpoint.isAnswering(now)) this.#backlog.refill(endpoint, this.#waiting.count, now);
    if (endpoint.isIdle && this.#endpoints.size > this.#options.endpointsMax)
      this.#endpoints.delete(endpoint.id);
  }

  /** Removes and returns every task that has not started; for our shutdown. */
  releaseWaiting(): QueuedTask[] {
    this.#isClosed = true;
    this.#pacing.stop();
    this.#rechecks.clear();
    const released: QueuedTask[] = [];
    for (const endpoint of this.#endpoints.values()) {
      for (let last = endpoint.queue.takeSurplus(false); last; last = endpoint.queue.takeSurplus(false)) {
        last.place = 'over';
        this.#waiting.remove(endpoint);
        released.push(last);
      }
    }
    this.#ready.clear();
    return released;
  }

  #endpointOf(endpointId: string): EndpointState {
    let endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) {
      endpoint = new EndpointState(endpointId, this.#options, this.#blame.silence());
      this.#endpoints.set(endpointId, endpoint);
    }
    return endpoint;
  }

  #start(endpoint: EndpointState, task: QueuedTask): void {
    const now = this.#clock.now();
    this.#blame.started(task, now);
    endpoint.pace?.started(task, now);
    endpoint.started(task, now);
    if (endpoint.isSlow) this.#enterSlow(endpoint, task);
    else {
      this.#blame.slots.take();
      task.place = 'fast';
    }
    if (task.place === 'slow') this.#blame.handshakes.start(task, endpoint.kind(now) === 'dark');
    else task.start();
  }

  #enterSlow(endpoint: EndpointState, task: QueuedTask): void {
    this.#slow += 1;
    endpoint.slow.add(task);
    task.place = 'slow';
  }

  #leave(endpoint: EndpointState, task: QueuedTask): void {
    if (task.place === 'slow') {
      this.#slow -= 1;
      endpoint.slow.delete(task);
      this.#moveOverdue();
    } else {
      this.#blame.slots.free();
      this.#overdue.delete(task);
    }
    task.place = 'over';
  }

  /** No response in time: the attempt continues, and its fast slot becomes free. */
  #demote(task: QueuedTask): void {
    const endpoint = this.#endpoints.get(task.endpointId);
    if (!endpoint || task.place === 'over') return;
    const now = this.#clock.now();
    task.time.turnSlow();
    endpoint.turnSlow();
    this.#waiting.recount(endpoint, now);
    if (task.place === 'fast') {
      this.#demoted += 1;
      this.#overdue.add(task);
      this.#moveOverdue();
    }
    endpoint.queue.releaseEntity(task);
    if (!endpoint.isAnswering(now)) this.#trim(endpoint, now);
    if (endpoint.hasRoom(now, this.#slow)) this.#markReady(endpoint);
    this.#pump();
    this.onFewerWaiting();
  }

  #moveOverdue(): void {
    for (const task of this.#overdue) {
      if (this.#slow >= this.#options.slowSlotsMost) return;
      this.#overdue.delete(task);
      this.#blame.slots.free();
      const endpoint = this.#endpoints.get(task.endpointId);
      if (endpoint) this.#enterSlow(endpoint, task);
    }
  }

  #recheckLater(endpoint: EndpointState, now: number): void {
    const waits = endpoint.queue.size > 0 || endpoint.parked.any;
    if (waits && !endpoint.recheck && !this.#isClosed) endpoint.recheck = this.#rechecks.add(endpoint, now);
  }

  /**
   * Probes an endpoint that does not answer, and brings back parked tasks where none waits. Once it is silent, or this
   * process is no longer late, its tasks do not wait for us any more, although none of its attempts ends or starts.
   */
  #recheck(endpoint: EndpointState): void {
    endpoint.recheck = null;
    const now = this.#clock.now();
    const areFewer = this.#waiting.recount(endpoint, now);
    if (endpoint.hasRoom(now, this.#slow)) {
      this.#markReady(endpoint);
      this.#backlog.refill(endpoint, this.#waiting.count, now);
    }
    this.#recheckLater(endpoint, now);
    if (areFewer) this.onFewerWaiting();
  }

  /** Parks the tasks that a failing endpoint cannot take in a few seconds: they wait in the broker, not here. */
  #trim(endpoint: EndpointState, now: number): void {
    const limit = this.#waiting.limit(endpoint, now);
    const last = endpoint.pace ? endpoint.queue.takeOver(limit) : [];
    for (const task of last) this.#parkTaken(endpoint, task, now);
    while (endpoint.queue.size > limit) this.#parkOne(endpoint, now);
  }

  /** Parks one task. For an endpoint that does not answer the newest stay: after its recovery nothing new is late. */
  #parkOne(endpoint: EndpointState, now: number): void {
    const { pace, queue } = endpoint;
    const keepsNewest = !endpoint.isHealthy(now) && !endpoint.isAnswering(now);
    const task = pace ? queue.takeOver(queue.size - 1)[0] : queue.takeSurplus(keepsNewest);
    if (task) this.#parkTaken(endpoint, task, now);
  }

  #parkTaken(endpoint: EndpointState, task: QueuedTask, now: number): void {
    this.#waiting.remove(endpoint);
    this.#park(endpoint, task, now);
  }

  #park(endpoint: EndpointState, task: QueuedTask, now: number): void {
    const { retryScale } = this.#options;
    const tier = tierLasting(this.#backlog.parkedSeconds(endpoint, now), retryScale);
    task.place = 'over';
    task.park(tier, this.#pacing.parked(endpoint, task, { now, ms: (tier * 1000) / retryScale }));
    this.#recheckLater(endpoint, now);
  }

  #mayStart(endpoint: EndpointState, now: number): boolean {
    return endpoint.hasRoom(now, this.#slow) && this.#pacing.mayStart(endpoint, now);
  }

  #hasSlot(endpoint: EndpointState): boolean {
    if (!endpoint.isSlow) return this.#blame.slots.hasRoom();
    const isDark = endpoint.kind(this.#clock.now()) === 'dark';
    return this.#slow < this.#options.slowSlots && this.#blame.handshakes.hasRoom(isDark);
  }

  #markReady(endpoint: EndpointState): void {
    if (!endpoint.queue.hasNext) return;
    this.#ready.add(endpoint);
    this.#pump();
  }

  /** Starts one attempt per endpoint and turn, so that an endpoint with a backlog does not take every free slot. */
  #pump(): void {
    const hasSlot = (endpoint: EndpointState) => this.#hasSlot(endpoint);
    for (let endpoint = this.#ready.next(hasSlot); endpoint; endpoint = this.#ready.next(hasSlot)) {
      const now = this.#clock.now();
      if (!this.#mayStart(endpoint, now)) continue;
      const task = endpoint.isSilent(now) ? endpoint.queue.nextProbe() : endpoint.queue.next();
      if (!task) continue;
      if (endpoint.queue.hasNext) this.#ready.add(endpoint);
      this.#waiting.remove(endpoint);
      this.#start(endpoint, task);
    }
  }
}
