import type { Database } from 'better-sqlite3';
import { FEED_KIND } from '../../log/log-rows.ts';
import { ListIndex } from '../log/list-index.ts';
import type { Names } from '../names.ts';

/** Writes the feed, in the transaction of what it reports. */
export class FeedWrites {
  readonly list: ListIndex;
  readonly #names: Names;
  readonly #add;
  readonly #delete;
  readonly #removedTo;

  constructor(db: Database, names: Names) {
    this.#names = names;
    this.list = new ListIndex(db, 'feed');
    this.#add = db.prepare('INSERT INTO feed (merchant, kind, ref, detail, at) VALUES (?, ?, ?, ?, ?)');
    // The newest row stays: the next one's number is derived from it.
    this.#delete = db.prepare(
      'DELETE FROM feed WHERE seq = ? AND seq < (SELECT max(seq) FROM feed) RETURNING merchant',
    );
    this.#removedTo = db.prepare('UPDATE log_merchant SET feed_removed_to = ? WHERE seq = ?');
  }

  add(
    merchantId: string,
    kind: keyof typeof FEED_KIND,
    row: { readonly ref: number; readonly detail?: number; readonly at: number },
  ): void {
    const merchant = this.#names.merchant(merchantId);
    this.#add.run(merchant, FEED_KIND[kind], row.ref, row.detail ?? null, Math.floor(row.at));
  }

  /** Deletes rows, which must ascend. Returns the number deleted. */
  delete(seqs: readonly number[]): number {
    const removedTo = new Map<number, number>();
    let deleted = 0;
    for (const seq of seqs) {
      const row = this.#delete.get(seq) as { readonly merchant: number } | undefined;
      if (!row) continue;
      this.list.remove(row.merchant, seq);
      removedTo.set(row.merchant, seq);
      deleted += 1;
    }
    for (const [merchant, seq] of removedTo) this.#removedTo.run(seq, merchant);
    return deleted;
  }
}
