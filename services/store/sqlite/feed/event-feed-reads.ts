import type { Database } from 'better-sqlite3';
import type { EventFeedPage } from '../../event-feed.ts';
import {
  type EventFeedOptions,
  type EventFound,
  type EventSpan,
  eventPage,
  eventSpan,
  restoredPage,
  takeEvents,
  withinBytes,
} from '../../log/event-feed-page.ts';
import { FEED_KIND } from '../../log/log-rows.ts';
import type { EventListed } from '../../store.ts';
import { EVENT_COLUMNS } from '../lists/about-reads.ts';
import { ContentReads } from '../log/contents.ts';
import { listedToSql } from '../log/list-index.ts';
import { type EventRow, toListed } from '../log/log-rows.ts';
import type { FeedReads } from './feed-reads.ts';

interface RoutedRow {
  readonly seq: number;
  readonly ref: number;
}

type Found = EventListed & { readonly row: EventRow & { readonly seq: number } };

/** Reads the event feed, each call in one snapshot of the file. */
export class EventFeedReads {
  readonly #feed: FeedReads;
  readonly #listedTo;
  readonly #bound;
  readonly #listed;
  readonly #unlisted;
  readonly #event;
  readonly #endpointName;
  readonly #contents: ContentReads;

  constructor(db: Database, feed: FeedReads) {
    this.#feed = feed;
    this.#listedTo = db.prepare(listedToSql('feed')).pluck();
    this.#bound = db.prepare(EventFeedReads.boundSql).pluck();
    this.#listed = db.prepare(EventFeedReads.listedSql);
    this.#unlisted = db.prepare(EventFeedReads.unlistedSql);
    this.#event = db.prepare(`SELECT ${EVENT_COLUMNS}, ev.data FROM event ev WHERE ev.seq = ?`);
    this.#endpointName = db.prepare('SELECT endpoint_id FROM log_endpoint WHERE seq = ?').pluck();
    this.#contents = new ContentReads(db);
  }

  /** The SQL of the last row that a page examines, exposed like the others so that its query plan can be checked. */
  static readonly boundSql = `SELECT seq FROM feed_by_merchant
    WHERE merchant = :merchant AND seq >= :from ORDER BY seq LIMIT 1 OFFSET :examined`;

  static readonly listedSql =
    `SELECT feed.seq, ref FROM feed_by_merchant l CROSS JOIN feed ON feed.seq = l.seq
    WHERE l.merchant = :merchant AND l.seq >= :from AND l.seq <= :upTo AND feed.kind = ${FEED_KIND.routed}
    ORDER BY l.seq LIMIT :limit`;

  /** The SQL of the rows that the index does not have yet. */
  static readonly unlistedSql = `SELECT seq, ref FROM feed
    WHERE merchant = :merchant AND seq >= :from AND seq <= :upTo AND kind = ${FEED_KIND.routed}
    ORDER BY seq LIMIT :limit`;

  read(merchantId: string, options: EventFeedOptions): EventFeedPage {
    const { merchant, ...extent } = this.#feed.extentOf(merchantId);
    const span = eventSpan(options, extent);
    if (span === null) return restoredPage(extent);
    const { rows, examinedTo } = this.#rowsOf(merchant, span);
    const taken = takeEvents(this.#found(merchantId, rows), span, examinedTo, options);
    if (!options.withData) return eventPage(taken, span, extent, () => null);
    const read = this.#dataReader();
    const data = new Map<Found, string | null>();
    const within = withinBytes(taken, (record) => {
      const text = read(record.row);
      data.set(record, text);
      return Buffer.byteLength(text ?? '');
    });
    const dataOf = (record: Found) => data.get(record) ?? null;
    return eventPage(within, span, extent, dataOf);
  }

  /** Returns the merchant's routings: those in its index, then newer ones. */
  #rowsOf(merchant: number, { span, from, examined, candidates: limit }: EventSpan) {
    const listedTo = this.#listedTo.get() as number;
    const bound = this.#bound.get({ merchant, from, examined }) as number | undefined;
    const upTo = Math.min(span.upTo, bound ?? span.upTo);
    const rows = this.#listed.all({ merchant, from, upTo, limit }) as RoutedRow[];
    if (rows.length < limit && upTo > listedTo) {
      const rest = { merchant, from: Math.max(from, listedTo + 1), upTo, limit: limit - rows.length };
      rows.push(...(this.#unlisted.all(rest) as RoutedRow[]));
    }
    return { rows, examinedTo: rows.length < limit ? upTo : (rows.at(-1)?.seq ?? upTo) };
  }

  *#found(merchantId: string, rows: readonly RoutedRow[]): Generator<EventFound<Found>> {
    const nameOf = (endpoint: number) => String(this.#endpointName.get(endpoint));
    for (const { seq, ref } of rows) {
      const row = this.#event.get(ref) as Found['row'] | undefined;
      const record = row && { ...toListed(row, merchantId, nameOf), row };
      yield { seq, record };
    }
  }

  /** Returns a function that reads the data of events: those of one group after the other, so each group is read once. */
  #dataReader(): (row: Found['row']) => string | null {
    let group: ReturnType<ContentReads['groupOf']>;
    return ({ seq, data }) => {
      if (data !== null) return data;
      if (!group?.contents.has(seq)) group = this.#contents.groupOf(seq);
      return group?.contents.get(seq)?.data.toString() ?? null;
    };
  }
}
