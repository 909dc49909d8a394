import type { JournalEntries } from '../../../domain/journal.ts';
import { Listeners } from '../../../process/listeners.ts';
import type { Feed, FeedPage } from '../../feed.ts';
import type { ReaderOps } from '../reader.ts';
import type { ThreadCalls } from '../thread-calls.ts';
import type { WriterOps } from '../writer.ts';

/** The feed on the main thread: calls the threads, and wakes listeners after commits of this process, the only one. */
export class SqliteFeed implements Feed {
  readonly #reader: ThreadCalls<ReaderOps>;
  readonly #writer: ThreadCalls<WriterOps>;
  readonly #listeners = new Map<string, Listeners>();

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
    const listeners = this.#listeners.get(merchantId) ?? new Listeners();
    this.#listeners.set(merchantId, listeners);
    const remove = listeners.add(listener);
    return () => {
      remove();
      if (listeners.isEmpty && this.#listeners.get(merchantId) === listeners)
        this.#listeners.delete(merchantId);
    };
  }

  async retain(before: number, limit: number): Promise<number> {
    const old = await this.#reader.call('oldFeed', [Math.floor(before), limit]);
    return old.length === 0 ? 0 : this.#writer.call('deleteFeed', [old]);
  }

  /** Journal entries were committed. */
  recorded(entries: JournalEntries): void {
    if (this.#listeners.size === 0) return;
    const merchants = new Set<string>();
    for (const entry of entries)
      merchants.add(entry.kind === 'routed' ? entry.event.merchantId : entry.delivery.merchantId);
    for (const merchant of merchants) this.#listeners.get(merchant)?.call();
  }

  /** A change of an endpoint was committed. */
  changed(): void {
    for (const listeners of this.#listeners.values()) listeners.call();
  }
}
