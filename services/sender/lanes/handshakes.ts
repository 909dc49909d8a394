import type { LaneOptions } from './lane-options.ts';

/**
 * Limits the connections that attempts in the slow lane open to one per turn of the event loop. A TLS handshake costs
 * this thread as much as several deliveries, and many endpoints that go dark together need new connections together:
 * everybody else's responses would wait until the last one is opened. The attempts wait before they start, so that the
 * time counts for nobody.
 */
export class Handshakes {
  readonly #options: Pick<LaneOptions, 'opened' | 'afterTurn'>;
  readonly #onMore: () => void;
  #hasOpened = false;

  /** `onMore`: called when another attempt may start, but not from within `start`. */
  constructor(options: Pick<LaneOptions, 'opened' | 'afterTurn'>, onMore: () => void) {
    this.#options = options;
    this.#onMore = onMore;
  }

  /** Whether an attempt may open a connection in this turn. */
  get hasRoom(): boolean {
    return !this.#hasOpened;
  }

  /** Starts an attempt. Only one that opened a connection counts: most slow endpoints that answer need no new one. */
  start(attempt: { start(): void }): void {
    const before = this.#options.opened();
    attempt.start();
    if (this.#hasOpened || this.#options.opened() === before) return;
    this.#hasOpened = true;
    this.#options.afterTurn(() => {
      this.#hasOpened = false;
      this.#onMore();
    });
  }
}
