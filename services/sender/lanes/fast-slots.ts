import type { Clock } from '../../process/clock.ts';

/** While somebody waits for a slot, it is looked so often whether there may be more. */
const LOOK_MS = 5;
/** A thread that has nothing to do for less than this share of its time is near its limit. */
const IDLE_SHARE_MIN = 0.25;
/** How much one look moves the mean. */
const MEAN_WEIGHT = 0.1;
/** With so much of its time to spare, it waits for others, whatever it did before. */
const IDLE_SHARE_PLENTY = 0.75;

/**
 * How many attempts may be in flight that are not slow: as many as this thread has time for. With more, each of them
 * takes longer and none goes sooner, and all that they hold is copied by every young collection meanwhile. While it has
 * time to spare they become more, and double every few milliseconds while it does hardly anything or none of them comes
 * back: then it is the receivers who are waited for.
 */
export class FastSlots {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #least: number;
  readonly #onMore: () => void;
  #open: number;
  /** Share of the time that the thread had nothing to do while somebody waited, lately. */
  #idleShare = 0;
  #taken = 0;
  /** Slots given back since it was last looked. */
  #freed = 0;
  #isWatched = false;

  /** `onMore`: called when there are more slots, not while `take` or `free` runs. */
  constructor(
    clock: Clock,
    { least, most }: { readonly least: number; readonly most: number },
    onMore: () => void,
  ) {
    this.#clock = clock;
    this.#most = most;
    this.#least = Math.min(least, most);
    this.#open = this.#least;
    this.#onMore = onMore;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Whether one is free. To be asked when somebody wants one: a no is what makes more of them. */
  hasRoom(): boolean {
    if (this.#taken < this.#open) return true;
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
      this.#look((clock.idleMs() - idleBefore) / (clock.now() - since));
      this.#onMore();
    });
  }

  #look(idleShare: number): void {
    this.#idleShare += MEAN_WEIGHT * (idleShare - this.#idleShare);
    // Nothing came back although it was looked for: a thread that was held up all the time did not look.
    const isHeld = this.#freed === 0 && idleShare > 0;
    const step = this.#open >> 3;
    let open = this.#open - step;
    if (idleShare > IDLE_SHARE_PLENTY || isHeld) open = this.#open * 2;
    else if (this.#idleShare > IDLE_SHARE_MIN) open = this.#open + step;
    this.#open = Math.min(this.#most, Math.max(this.#least, open));
  }
}
