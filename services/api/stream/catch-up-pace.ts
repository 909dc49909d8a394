import type { Clock } from '../../process/clock.ts';
import { type Rate, TokenBucket } from '../../process/token-bucket.ts';

/** Pages that one key, and all of this process, read of what is past. */
export interface PagesRead {
  readonly ofKey: Rate;
  readonly ofAll: Rate;
}

/** Pages of streams. One has 200 entries and costs 2 ms: all together take a quarter of a core. */
export const STREAM_PAGES: PagesRead = {
  ofKey: { perSecond: 50, burst: 100 },
  ofAll: { perSecond: 125, burst: 5 },
};

interface Reader {
  readonly pages: TokenBucket;
  /** The waiting ones, in the order in which they came. */
  readonly waiting: Set<() => void>;
}

/**
 * The pace at which streams, and readers of the event feed, read what is past: so many pages a second for each key, whatever
 * the number of its streams, and for all keys together, each in turn. A key that opens its streams again and again keeps
 * its pace.
 */
export class CatchUpPace {
  readonly #clock: Clock;
  readonly #rates: PagesRead;
  readonly #all: TokenBucket;
  /** By key; the one whose turn is next comes first. */
  readonly #readers = new Map<string, Reader>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, rates: PagesRead) {
    this.#clock = clock;
    this.#rates = rates;
    this.#all = new TokenBucket(clock, rates.ofAll);
  }

  /** Resolves when a reader with a key may read one more page, or when the signal fires: then no page is counted. */
  turn(keyId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const reader = this.#readers.get(keyId) ?? {
        pages: new TokenBucket(this.#clock, this.#rates.ofKey),
        waiting: new Set(),
      };
      this.#readers.set(keyId, reader);
      const go = () => {
        reader.waiting.delete(go);
        signal.removeEventListener('abort', go);
        resolve();
      };
      reader.waiting.add(go);
      signal.addEventListener('abort', go, { once: true });
      this.#serve();
    });
  }

  #serve(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    while (this.#serveOne());
    const waits = [...this.#readers.values()].flatMap(({ pages, waiting }) =>
      waiting.size === 0 ? [] : [Math.max(pages.waitMs, this.#all.waitMs)],
    );
    if (waits.length === 0) return;
    this.#cancel = this.#clock.at(this.#clock.now() + Math.max(1, Math.min(...waits)), () => this.#serve());
  }

  /** Gives the next turn; returns false when there is none now. */
  #serveOne(): boolean {
    for (const [keyId, { pages, waiting }] of this.#readers) {
      const [go] = waiting;
      if (go === undefined && pages.isFull) this.#readers.delete(keyId);
      if (go === undefined || pages.waitMs > 0) continue;
      if (!this.#all.take()) return false;
      pages.take();
      const reader = this.#readers.get(keyId);
      this.#readers.delete(keyId);
      if (reader) this.#readers.set(keyId, reader);
      go();
      return true;
    }
    return false;
  }
}
