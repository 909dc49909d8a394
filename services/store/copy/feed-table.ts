import { unpackId } from '../../sqlite/ids.ts';
import { ATTEMPTS_PER_DELIVERY } from '../log/delivery.ts';
import { FEED_KIND } from '../log/log-rows.ts';
import { idBytes } from '../postgres/client/packed-id.ts';
import type { LogTable, RowsOfChunk } from './log-chunk.ts';
import type { Sqlite } from './source.ts';

const ROW_BYTES = 100;

interface FeedRow {
  readonly seq: number;
  readonly merchant: number;
  readonly kind: number;
  readonly ref: number;
  readonly detail: number | null;
  readonly at: number;
  readonly event_id: Uint8Array | string | null;
  readonly event_at: number | null;
  readonly delivery_id: Uint8Array | string | null;
  readonly delivery_at: number | null;
}

const { routed, line, attempt, endpoint } = FEED_KIND;
const SELECT = `SELECT f.*, ev.event_id, ev.created_at AS event_at, d.delivery_id, d.created_at AS delivery_at
  FROM feed f LEFT JOIN event ev ON ev.seq = CASE WHEN f.kind IN (${routed}, ${line}) THEN f.ref END
  LEFT JOIN delivery d ON d.seq = CASE WHEN f.kind = ${attempt} THEN f.ref / ${ATTEMPTS_PER_DELIVERY}
  WHEN f.kind NOT IN (${routed}, ${line}, ${endpoint}) THEN f.ref END WHERE f.seq > ?`;

/**
 * The feed. Its rows keep their numbers, so the positions that readers hold stay valid.
 * `kinds`: `changes` = only changes of endpoints, which the journal does not have.
 */
export class FeedTable implements LogTable<number, FeedRow> {
  readonly #rows;

  constructor(db: Sqlite, kinds: 'all' | 'changes') {
    const condition = kinds === 'all' ? '' : `AND f.kind = ${endpoint}`;
    this.#rows = db.prepare(`${SELECT} ${condition} ORDER BY f.seq`);
  }

  rowsAfter(seq: number): IterableIterator<FeedRow> {
    return this.#rows.iterate(seq) as IterableIterator<FeedRow>;
  }

  keyOf({ seq }: FeedRow): number {
    return seq;
  }

  /** A row whose event or delivery was deleted stays, so that a reader is told of the gap. */
  add(row: FeedRow, chunk: RowsOfChunk): void {
    chunk.copies
      .row('feed', row.at)
      .int(row.merchant)
      .bigint(row.seq)
      .bigint(row.at)
      .smallint(row.kind)
      .smallint(row.detail)
      .bytea(row.event_id === null ? null : idBytes(unpackId(row.event_id)))
      .bytea(row.delivery_id === null ? null : idBytes(unpackId(row.delivery_id)))
      .bigint(row.kind === attempt || row.kind === endpoint ? row.ref : null)
      .bigint(row.event_at ?? row.delivery_at);
    chunk.note(row.at, ROW_BYTES);
  }
}
