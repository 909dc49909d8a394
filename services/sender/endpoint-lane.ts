import { type Tier, tierLasting } from '../domain/retry.ts';
import { Link } from '../runtime/linked-list.ts';
import type { LaneOptions } from './lane-options.ts';
import type { Passage, PassageResult } from './lanes.ts';

/** How much one attempt's duration moves the mean. */
const MEAN_WEIGHT = 0.2;
const MEAN_MS_START = 50;
/** A success this young speaks for an endpoint, whatever is still on its way. */
const ANSWERING_MS = 1000;
/** Parked tasks come back after one of these; not later, because an endpoint that recovers must not wait for hours. */
const PARKED_SECONDS = [3, 66, 731] as const;
const PARKED_SECONDS_MAX = PARKED_SECONDS[2];

/** An endpoint's place among those that wait for something. */
export class Turn extends Link<Turn> {
  readonly lane: EndpointLane;

  constructor(lane: EndpointLane) {
    super();
    this.lane = lane;
  }
}

/** What is known of one endpoint: its window, what waits for it, how long its attempts take. */
export class EndpointLane {
  readonly id: string;
  /** Tasks that may start as soon as there is room: at most one first attempt per entity. */
  readonly waiting: Passage[] = [];
  /** Its place among those that could start an attempt but for a free slot. */
  readonly ready = new Turn(this);
  /** Its place among those that have something waiting. */
  readonly busy = new Turn(this);
  /** Of what waits, how much waits for us alone; the lanes keep it. */
  waitingForUs = 0;
  inFlight = 0;
  slow = 0;
  /** Its last word was that it is slow: further attempts start in the slow lane. */
  isSlow = false;
  readonly #options: LaneOptions;
  /** Entities with a first attempt on its way, and those that follow it; null = nobody follows. */
  readonly #entities = new Map<string, Passage[] | null>();
  #following = 0;
  #window: number;
  #meanMs = MEAN_MS_START;
  #hasFailed = false;
  #succeededAt = Number.NEGATIVE_INFINITY;
  #narrowUntil = 0;
  /** When everything that waits here or was parked should be through. */
  #drainedAt = 0;

  constructor(id: string, options: LaneOptions) {
    this.id = id;
    this.#options = options;
    this.#window = options.windowStart;
  }

  get waitingCount(): number {
    return this.waiting.length + this.#following;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.waitingCount === 0;
  }

  /** Whether the window lets another attempt start. */
  hasRoom(now: number, slowMost: number): boolean {
    const isSlowFull = this.slow >= slowMost && !this.isAnswering(now);
    return this.inFlight < this.#windowAt(now) && !isSlowFull;
  }

  /** True when no earlier first attempt of the entity is on its way; otherwise the passage follows that one. */
  claimEntity(passage: Passage): boolean {
    if (passage.entityId === null) return true;
    const followers = this.#entities.get(passage.entityId);
    if (followers === undefined) {
      this.#entities.set(passage.entityId, null);
      return true;
    }
    if (followers) followers.push(passage);
    else this.#entities.set(passage.entityId, [passage]);
    this.#following += 1;
    return false;
  }

  /** The passage has settled or was demoted: answers the one that may go next. A second call changes nothing. */
  releaseEntity(passage: Passage): Passage | null {
    if (passage.entityId === null || passage.hasReleased) return null;
    passage.hasReleased = true;
    const next = this.#entities.get(passage.entityId)?.shift();
    if (next) {
      this.#following -= 1;
      return next;
    }
    this.#entities.delete(passage.entityId);
    return null;
  }

  /** Takes out the task that came last, roughly: one that follows another first, so that order is kept. */
  takeLast(): Passage | null {
    if (this.#following > 0) {
      for (const followers of this.#entities.values()) {
        const last = followers?.pop();
        if (!last) continue;
        this.#following -= 1;
        return last;
      }
    }
    const last = this.waiting.pop();
    if (last?.entityId) this.#entities.delete(last.entityId);
    return last ?? null;
  }

  /** Adjusts the window and the mean duration to how an attempt went. */
  learn(result: PassageResult, durationMs: number, now: number): void {
    if (result === 'uncounted') return;
    this.#meanMs += MEAN_WEIGHT * (durationMs - this.#meanMs);
    this.#hasFailed = result !== 'success';
    if (result === 'success') this.#succeededAt = now;
    this.#window = this.#windowAfter(result);
    if (durationMs < this.#options.demoteAfterMs && this.isSlow) {
      this.isSlow = false;
      // What was estimated while it was slow no longer holds.
      this.#drainedAt = now;
      this.#meanMs = durationMs;
    }
  }

  /** An endpoint that rejects half of what it gets, quickly, keeps its pace: all of it would be late otherwise. */
  #windowAfter(result: Exclude<PassageResult, 'uncounted'>): number {
    const { windowStart } = this.#options;
    switch (result) {
      case 'success': {
        const most = this.#windowMax;
        return this.#window < most ? this.#window + 1 : Math.max(most, this.#window - 1);
      }
      case 'rejected':
        return Math.max(Math.min(windowStart, this.#window), this.#window - 1);
      case 'failure':
        return Math.max(1, this.#window >> 1);
    }
  }

  /**
   * As wide as there is use for: to one that answers within milliseconds, more in flight at once goes no faster, and is
   * more connections at both ends.
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

  /** Nothing speaks against it: what waits for it waits for us, and parking would only make more work. */
  isHealthy(now: number): boolean {
    return !this.isSlow && !this.#hasFailed && now >= this.#narrowUntil && !this.#isAtItsPace;
  }

  /** Its window cannot grow, and it answers in its own time: a burst for it would hold up everybody behind it. */
  get #isAtItsPace(): boolean {
    const { windowMax, demoteAfterMs } = this.#options;
    return this.#window >= windowMax && this.#meanMs > demoteAfterMs / 2;
  }

  /** It succeeded a moment ago, however slowly: the window says what it can take, and it is through before long. */
  isAnswering(now: number): boolean {
    return !this.#hasFailed && now - this.#succeededAt < ANSWERING_MS && now >= this.#narrowUntil;
  }

  /** How many tasks it takes in `drainMs` at its present pace. */
  drainable(now: number, slowMost: number): number {
    return Math.floor(this.#options.drainMs / this.#perTaskMs(now, slowMost));
  }

  /**
   * The shortest that is at least a quarter of the time until what is before the task should be through: not all come
   * back at once, none comes back much too late, and a task is parked a few times at most. The shortest of all while it
   * answers.
   */
  parkingTier(now: number, slowMost: number): Tier {
    const perTaskMs = this.#perTaskMs(now, slowMost);
    const latest = now + PARKED_SECONDS_MAX * 1000;
    this.#drainedAt = Math.min(
      latest,
      Math.max(this.#drainedAt, now + this.waitingCount * perTaskMs) + perTaskMs,
    );
    const enough = this.isAnswering(now) ? 0 : (this.#drainedAt - now) / 4000;
    const seconds = PARKED_SECONDS.find((one) => one >= enough) ?? PARKED_SECONDS_MAX;
    return tierLasting(seconds, this.#options.retryScale);
  }

  #perTaskMs(now: number, slowMost: number): number {
    const window = this.#windowAt(now);
    const atOnce = this.isSlow && !this.isAnswering(now) ? Math.min(window, slowMost) : window;
    return Math.max(this.#meanMs, 1) / atOnce;
  }

  #windowAt(now: number): number {
    return now < this.#narrowUntil ? 1 : this.#window;
  }
}
