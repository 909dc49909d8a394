import { ListNode } from '../../process/linked-list.ts';
import type { Deadline, Silence } from '../blame/blame.ts';
import { type LaneOptions, slowMost } from './lane-options.ts';
import type { EndpointPace } from './paces.ts';
import { ParkedTasks } from './parked-tasks.ts';
import type { AttemptEnding, QueuedTask } from './queued-task.ts';
import { TaskQueue } from './task-queue.ts';

/** The weight of one attempt's duration in the mean. */
const MEAN_WEIGHT = 0.2;
const MEAN_MS_START = 50;
/** A response younger than this shows that an endpoint answers, even while other attempts hang. */
const ANSWERING_MS = 1000;
/** An endpoint that takes longer than this, with its window at its widest, limits the speed of a burst itself. */
const QUICK_MS = 40;

/** Tasks that may wait for an endpoint of the lowest limit. */
const PACED_MIN = 8;
/** The time in which its limit and its answers are compared. */
const MEASURE_MS = 10_000;

/** The kind of slot that an attempt takes. */
export type Kind = 'fast' | 'slow' | 'dark';

/** When an attempt ended, and how long the receiver took, milliseconds. */
interface Ended {
  readonly now: number;
  readonly took: number;
}

/** An endpoint's place in a list of waiting endpoints. */
export class EndpointNode extends ListNode<EndpointNode> {
  readonly endpoint: EndpointState;

  constructor(endpoint: EndpointState) {
    super();
    this.endpoint = endpoint;
  }
}

/**
 * The state of one endpoint: its window, the tasks that wait for it, how long its attempts take.
 *
 *     quick ─ an attempt has had no response for `demoteAfterMs` ──► slow: new attempts start in the slow lane
 *     slow ─ an attempt ends within `demoteAfterMs` ──► quick
 *     slow ─ no response for a second while slow attempts hang ──► silent: a probe now and then
 *     silent ─ any response, or the last slow attempt ends ──► slow; a success also forgets the attempts that hang
 */
export class EndpointState {
  readonly id: string;
  readonly queue = new TaskQueue();
  /** Its place among the endpoints that could start an attempt if a slot were free. */
  readonly ready = new EndpointNode(this);
  /** Its place among the endpoints with waiting tasks. */
  readonly busy = new EndpointNode(this);
  /** When it is checked again although none of its attempts has ended. */
  recheck: Deadline<EndpointState> | null = null;
  /** The number of its waiting tasks that wait for this process alone; kept by the lanes. */
  waitingForUs = 0;
  /** The last period in which a task arrived for it. */
  seenIn = -1;
  readonly parked: ParkedTasks;
  /** Spaces its attempts out; null: it has no limit of its own. Kept by the lanes. */
  pace: EndpointPace | null = null;
  inFlight = 0;
  probes = 0;
  /** Attempts in the slow lane. */
  readonly slow = new Set<QueuedTask>();
  /** Its last slow attempt has not been followed by a quick one: further attempts start in the slow lane. */
  isSlow = false;
  readonly #options: LaneOptions;
  readonly #silence: Silence;
  #window: number;
  #meanMs = MEAN_MS_START;
  /** The last attempt that counts was no success, and no quick rejection. */
  #hasFailed = false;
  /** It was a success, or any other answer that came quickly. */
  #hasAnswered = true;
  /** It ended without an answer. */
  #isUnanswered = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #answeredSlowlyAt = Number.NEGATIVE_INFINITY;
  /** Attempts started before this were in flight when the endpoint recovered: their failures do not count. */
  #hungBefore = Number.NEGATIVE_INFINITY;
  #hung = 0;
  #narrowUntil = 0;

  constructor(id: string, options: LaneOptions, silence: Silence) {
    this.id = id;
    this.#silence = silence;
    this.#options = options;
    this.#window = options.windowStart;
    this.parked = new ParkedTasks(options.parkedSoonMs);
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.queue.size === 0 && !this.parked.any;
  }

  /** Returns whether another attempt may start. `slow`: slow attempts in flight over all endpoints. */
  hasRoom(now: number, slow: number): boolean {
    const options = this.#options;
    const isAnswering = this.isAnswering(now);
    if (this.#slowOnes >= slowMost(options, slow, isAnswering)) return false;
    if (!this.isSilent(now)) return this.inFlight - this.#hung < this.#windowAt(now);
    if (this.inFlight === 0) return true;
    return this.probes < options.probesMax && now - this.#startedAt >= options.probeEveryMs;
  }

  /** An attempt starts. */
  started(task: QueuedTask, now: number): void {
    task.isProbe = this.isSilent(now);
    if (task.isProbe) this.probes += 1;
    // Nothing was sent to it before: its silence begins now.
    if (this.inFlight === 0) this.#silence.heard(now);
    this.inFlight += 1;
    this.#startedAt = now;
  }

  /** An attempt has ended: adjusts the window and the mean duration to its result. */
  ended(task: QueuedTask, result: AttemptEnding, { now, took }: Ended): void {
    this.inFlight -= 1;
    if (task.isProbe) this.probes -= 1;
    const { startedAt } = task.time;
    const wasHung = startedAt < this.#hungBefore;
    if (wasHung && this.#hung > 0) this.#hung -= 1;
    if (result === 'uncounted' || (wasHung && result === 'failure')) return;
    this.#learn(result, startedAt, { now, took });
  }

  #learn(result: Exclude<AttemptEnding, 'uncounted'>, startedAt: number, { now, took }: Ended): void {
    const isQuick = took < this.#options.demoteAfterMs;
    const isBack = result === 'success' && this.isSilent(now);
    this.#meanMs += MEAN_WEIGHT * (took - this.#meanMs);
    this.#hasAnswered = result === 'success' || (isQuick && result !== 'failure');
    this.#hasFailed = !this.#hasAnswered || result === 'busy';
    this.#isUnanswered = result === 'failure';
    if (result !== 'failure' || isQuick) this.#silence.heard(now);
    if (result === 'success') this.#silence.succeeded(now - startedAt);
    if (this.#hasAnswered) {
      this.#answeredAt = now;
      if (!isQuick) this.#answeredSlowlyAt = now;
    }
    this.#window = this.#windowAfter(result, isQuick);
    if (isBack) this.#comeBack(startedAt);
    if (isQuick && this.isSlow) {
      this.isSlow = false;
      this.#meanMs = took;
    }
  }

  /** The endpoint has recovered: attempts that still hang neither fill its window nor narrow it. */
  #comeBack(startedAt: number): void {
    this.#hungBefore = startedAt;
    this.#hung = 0;
    for (const each of this.slow) if (each.time.startedAt < startedAt) this.#hung += 1;
    this.#window = Math.max(this.#window, this.#options.windowStart);
  }

  /**
   * Returns the new window. A receiver that answers quickly keeps its pace, whatever it answers: its schedule sets how
   * many requests it gets, and a narrow window only makes them late.
   */
  #windowAfter(result: Exclude<AttemptEnding, 'uncounted'>, isQuick: boolean): number {
    const { windowStart } = this.#options;
    if (result === 'success' || (result === 'rejected' && isQuick)) return this.#towards(this.#windowMax);
    if (result === 'busy' && isQuick) return this.#towards(windowStart);
    if (result === 'rejected') return Math.max(Math.min(windowStart, this.#window), this.#window - 1);
    return Math.max(1, this.#window >> 1);
  }

  #towards(most: number): number {
    return this.#window < most ? this.#window + 1 : Math.max(most, this.#window - 1);
  }

  /**
   * The widest useful window: to an endpoint that answers within milliseconds, more requests in flight go no faster
   * and need more connections at both ends.
   */
  get #windowMax(): number {
    const { windowMax, windowQuick, demoteAfterMs } = this.#options;
    const wanted = Math.ceil(windowMax * (this.#meanMs / (demoteAfterMs / 2)));
    return Math.min(windowMax, Math.max(windowQuick, wanted));
  }

  turnSlow(): void {
    this.isSlow = true;
    this.#meanMs = Math.max(this.#meanMs, this.#options.demoteAfterMs);
  }

  /** The receiver asked for time (429, Retry-After): one attempt at a time until then. */
  narrow(until: number): void {
    this.#narrowUntil = Math.max(this.#narrowUntil, until);
  }

  /** Returns whether it is neither slow nor failing nor saturated: its tasks wait for this process only. */
  isHealthy(now: number): boolean {
    return !this.isSlow && !this.#hasFailed && now >= this.#narrowUntil && !this.#isAtItsPace;
  }

  /**
   * Returns whether its tasks wait for this process. While this process is late, that is so for every endpoint that
   * answers, because nobody can tell how fast it is. One that has gone dark is recognised by its silence.
   */
  waitsForUs(now: number): boolean {
    return this.pace === null && this.#isOurs(now);
  }

  #isOurs(now: number): boolean {
    if (this.isHealthy(now)) return true;
    if (this.#hasFailed || now < this.#narrowUntil) return false;
    return this.#silence.isExcused(now);
  }

  /** Returns whether its tasks wait for the limit of its own: neither for this process nor for its answers. */
  isLimitedHere(now: number): boolean {
    if (this.pace === null) return false;
    if (this.#isOurs(now)) return true;
    if (this.#hasFailed || now < this.#narrowUntil || this.isSilent(now)) return false;
    return this.#paced(MEASURE_MS) <= this.#answered(MEASURE_MS, now);
  }

  /** Returns how many tasks may wait for it because of the limit of its own: those of `ms`. */
  limitedMost(ms: number): number {
    return Math.max(PACED_MIN, this.#paced(ms));
  }

  /** Its window cannot grow, and its own speed is the limit: a burst for it would hold up all others. */
  get #isAtItsPace(): boolean {
    return this.#meanMs > QUICK_MS && this.#window >= this.#windowMax;
  }

  /**
   * Returns whether it has just answered, so that the window reflects what it can take. Once it is slow only slow
   * answers count: quick ones are from before.
   */
  isAnswering(now: number): boolean {
    const answeredAt = this.isSlow ? this.#answeredSlowlyAt : this.#answeredAt;
    return this.#hasAnswered && now - answeredAt < ANSWERING_MS && now >= this.#narrowUntil;
  }

  /** Returns whether its attempts hang: no response for a while. It is probed now and then to notice its recovery. */
  isSilent(now: number): boolean {
    return this.#slowOnes > 0 && this.#silence.ms(now) >= ANSWERING_MS;
  }

  /**
   * Returns which kind of slot its next attempt takes. It is dark while it is slow and gives no answers: then each
   * attempt needs a connection of its own, and is likely to hang.
   */
  kind(now: number): Kind {
    if (!this.isSlow) return 'fast';
    return this.#isUnanswered || this.isSilent(now) ? 'dark' : 'slow';
  }

  /** Returns how many tasks it takes in `ms` at its present pace. A healthy endpoint's window grows as it is used. */
  drainable(ms: number, now: number): number {
    return Math.floor(Math.min(this.#paced(ms), this.#answered(ms, now)));
  }

  #answered(ms: number, now: number): number {
    const window = this.isHealthy(now) ? this.#windowMax : this.#windowAt(now);
    return (ms * window) / Math.max(this.#meanMs, 1);
  }

  #paced(ms: number): number {
    return this.pace === null ? Number.POSITIVE_INFINITY : Math.floor((ms * this.pace.rate) / 1000);
  }

  get #slowOnes(): number {
    return this.slow.size - this.#hung;
  }

  #windowAt(now: number): number {
    return now < this.#narrowUntil ? 1 : this.#window;
  }
}
