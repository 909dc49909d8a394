/** The clocks of an exchange. */
export interface Times {
  now(): number;
  /** See LoopTurns. */
  caughtUpAt(): number;
}

/** How long a receiver certainly took over an exchange, without the time in which this process was late. */
export class ReceiverTime {
  /** Since when the exchange waits for the receiver; infinite = it does not. */
  #since = Number.POSITIVE_INFINITY;
  /** Milliseconds so far. */
  total = 0;

  /** We have sent something: the exchange waits for the receiver from now on. */
  waits(times: Times): void {
    this.#since = times.now();
  }

  /** The receiver has answered, or its answer is missing: the exchange waits for it no longer. */
  add(times: Times): void {
    this.total += Math.max(0, times.caughtUpAt() - this.#since);
    this.#since = Number.POSITIVE_INFINITY;
  }
}
