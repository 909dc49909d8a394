import type { Clock } from '../../process/clock.ts';
import type { Feed } from '../../store/feed.ts';
import { pageText } from './stream-text.ts';

/** Entries read together. */
const PAGE_ENTRIES = 200;
/** Pages kept for streams that are a little behind. */
const RECENT_MAX = 16;
/** The pause between two reads, so that what happens in the meantime is read and written together. */
const PAUSE_MS_MIN = 5;
const PAUSE_MS_PER_STREAM = 0.2;
/** The streams that are sent to in one turn of the event loop: deliveries must not wait for hundreds of writes. */
const WOKEN_PER_TURN = 16;
/** After a failed read. */
const RETRY_MS = 1000;

/** A part of the feed as it is sent. */
export interface Chunk {
  readonly after: string;
  readonly next: string;
  readonly bytes: Buffer;
}

/**
 * The newest part of one merchant's feed, read and written out once for all streams of the merchant in this process. It
 * reads only after something was added, and exists only while a stream is open.
 */
export class MerchantTail {
  readonly #feed: Feed;
  readonly #merchantId: string;
  readonly #clock: Clock;
  readonly #onFailed: (error: unknown) => void;
  readonly #stopListening: () => void;
  readonly #stopped = new AbortController();
  /** Called at every change of the head. */
  readonly #waiting = new Set<() => void>();
  #recent: Chunk[] = [];
  #head: string | undefined;
  #isBehind = false;
  #reading: Promise<void> | undefined;
  /** The streams that are open. */
  streams = 0;

  constructor(deps: {
    readonly feed: Feed;
    readonly merchantId: string;
    readonly clock: Clock;
    readonly onFailed: (error: unknown) => void;
  }) {
    this.#feed = deps.feed;
    this.#merchantId = deps.merchantId;
    this.#clock = deps.clock;
    this.#onFailed = deps.onFailed;
    // Before the head is read, so that nothing is added unnoticed in between.
    this.#stopListening = deps.feed.onAdded(deps.merchantId, () => this.#added());
  }

  /** The position up to which everything was read. */
  get head(): string {
    return this.#head ?? '';
  }

  /** Resolves once the head is at or after what is in the feed now. */
  async catchUp(): Promise<void> {
    const known = this.#head;
    if (known === undefined) {
      const head = await this.#feed.head(this.#merchantId);
      this.#head ??= head;
      if (this.#isBehind) this.#added();
      return;
    }
    const { next } = await this.#read(known);
    if (next === known || this.#head !== known) return;
    this.#added();
    await this.changed(RETRY_MS, this.#stopped.signal);
  }

  /** Returns what follows a position, up to the head at most; an empty chunk when nothing does. */
  async chunk(after: string): Promise<Chunk> {
    const recent = this.#recent.find((each) => each.after === after);
    return recent ?? this.#read(after, this.head);
  }

  /** Resolves at the next change of the head, after `ms`, or when the signal fires. */
  changed(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        cancel();
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.#clock.at(this.#clock.now() + ms, done);
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  stop(): void {
    this.#stopListening();
    this.#stopped.abort();
  }

  #added(): void {
    this.#isBehind = true;
    if (this.#head === undefined) return;
    this.#reading ??= this.#readNew().finally(() => {
      this.#reading = undefined;
    });
  }

  async #readNew(): Promise<void> {
    const { signal } = this.#stopped;
    while (this.#isBehind && !signal.aborted) {
      this.#isBehind = false;
      try {
        while (await this.#advance());
        await this.#clock.sleep(PAUSE_MS_MIN + PAUSE_MS_PER_STREAM * this.streams, signal);
      } catch (error) {
        this.#onFailed(error);
        this.#isBehind = true;
        await this.#clock.sleep(RETRY_MS, signal);
      }
    }
  }

  /** Returns false when there was nothing new. */
  async #advance(): Promise<boolean> {
    const chunk = await this.#read(this.head);
    if (chunk.next === chunk.after) return false;
    this.#recent.push(chunk);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    this.#head = chunk.next;
    await this.#wake();
    return true;
  }

  async #wake(): Promise<void> {
    for (const [index, wake] of [...this.#waiting].entries()) {
      if (index > 0 && index % WOKEN_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      wake();
    }
  }

  async #read(after: string, upTo?: string): Promise<Chunk> {
    const limit = PAGE_ENTRIES;
    const page = await this.#feed.read(this.#merchantId, {
      after,
      limit,
      ...(upTo === undefined ? {} : { upTo }),
    });
    return { after, next: page.next, bytes: Buffer.from(pageText(page)) };
  }
}
