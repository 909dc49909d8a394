import type { Database } from 'better-sqlite3';
import { unpackId } from '../../../sqlite/ids.ts';
import type { Feed, FeedPage } from '../../feed.ts';
import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import {
  type AttemptOfDelivery,
  type AuditOfEndpoint,
  type DeliveryHead,
  type EventHead,
  type FeedReference,
  type FeedRow,
  feedContents,
} from '../../log/feed-contents.ts';
import { type FeedExtent, feedPage, feedSpan } from '../../log/feed-page.ts';
import { FEED_KIND } from '../../log/log-rows.ts';
import type { TraceLine } from '../../log/trace-lines.ts';
import { listedToSql } from '../log/list-index.ts';
import { FeedBodies } from './feed-bodies.ts';

/** Rows examined in one step of the retention. */
const SCAN_ROWS = 2000;

type RowOfFeed = FeedRow & { readonly ref: number };
type Packed<Head extends EventHead> = Omit<Head, 'eventId' | 'entityId' | 'subjectId' | 'deliveryId'> & {
  readonly eventId: Uint8Array | string;
  readonly entityId: Uint8Array | string;
  readonly subjectId: Uint8Array | string | null;
  readonly deliveryId: Uint8Array | string;
};

const EVENT_HEAD = `ev.event_id AS eventId, ev.entity_id AS entityId, ev.subject_id AS subjectId, ev.sequence, ev.type,
  ev.sub_type AS subType`;
const DELIVERY_HEAD = `d.delivery_id AS deliveryId, d.api_version AS apiVersion, d.trigger,
  n.endpoint_id AS endpointId, ${EVENT_HEAD}`;
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
  readonly #bodies: FeedBodies;
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
    this.#event = db.prepare(`SELECT ${EVENT_HEAD}, ev.trace FROM event ev WHERE ev.seq = ?`);
    this.#delivery = db.prepare(`SELECT ${DELIVERY_HEAD} FROM delivery d ${DELIVERY_JOINS} WHERE d.seq = ?`);
    this.#attempt = db.prepare(
      `SELECT a.attempt_id % ${ATTEMPTS_PER_DELIVERY} AS number, a.started_at AS startedAt,
       a.duration_ms AS durationMs, a.response_status AS responseStatus, a.failure_code AS failureCode,
       a.failure_detail AS failureDetail, a.next_attempt_at AS nextAttemptAt, d.attempts_max AS attemptsMax,
       ${DELIVERY_HEAD}
       FROM attempt a CROSS JOIN delivery d ON d.seq = a.attempt_id / ${ATTEMPTS_PER_DELIVERY} ${DELIVERY_JOINS}
       WHERE a.attempt_id = ?`,
    );
    this.#audit = db.prepare(
      'SELECT endpoint_uuid AS endpointId, action, details FROM audit WHERE audit_id = ?',
    );
    this.#endpointName = db.prepare('SELECT endpoint_id FROM log_endpoint WHERE seq = ?').pluck();
    this.#bodies = new FeedBodies(db);
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
    return String(this.extentOf(merchantId).head);
  }

  read(merchantId: string, options: Parameters<Feed['read']>[1]): FeedPage {
    const { merchant, ...extent } = this.extentOf(merchantId);
    const span = feedSpan(options, extent);
    if (span === null) return { entries: [], next: String(extent.head), gap: 'restored' };
    const rows = this.#rowsOf(merchant, span.from, span.upTo, span.limit);
    const name = (endpoint: number) => String(this.#endpointName.get(endpoint));
    const bodies = options.withBodies ? this.#bodies.reader() : undefined;
    return feedPage(rows, span, extent, options.after, (row) =>
      feedContents(row, { ...this.#referenceOf(row), ...bodiesOf(row, bodies) }, name),
    );
  }

  /** Returns a merchant's rows from `from` to `upTo`: those in its index, then newer ones. */
  #rowsOf(merchant: number, from: number, upTo: number, limit: number): RowOfFeed[] {
    const listedTo = this.#listedTo.get() as number;
    const isListed = from <= listedTo;
    const listed = isListed ? (this.#listed.all({ merchant, from, upTo, limit }) as RowOfFeed[]) : [];
    if (listed.length === limit || upTo <= listedTo) return listed;
    const rest = { merchant, from: Math.max(from, listedTo + 1), upTo, limit: limit - listed.length };
    return [...listed, ...(this.#unlisted.all(rest) as RowOfFeed[])];
  }

  /** Returns the oldest rows, as far as they are older than `before`. */
  old(before: number, limit: number): number[] {
    const rows = this.#oldest.all(Math.min(limit, SCAN_ROWS)) as { seq: number; at: number }[];
    return rows.filter(({ at }) => at < before).map(({ seq }) => seq);
  }

  /** Returns the merchant's number, 0 when it has none, and the extent of its feed. */
  extentOf(merchantId: string): FeedExtent & { readonly merchant: number } {
    const row = this.#merchant.get(merchantId) as { seq: number; removedTo: number } | undefined;
    if (!row) return { merchant: 0, removedTo: 0, head: 0 };
    const newest = (this.#newest.get(this.#listedTo.get(), row.seq) ?? this.#newestListed.get(row.seq)) as
      | number
      | null;
    return { merchant: row.seq, removedTo: row.removedTo, head: Math.max(newest ?? 0, row.removedTo) };
  }

  #referenceOf({ kind, ref }: RowOfFeed): FeedReference {
    if (kind === FEED_KIND.routed || kind === FEED_KIND.line) {
      const row = this.#event.get(ref) as (Packed<EventHead> & { readonly trace: string | null }) | undefined;
      if (!row || row.trace === null) return {};
      return { event: { ...unpacked(row), lines: JSON.parse(row.trace) as TraceLine[] } };
    }
    if (kind === FEED_KIND.endpoint) {
      const audit = this.#audit.get(ref) as AuditOfEndpoint | undefined;
      return audit ? { audit } : {};
    }
    if (kind === FEED_KIND.attempt) {
      const attempt = this.#attempt.get(ref) as Packed<AttemptOfDelivery> | undefined;
      return attempt ? { attempt: withDelivery(attempt) } : {};
    }
    const delivery = this.#delivery.get(ref) as Packed<DeliveryHead> | undefined;
    return delivery ? { delivery: withDelivery(delivery) } : {};
  }
}

function bodiesOf({ kind, ref }: RowOfFeed, bodies: ReturnType<FeedBodies['reader']> | undefined) {
  if (bodies === undefined) return {};
  if (kind === FEED_KIND.requested) return { bodies: bodies.ofDelivery(ref) };
  return kind === FEED_KIND.routed || kind === FEED_KIND.line ? { bodies: bodies.ofEvent(ref) } : {};
}

function unpacked<Row extends Packed<EventHead>>(row: Row) {
  const subjectId = row.subjectId === null ? null : unpackId(row.subjectId);
  return { ...row, eventId: unpackId(row.eventId), entityId: unpackId(row.entityId), subjectId };
}

function withDelivery<Row extends Packed<DeliveryHead>>(row: Row) {
  return { ...unpacked(row), deliveryId: unpackId(row.deliveryId) };
}
