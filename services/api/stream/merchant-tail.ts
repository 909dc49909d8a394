import type { Clock } from '../../process/clock.ts';
import type { Feed, FeedPage } from '../../store/feed.ts';
import { pageText } from './stream-text.ts';
import type { WritePace } from './write-pace.ts';

/** Entries read together. */
const PAGE_ENTRIES = 200;
/** Pages kept for streams that are a little behind, and for how long: what they miss, they read at a slower pace. */
const RECENT_MAX = 64;
const RECENT_MS_MAX = 10_000;
/** Pages read before the streams are woken, so that hundreds of them keep up with a busy merchant. */
const PAGES_PER_WRITE = 8;
/** The least time between two reads, so that what happens in the meantime is read and written together. */
const PAUSE_MS = 5;
/** After a failed read. */
const RETRY_MS = 1000;

/** A part of the feed as it is sent. */
export interface Chunk {
  readonly after: string;
  readonly next: string;
  readonly page: FeedPage;
  /** The page as it is sent to streams of the whole feed, which share it. */
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
  readonly #pace: WritePace;
  readonly #onFailed: (error: unknown) => void;
  readonly #stopListening: () => void;
  readonly #stopped = new AbortController();
  /** Callbacks for the next change of the head: those of openings run at once, those of streams at the pace of writes. */
  readonly #opening = new Set<() => void>();
  readonly #streams = new Set<() => void>();
  #recent: (Chunk & { readonly readAt: number })[] = [];
  #head: string | undefined;
  #isBehind = false;
  #reading: Promise<void> | undefined;
  /** How many streams are open. */
  streams = 0;

  constructor(deps: {
    readonly feed: Feed;
    readonly merchantId: string;
    readonly clock: Clock;
    readonly pace: WritePace;
    readonly onFailed: (error: unknown) => void;
  }) {
    this.#feed = deps.feed;
    this.#merchantId = deps.merchantId;
    this.#clock = deps.clock;
    this.#pace = deps.pace;
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
    await this.#wakeIn(this.#opening, RETRY_MS, this.#stopped.signal);
  }

  /** Returns what follows a position where that was read for all streams just now. */
  recent(after: string): Chunk | undefined {
    return this.#recent.find((each) => each.after === after);
  }

  /** Reads what follows a position, up to the head at most; an empty chunk when nothing does. */
  past(after: string): Promise<Chunk> {
    return this.#read(after, this.head);
  }

  /** Resolves when a stream may send the next change of the head, after `ms`, or when the signal fires. */
  changed(ms: number, signal: AbortSignal): Promise<void> {
    return this.#wakeIn(this.#streams, ms, signal);
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
        while (!signal.aborted && (await this.#advance()));
        await this.#clock.sleep(PAUSE_MS, signal);
      } catch (error) {
        this.#onFailed(error);
        this.#isBehind = true;
        await this.#clock.sleep(RETRY_MS, signal);
      }
    }
  }

  /** Reads some pages, and wakes the streams. Returns whether there may be more. */
  async #advance(): Promise<boolean> {
    const from = this.#head;
    let pages = 0;
    try {
      while (pages < PAGES_PER_WRITE && (await this.#readPage())) pages += 1;
    } finally {
      if (this.#head !== from) await this.#wake();
    }
    return pages === PAGES_PER_WRITE;
  }

  async #wake(): Promise<void> {
    for (const wake of [...this.#opening]) wake();
    for (const wake of [...this.#streams]) {
      // One that has ended in the meantime needs no turn.
      if (!this.#streams.has(wake)) continue;
      await this.#pace.turn(this.#stopped.signal);
      wake();
    }
  }

  /** Returns false when there was nothing new. */
  async #readPage(): Promise<boolean> {
    const chunk = await this.#read(this.head);
    if (chunk.next === chunk.after) return false;
    const readAt = this.#clock.now();
    this.#recent.push({ ...chunk, readAt });
    const isOld = (each: { readonly readAt: number }) => readAt - each.readAt > RECENT_MS_MAX;
    while (this.#recent.length > RECENT_MAX || this.#recent.some(isOld)) this.#recent.shift();
    this.#head = chunk.next;
    return true;
  }

  #wakeIn(waiting: Set<() => void>, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = () => {
        cancel();
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = this.#clock.at(this.#clock.now() + ms, wake);
      waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  async #read(after: string, upTo?: string): Promise<Chunk> {
    const limit = PAGE_ENTRIES;
    const page = await this.#feed.read(this.#merchantId, {
      after,
      limit,
      ...(upTo === undefined ? {} : { upTo }),
    });
    return { after, next: page.next, page, bytes: Buffer.from(pageText(page)) };
  }
}
