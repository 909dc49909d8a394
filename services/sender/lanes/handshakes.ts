import type { Clock } from '../../process/clock.ts';
import type { LaneOptions } from './lane-options.ts';

/**
 * Spreads the connections that attempts in the slow lane open: one per turn of the event loop, and those to dark endpoints
 * some milliseconds apart. A TLS handshake costs this thread as much as several deliveries, and many endpoints that go
 * dark together need new connections together, again when their requests time out: everybody else's responses would
 * wait. The attempts wait before they start, so that the time counts for nobody.
 */
export class Handshakes {
  readonly #clock: Clock;
  readonly #options: Pick<LaneOptions, 'opened' | 'afterTurn' | 'darkEveryMs'>;
  readonly #onMore: () => void;
  #hasOpened = false;
  #hasOpenedDark = false;

  /** `onMore`: called when another attempt may start, but not from within `start`. */
  constructor(
    clock: Clock,
    options: Pick<LaneOptions, 'opened' | 'afterTurn' | 'darkEveryMs'>,
    onMore: () => void,
  ) {
    this.#clock = clock;
    this.#options = options;
    this.#onMore = onMore;
  }

  /** Returns whether an attempt to a slow endpoint, or to one that is dark, may open a connection now. */
  hasRoom(isDark: boolean): boolean {
    return !this.#hasOpened && !(isDark && this.#hasOpenedDark);
  }

  /** Starts an attempt. Only one that opened a connection counts: most slow endpoints that answer need no new one. */
  start(attempt: { start(): void }, isDark: boolean): void {
    const { opened, afterTurn, darkEveryMs } = this.#options;
    const before = opened();
    attempt.start();
    if (this.#hasOpened || opened() === before) return;
    this.#hasOpened = true;
    afterTurn(() => {
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
