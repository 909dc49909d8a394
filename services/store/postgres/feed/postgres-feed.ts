import type { JournalEntries } from '../../../domain/journal.ts';
import type { Clock } from '../../../process/clock.ts';
import { Listeners } from '../../../process/listeners.ts';
import type { Feed, FeedPage } from '../../feed.ts';
import { feedContents } from '../../log/feed-contents.ts';
import { feedPage, feedSpan } from '../../log/feed-page.ts';
import { MAINTENANCE_MS, type PostgresDatabase } from '../client/postgres-database.ts';
import type { Leaves } from '../leaves/leaves.ts';
import type { LogNames } from '../log/log-names.ts';
import { readBodies } from './feed-bodies.ts';
import { extentOf } from './feed-extent.ts';
import { type RowOfFeed, readReferences } from './feed-references.ts';

/** The interval of looks for what other processes have added, while somebody listens. */
const LOOK_MS = 200;

interface Deps {
  readonly database: PostgresDatabase;
  readonly leaves: Leaves;
  readonly names: LogNames;
  readonly clock: Clock;
}

export class PostgresFeed implements Feed {
  readonly #deps: Deps;
  readonly #listeners = new Map<string, Listeners>();
  /** The heads that listeners were told of. */
  readonly #told = new Map<string, number>();
  #cancelLook: (() => void) | null = null;
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async head(merchantId: string): Promise<string> {
    return String((await extentOf(this.#deps.database, merchantId)).head);
  }

  async read(merchantId: string, options: Parameters<Feed['read']>[1]): Promise<FeedPage> {
    const { merchant, ...extent } = await extentOf(this.#deps.database, merchantId);
    const span = feedSpan(options, extent);
    if (span === null) return { entries: [], next: String(extent.head), gap: 'restored' };
    const { database, names } = this.#deps;
    const rows = await database.read((statements) =>
      statements.rows<RowOfFeed>(ROWS, [merchant, span.from, span.upTo, span.limit]),
    );
    // Rows are numbered without holes: where the first is missing, it was deleted since the extent was read.
    const isHole = span.from <= span.upTo && rows[0]?.seq !== span.from;
    const now = isHole ? await extentOf(database, merchantId) : extent;
    const references = await readReferences({ database, names }, merchant, rows);
    const bodiesOf = options.withBodies
      ? await database.read((statements) => readBodies(statements, merchant, rows, references))
      : () => ({});
    return feedPage(rows, span, now, options.after, (row) =>
      feedContents(row, { ...references.of(row), ...bodiesOf(row) }, names.numbers.endpointId),
    );
  }

  onAdded(merchantId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(merchantId) ?? new Listeners();
    this.#listeners.set(merchantId, listeners);
    const remove = listeners.add(listener);
    this.#lookSoon();
    return () => {
      remove();
      if (!listeners.isEmpty || this.#listeners.get(merchantId) !== listeners) return;
      this.#listeners.delete(merchantId);
      this.#told.delete(merchantId);
    };
  }

  /** Deletes the oldest leaf, when all of it is old enough: one a call. */
  async retain(before: number): Promise<number> {
    const { database, leaves } = this.#deps;
    const [oldest] = await leaves.list('feed');
    if (!oldest || oldest.to > before) return 0;
    const timeoutMs = MAINTENANCE_MS;
    await database.transaction(({ change }) => change(removedTo(`feed_${oldest.suffix}`)), { timeoutMs });
    await leaves.drop('feed', oldest);
    return 1;
  }

  /** This process has recorded entries. */
  recorded(entries: JournalEntries): void {
    if (this.#listeners.size === 0) return;
    const merchants = new Set<string>();
    for (const entry of entries)
      merchants.add(entry.kind === 'routed' ? entry.event.merchantId : entry.delivery.merchantId);
    for (const merchant of merchants) this.#listeners.get(merchant)?.call();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
    this.#listeners.clear();
  }

  #lookSoon(): void {
    if (this.#cancelLook || this.#isClosed || this.#listeners.size === 0) return;
    const { clock } = this.#deps;
    this.#cancelLook = clock.at(clock.now() + LOOK_MS, () => {
      void this.#look()
        .catch(() => {})
        .finally(() => {
          this.#cancelLook = null;
          this.#lookSoon();
        });
    });
  }

  /** Calls the listeners of merchants whose feed has grown since the last look. */
  async #look(): Promise<void> {
    const heads = await this.#deps.database.read(({ rows }) =>
      rows<{ readonly merchant_id: string; readonly feed_to: number }>(
        'SELECT merchant_id, feed_to FROM log_merchant WHERE merchant_id = ANY($1::text[])',
        [[...this.#listeners.keys()]],
      ),
    );
    for (const { merchant_id, feed_to } of heads) {
      if (this.#told.get(merchant_id) === feed_to) continue;
      this.#told.set(merchant_id, feed_to);
      this.#listeners.get(merchant_id)?.call();
    }
  }
}

const ROWS = `SELECT seq, kind, detail, event_id, delivery_id, ref, ref_at, created_at AS at FROM feed
  WHERE merchant = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $4`;

const removedTo = (
  table: string,
) => `UPDATE log_merchant SET feed_removed_to = greatest(feed_removed_to, gone.seq)
  FROM (SELECT merchant, max(seq) AS seq FROM ${table} GROUP BY merchant) AS gone
  WHERE log_merchant.seq = gone.merchant`;
