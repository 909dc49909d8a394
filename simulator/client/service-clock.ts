/** A smaller difference may come from the header's whole seconds and from the time that the response took. */
const DIFFERENCE_MS_MIN = 5000;
/** The `Date` of a response has whole seconds. */
const SECOND_MS = 1000;

/**
 * The service's clock, as the `Date` of its responses shows it (RFC 9110, 6.6.1): a sandbox's may be moved on
 * (docs/simulator.md, "Move the clock on"). Times in the API's answers are compared with this clock, time-outs and
 * pauses with the machine's.
 */
export class ServiceClock {
  #aheadMs: number | undefined;

  /** Returns whether a response has shown the clock. */
  get isKnown(): boolean {
    return this.#aheadMs !== undefined;
  }

  /** By how much the service's clock is ahead of this machine's, milliseconds; 0 = they agree, or nothing is known. */
  get aheadMs(): number {
    const aheadMs = this.#aheadMs ?? 0;
    return Math.abs(aheadMs) > DIFFERENCE_MS_MIN ? aheadMs : 0;
  }

  /** Returns the service's time, milliseconds since the epoch. */
  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** Takes the `Date` header of a response. */
  note(date: string | null): void {
    const aheadMs = date === null ? Number.NaN : Date.parse(date) - Date.now();
    if (Number.isNaN(aheadMs)) return;
    const known = this.#aheadMs;
    const isMoved = known !== undefined && Math.abs(aheadMs - known) > SECOND_MS;
    // The header is cut to whole seconds, so of several differences the largest is the closest.
    this.#aheadMs = known === undefined || isMoved ? aheadMs : Math.max(aheadMs, known);
  }
}
