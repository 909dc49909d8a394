import { CLOCK_AHEAD_HEADER } from '../services/domain/text/clock-ahead-header.ts';

/** A smaller difference may come from the header's whole seconds and from the time that the response took. */
const DIFFERENCE_MS_MIN = 5000;
/** The `Date` of a response has whole seconds. */
const SECOND_MS = 1000;

/**
 * The service's clock, as its responses show it: a sandbox's that was moved on says by how much
 * (docs/simulator.md, "Move the clock on"), any other shows its `Date` (RFC 9110, 6.6.1). Times in the API's answers are
 * compared with this clock, time-outs and pauses with the machine's.
 */
export class ServiceClock {
  #skewMs: number | undefined;
  #movedMs = 0;

  /** Returns whether a response has shown the clock. */
  get isKnown(): boolean {
    return this.#skewMs !== undefined;
  }

  /** By how much the clock of the sandbox was moved on, milliseconds; 0 where it was not. */
  get movedMs(): number {
    return this.#movedMs;
  }

  /** By how much the service's clock is ahead of this machine's, milliseconds; 0 = they agree, or nothing is known. */
  get aheadMs(): number {
    return this.#movedMs + this.skewMs;
  }

  /** By how much the service's machine is ahead of this one, milliseconds; 0 = they agree, or nothing is known. */
  get skewMs(): number {
    const skewMs = this.#skewMs ?? 0;
    return Math.abs(skewMs) > DIFFERENCE_MS_MIN ? skewMs : 0;
  }

  /** Returns the service's time, milliseconds since the epoch. */
  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** Takes the headers of a response. */
  note(headers: Headers): void {
    const date = headers.get('date');
    const movedMs = Number(headers.get(CLOCK_AHEAD_HEADER) ?? 0);
    if (date === null || !Number.isSafeInteger(movedMs)) return;
    const aheadMs = Date.parse(date) - movedMs - Date.now();
    if (Number.isNaN(aheadMs)) return;
    this.#movedMs = movedMs;
    const known = this.#skewMs;
    const isSet = known !== undefined && Math.abs(aheadMs - known) > SECOND_MS;
    // The header is cut to whole seconds, so of several differences the largest is the closest.
    this.#skewMs = known === undefined || isSet ? aheadMs : Math.max(aheadMs, known);
  }
}
