import type { Clock } from '../../process/clock.ts';

/**
 * After this many reused connections, opened one after the other, were closed under a request, each is used only once.
 */
const CLOSINGS_MAX = 3;
const WINDOW_MS = 60_000;
const SINGLE_USE_MS = 5 * 60_000;

/**
 * Whether a receiver closes the connections that are kept to it.
 *
 *     kept ─ a reused one was closed under a request ──► doubted ─ a minute without another ──► kept
 *     doubted ─ the third one after the other ──► used once ─ five minutes ──► kept
 */
export class Closings {
  #count = 0;
  #closedAt = 0;
  #singleUseUntil = 0;

  /** Counts a closing. Connections opened before the last closing may have been closed together: they count as one. */
  note(openedAt: number, clock: Clock): void {
    if (openedAt < this.#closedAt) return;
    const now = clock.now();
    this.#count = this.#isDoubted(clock) ? this.#count + 1 : 1;
    this.#closedAt = now;
    if (this.#count < CLOSINGS_MAX) return;
    this.#count = 0;
    this.#singleUseUntil = now + SINGLE_USE_MS;
  }

  /** Returns whether every connection carries one request only. */
  isSingleUse(clock: Clock): boolean {
    return this.#singleUseUntil > 0 && this.#singleUseUntil > clock.now();
  }

  /** Returns whether something of it is to be remembered. */
  isKnown(clock: Clock): boolean {
    return this.isSingleUse(clock) || this.#isDoubted(clock);
  }

  #isDoubted(clock: Clock): boolean {
    return this.#closedAt > 0 && clock.now() - this.#closedAt < WINDOW_MS;
  }
}
