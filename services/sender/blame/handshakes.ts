import type { Clock } from '../../process/clock.ts';

export interface HandshakeLimits {
  /** The shortest time between two connections opened to endpoints that are dark, over all of them. */
  readonly darkEveryMs: number;
  /** Returns the number of connections opened so far, to tell whether an attempt that was just started opened one. */
  readonly opened: () => number;
}

/**
 * Spreads the connections that attempts in the slow lane open: one per turn of the event loop, and those to dark endpoints
 * some milliseconds apart. A TLS handshake costs this thread as much as several deliveries, and many endpoints that go
 * dark together need new connections together, again when their requests time out: everybody else's responses would
 * wait. The attempts wait before they start, so that the time counts for nobody.
 */
export class Handshakes {
  readonly #clock: Clock;
  readonly #limits: HandshakeLimits;
  readonly #afterTurn: (callback: () => void) => void;
  readonly #onMore: () => void;
  #hasOpened = false;
  #hasOpenedDark = false;

  /** `afterTurn`: calls back in the next turn of the event loop. `onMore`: called when another attempt may start, but not from within `start`. */
  constructor(
    clock: Clock,
    limits: HandshakeLimits,
    afterTurn: (callback: () => void) => void,
    onMore: () => void,
  ) {
    this.#clock = clock;
    this.#limits = limits;
    this.#afterTurn = afterTurn;
    this.#onMore = onMore;
  }

  /** Returns whether an attempt to a slow endpoint, or to one that is dark, may open a connection now. */
  hasRoom(isDark: boolean): boolean {
    return !this.#hasOpened && !(isDark && this.#hasOpenedDark);
  }

  /** Starts an attempt. Only one that opened a connection counts: most slow endpoints that answer need no new one. */
  start(attempt: { start(): void }, isDark: boolean): void {
    const { opened, darkEveryMs } = this.#limits;
    const before = opened();
    attempt.start();
    if (this.#hasOpened || opened() === before) return;
    this.#hasOpened = true;
    this.#afterTurn(() => {
      this.#hasOpened = false;
      this.#onMore();
    });
    if (!isDark) return;
    this.#hasOpenedDark = true;
    this.#clock.at(this.#clock.now() + darkEveryMs, () => {
      this.#hasOpenedDark = false;
      this.#onMore();
    });
  }
}
