const PERIOD_MS = 10_000;

/** Counts the endpoints that received tasks lately. */
export class EndpointsInUse {
  #period = 0;
  #now = 0;
  #before = 0;

  /** A task came for an endpoint. Returns the present period: pass it as `seenIn` with the endpoint's next task. */
  seen(seenIn: number, now: number): number {
    const period = Math.floor(now / PERIOD_MS);
    if (period !== this.#period) {
      this.#before = period === this.#period + 1 ? this.#now : 0;
      this.#now = 0;
      this.#period = period;
    }
    if (seenIn !== period) this.#now += 1;
    return period;
  }

  /** Endpoints in use, over 10 to 20 s. */
  get count(): number {
    return Math.max(this.#now, this.#before);
  }
}
