/** Counts uses per period; each period begins with its first use. */
export class Allowance {
  readonly #periodMs: number;
  #since = Number.NEGATIVE_INFINITY;
  #taken = 0;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Returns how many were taken in the present period. */
  taken(now: number): number {
    if (now - this.#since >= this.#periodMs) {
      this.#since = now;
      this.#taken = 0;
    }
    return this.#taken;
  }

  take(): void {
    this.#taken += 1;
  }
}
