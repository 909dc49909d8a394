import type { Clock } from '../../process/clock.ts';

/** The interval of checks for more slots while an attempt waits for one. */
const LOOK_MS = 5;
/** A thread that is idle for less than this share of its time is near its limit. */
const IDLE_SHARE_MIN = 0.25;
/** The weight of one check in the mean. */
const MEAN_WEIGHT = 0.1;
/** A thread with this much idle time waits for receivers, whatever the mean is. */
const IDLE_SHARE_PLENTY = 0.75;
/** An attempt that has waited for its receiver for this long needs none of this thread's time. */
const WAITS_MS = 20;
/** The same while this thread is busy, as a multiple of the time between two checks: what has come may not be read. */
const WAITS_CHECKS = 4;

/**
 * Limits the attempts in flight that are not slow to what this thread has time for. Beyond that each takes longer and
 * none goes sooner, and every young collection copies their memory. Work counts, and waiting does not: once a check has
 * found that an attempt waits for its receiver, its slot is open to another. The limit grows while the thread has idle
 * time. It doubles every few milliseconds while the thread is almost idle or no attempt ends: then the receivers are
 * the bottleneck.
 */
export class FastSlots {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #least: number;
  readonly #waitingSince: (at: number) => number;
  readonly #onMore: () => void;
  #open: number;
  /** The recent mean share of time that the thread was idle while an attempt waited. */
  #idleShare = 0;
  #taken = 0;
  /** Slots freed since the last check. */
  #freed = 0;
  /** Of those taken, the ones that only waited for their receivers at the last check. */
  #waiting = 0;
  #isWatched = false;

  /**
   * `waitingSince`: returns how many of the attempts with a slot have waited for their receivers since a moment, or for
   * longer. `onMore`: called when there are more slots, but not from within `take` or `free`.
   */
  constructor(
    clock: Clock,
    { least, most }: { readonly least: number; readonly most: number },
    waitingSince: (at: number) => number,
    onMore: () => void,
  ) {
    this.#clock = clock;
    this.#waitingSince = waitingSince;
    this.#most = most;
    this.#least = Math.min(least, most);
    this.#open = this.#least;
    this.#onMore = onMore;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Returns whether a slot is free. Call it only when one is needed: a refusal makes the limit grow. */
  hasRoom(): boolean {
    if (this.#taken < this.#open) {
      this.#waiting = 0;
      return true;
    }
    if (this.#taken - this.#waiting < this.#open && this.#taken < this.#most) return true;
    if (!this.#isWatched && this.#least < this.#most) this.#watch();
    return false;
  }

  take(): void {
    this.#taken += 1;
  }

  free(): void {
    this.#taken -= 1;
    this.#freed += 1;
  }

  #watch(): void {
    const clock = this.#clock;
    const [since, idleBefore] = [clock.now(), clock.idleMs()];
    this.#isWatched = true;
    this.#freed = 0;
    clock.at(since + LOOK_MS, () => {
      this.#isWatched = false;
      const now = clock.now();
      this.#look((clock.idleMs() - idleBefore) / (now - since));
      this.#waiting = this.#waitingSince(now - Math.max(WAITS_MS, WAITS_CHECKS * (now - since)));
      this.#onMore();
    });
  }

  #look(idleShare: number): void {
    this.#idleShare += MEAN_WEIGHT * (idleShare - this.#idleShare);
    // No attempt ended although the thread had time to notice: a thread that is never idle cannot tell.
    const isHeld = this.#freed === 0 && idleShare > 0;
    const step = this.#open >> 3;
    let open = this.#open - step;
    if (idleShare > IDLE_SHARE_PLENTY || isHeld) open = this.#open * 2;
    else if (this.#idleShare > IDLE_SHARE_MIN) open = this.#open + step;
    this.#open = Math.min(this.#most, Math.max(this.#least, open));
  }
}
