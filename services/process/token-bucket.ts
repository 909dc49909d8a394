import type { Clock } from './clock.ts';

export interface Rate {
  readonly perSecond: number;
  /** As many may be taken at once after a pause. */
  readonly burst: number;
}

/** Limits how often something is done: so many times a second, and after a pause some more at once. */
export class TokenBucket {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #rate: Rate;
  #tokens: number;
  #countedAt: number;

  constructor(clock: Pick<Clock, 'now'>, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#countedAt = clock.now();
  }

  get isFull(): boolean {
    this.#count();
    return this.#tokens === this.#rate.burst;
  }

  /** The milliseconds until `take` succeeds; 0 = now. */
  get waitMs(): number {
    this.#count();
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / this.#rate.perSecond);
  }

  /** Returns false when there is none now. */
  take(): boolean {
    this.#count();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #count(): void {
    const now = this.#clock.now();
    const fresh = ((now - this.#countedAt) * this.#rate.perSecond) / 1000;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + fresh);
    this.#countedAt = now;
  }
}
