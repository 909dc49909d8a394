import type { JournalEntry } from '../../../domain/journal.ts';
import type { Feed, FeedPage } from '../../feed.ts';
import type { ReaderOps } from '../reader.ts';
import type { ThreadCalls } from '../thread-calls.ts';
import type { WriterOps } from '../writer.ts';

/** The feed on the main thread: calls the threads, and wakes listeners after commits of this process, the only one. */
export class SqliteFeed implements Feed {
  readonly #reader: ThreadCalls<ReaderOps>;
  readonly #writer: ThreadCalls<WriterOps>;
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(reader: ThreadCalls<ReaderOps>, writer: ThreadCalls<WriterOps>) {
    this.#reader = reader;
    this.#writer = writer;
  }

  head(merchantId: string): Promise<string> {
    return this.#reader.call('feedHead', [merchantId]);
  }

  read(...args: Parameters<Feed['read']>): Promise<FeedPage> {
    return this.#reader.call('feed', args);
  }

  onAdded(merchantId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(merchantId) ?? new Set();
    this.#listeners.set(merchantId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(merchantId) === listeners)
        this.#listeners.delete(merchantId);
    };
  }

  async retain(before: number, limit: number): Promise<number> {
    const old = await this.#reader.call('oldFeed', [Math.floor(before), limit]);
    return old.length === 0 ? 0 : this.#writer.call('deleteFeed', [old]);
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  /** Journal entries were committed. */
  recorded(entries: readonly JournalEntry[]): void {
    const merchants = new Set(
      entries.map((entry) => (entry.kind === 'routed' ? entry.event.merchantId : entry.delivery.merchantId)),
    );
    for (const merchant of merchants) this.#wake(this.#listeners.get(merchant));
  }

  /** A change of an endpoint was committed. */
  changed(): void {
    for (const listeners of this.#listeners.values()) this.#wake(listeners);
  }

  #wake(listeners: ReadonlySet<() => void> | undefined): void {
    for (const listener of listeners ?? []) listener();
  }
}
