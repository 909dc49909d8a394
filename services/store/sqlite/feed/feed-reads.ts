import type { Database } from 'better-sqlite3';
import { CursorInvalid } from '../../change.ts';
import type { Feed, FeedContent, FeedEntry, FeedPage } from '../../feed.ts';
import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import { FEED_KIND } from '../../log/log-rows.ts';
import type { TraceLine } from '../../log/trace-lines.ts';
import { listedToSql } from '../log/list-index.ts';
import {
  type AuditRow,
  type DeliveryHeadRow,
  type EventHeadRow,
  type FeedAttemptRow,
  type FeedRow,
  toAttempted,
  toCancelled,
  toEndpointChanged,
  toLine,
  toRequested,
  toRouting,
} from './feed-rows.ts';

/** The most rows of one page, whatever is requested. */
const PAGE_MAX = 1000;
/** Rows examined in one step of the retention. */
const SCAN_ROWS = 2000;

/** A place in the feed: all of a row (no line), or its entries up to and including this one. */
interface Place {
  readonly seq: number;
  readonly line: number | null;
}

const DELIVERY_HEAD = `d.delivery_id, d.api_version, d.trigger, n.endpoint_id, ev.event_id, ev.entity_id, ev.type,
  ev.sub_type`;
const DELIVERY_JOINS =
  'CROSS JOIN event ev ON ev.seq = d.event CROSS JOIN log_endpoint n ON n.seq = d.endpoint';

/** Reads the feed, each call in one snapshot of the file. A row refers to what it reports; the page has that. */
export class FeedReads {
  readonly #merchant;
  readonly #listedTo;
  readonly #newest;
  readonly #newestListed;
  readonly #listed;
  readonly #unlisted;
  readonly #event;
  readonly #delivery;
  readonly #attempt;
  readonly #audit;
  readonly #endpointName;
  readonly #oldest;

  constructor(db: Database) {
    this.#merchant = db.prepare(
      'SELECT seq, feed_removed_to AS removedTo FROM log_merchant WHERE merchant_id = ?',
    );
    this.#listedTo = db.prepare(listedToSql('feed')).pluck();
    this.#newest = db
      .prepare('SELECT seq FROM feed WHERE seq > ? AND merchant = ? ORDER BY seq DESC LIMIT 1')
      .pluck();
    this.#newestListed = db.prepare('SELECT max(seq) FROM feed_by_merchant WHERE merchant = ?').pluck();
    this.#listed = db.prepare(FeedReads.listedSql);
    this.#unlisted = db.prepare(FeedReads.unlistedSql);
    this.#event = db.prepare('SELECT event_id, entity_id, type, sub_type, trace FROM event WHERE seq = ?');
    this.#delivery = db.prepare(`SELECT ${DELIVERY_HEAD} FROM delivery d ${DELIVERY_JOINS} WHERE d.seq = ?`);
    this.#attempt = db.prepare(
      `SELECT a.attempt_id % ${ATTEMPTS_PER_DELIVERY} AS number, a.started_at, a.duration_ms, a.response_status,
       a.failure_code, a.failure_detail, a.next_attempt_at, d.attempts_max, ${DELIVERY_HEAD}
       FROM attempt a CROSS JOIN delivery d ON d.seq = a.attempt_id / ${ATTEMPTS_PER_DELIVERY} ${DELIVERY_JOINS}
       WHERE a.attempt_id = ?`,
    );
    this.#audit = db.prepare('SELECT endpoint_uuid, action, details FROM audit WHERE audit_id = ?');
    this.#endpointName = db.prepare('SELECT endpoint_id FROM log_endpoint WHERE seq = ?').pluck();
    this.#oldest = db.prepare('SELECT seq, at FROM feed WHERE seq > 0 ORDER BY seq LIMIT ?');
  }

  /** The SQL of a page's rows, exposed so that its query plan can be checked. */
  static readonly listedSql =
    `SELECT feed.seq, kind, ref, detail, at FROM feed_by_merchant l CROSS JOIN feed ON feed.seq = l.seq
    WHERE l.merchant = :merchant AND l.seq >= :from AND l.seq <= :upTo ORDER BY l.seq LIMIT :limit`;

  /** The SQL of the rows that the index does not have yet. */
  static readonly unlistedSql = `SELECT seq, kind, ref, detail, at FROM feed
    WHERE merchant = :merchant AND seq >= :from AND seq <= :upTo ORDER BY seq LIMIT :limit`;

  head(merchantId: string): string {
    return String(this.#ofMerchant(merchantId).head);
  }

  read(merchantId: string, options: Parameters<Feed['read']>[1]): FeedPage {
    const after = parsePosition(options.after);
    const upTo = options.upTo === undefined ? undefined : parsePosition(options.upTo).seq;
    const { merchant, removedTo, head } = this.#ofMerchant(merchantId);
    if (after.seq > head) return { entries: [], next: String(head), gap: 'restored' };
    // An entry is missing when its row was deleted, or (later in this page) what the row refers to.
    const isCut = after.seq < removedTo || (after.line !== null && after.seq === removedTo);
    const from = after.line === null ? after.seq + 1 : after.seq;
    const limit = Math.min(options.limit, PAGE_MAX);
    const rows = this.#rowsOf(merchant, from, upTo ?? head, limit);
    const entries: FeedEntry[] = [];
    let last = after.seq;
    let gap: FeedPage['gap'] = isCut ? 'retention' : null;
    for (const row of rows) {
      if (entries.length >= limit) break;
      const contents = this.#contents(row);
      if (contents === undefined) gap = 'retention';
      const skipped = row.seq === after.seq ? (after.line ?? 0) : 0;
      entries.push(...entriesOf(row, contents ?? [], skipped));
      last = row.seq;
    }
    const isWhole = rows.length < limit && last === (rows.at(-1)?.seq ?? after.seq);
    // Everything up to the end was examined; the head itself may be below it.
    const next = isWhole ? Math.max(last, upTo ?? head) : last;
    const isUnmoved = next === after.seq && rows.length === 0;
    return { entries, next: isUnmoved ? options.after : String(next), gap };
  }

  /** Returns a merchant's rows from `from` to `upTo`: those in its index, then newer ones. */
  #rowsOf(merchant: number, from: number, upTo: number, limit: number): FeedRow[] {
    const listedTo = this.#listedTo.get() as number;
    const isListed = from <= listedTo;
    const listed = isListed ? (this.#listed.all({ merchant, from, upTo, limit }) as FeedRow[]) : [];
    if (listed.length === limit || upTo <= listedTo) return listed;
    const rest = { merchant, from: Math.max(from, listedTo + 1), upTo, limit: limit - listed.length };
    return [...listed, ...(this.#unlisted.all(rest) as FeedRow[])];
  }

  /** Returns the oldest rows, as far as they are older than `before`. */
  old(before: number, limit: number): number[] {
    const rows = this.#oldest.all(Math.min(limit, SCAN_ROWS)) as { seq: number; at: number }[];
    return rows.filter(({ at }) => at < before).map(({ seq }) => seq);
  }

  #ofMerchant(merchantId: string) {
    const row = this.#merchant.get(merchantId) as { seq: number; removedTo: number } | undefined;
    if (!row) return { merchant: 0, removedTo: 0, head: 0 };
    const newest = (this.#newest.get(this.#listedTo.get(), row.seq) ?? this.#newestListed.get(row.seq)) as
      | number
      | null;
    return { merchant: row.seq, removedTo: row.removedTo, head: Math.max(newest ?? 0, row.removedTo) };
  }

  /** Returns what a row reports, undefined when that was deleted. */
  #contents({ kind, ref, detail }: FeedRow): readonly FeedContent[] | undefined {
    const name = (endpoint: number) => String(this.#endpointName.get(endpoint));
    if (kind === FEED_KIND.routed || kind === FEED_KIND.line) {
      const row = this.#event.get(ref) as (EventHeadRow & { readonly trace: string | null }) | undefined;
      if (!row || row.trace === null) return undefined;
      const lines = JSON.parse(row.trace) as TraceLine[];
      if (kind === FEED_KIND.routed) return toRouting(row, lines.slice(0, detail ?? lines.length), name);
      const line = lines[detail ?? 0];
      return line && [toLine(row, line, name)];
    }
    if (kind === FEED_KIND.endpoint) {
      const row = this.#audit.get(ref) as AuditRow | undefined;
      return row && [toEndpointChanged(row)];
    }
    if (kind === FEED_KIND.attempt) {
      const row = this.#attempt.get(ref) as FeedAttemptRow | undefined;
      return row && [toAttempted(row)];
    }
    const row = this.#delivery.get(ref) as DeliveryHeadRow | undefined;
    if (!row) return undefined;
    return [kind === FEED_KIND.requested ? toRequested(row) : toCancelled(row, detail ?? 0)];
  }
}

/** Numbers a row's entries; the last one's position is the whole row, which is where the next page begins. */
function entriesOf(row: FeedRow, contents: readonly FeedContent[], skipped: number): FeedEntry[] {
  return contents
    .map((content, index) => {
      const isLast = index === contents.length - 1;
      const position = isLast ? String(row.seq) : `${row.seq}.${index + 1}`;
      return { ...content, position, at: row.at };
    })
    .slice(skipped);
}

function parsePosition(position: string): Place {
  const parts = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(position);
  if (!parts) throw new CursorInvalid('the position does not belong to the feed');
  return { seq: Number(parts[1]), line: parts[2] === undefined ? null : Number(parts[2]) };
}
