import { unpackId } from '../../sqlite/ids.ts';
import { TRIGGER } from '../log/codes.ts';
import { idBytes } from '../postgres/client/packed-id.ts';
import type { Reached } from './copy-state.ts';
import type { LogTable, RowsOfChunk } from './log-chunk.ts';
import type { Sqlite } from './source.ts';

const ROW_BYTES = 80;

type Key = Reached['missed'];

interface MissedRow {
  readonly endpoint: number;
  readonly created_at: number;
  readonly event: number;
  readonly event_id: Uint8Array | string;
  readonly routed_at: number | null;
  readonly delivery: number | null;
  readonly delivery_id: Uint8Array | string | null;
  readonly delivery_at: number | null;
  readonly trigger: number | null;
}

/** The events that endpoints have missed. */
export class MissedTable implements LogTable<Key, MissedRow> {
  readonly #rows;

  constructor(db: Sqlite) {
    this.#rows = db.prepare(
      `SELECT m.*, ev.event_id, ev.routed_at, d.delivery_id, d.created_at AS delivery_at, d.trigger
       FROM missed m CROSS JOIN event ev ON ev.seq = m.event LEFT JOIN delivery d ON d.seq = m.delivery
       WHERE (m.endpoint, m.created_at, m.event) > (?, ?, ?) ORDER BY m.endpoint, m.created_at, m.event`,
    );
  }

  rowsAfter(key: Key): IterableIterator<MissedRow> {
    return this.#rows.iterate(...key) as IterableIterator<MissedRow>;
  }

  keyOf({ endpoint, created_at, event }: MissedRow): Key {
    return [endpoint, created_at, event];
  }

  add(row: MissedRow, chunk: RowsOfChunk): void {
    if (!isKept(row)) return;
    chunk.copies
      .row('missed', row.created_at)
      .int(row.endpoint)
      .bigint(row.created_at)
      .bytea(idBytes(unpackId(row.event_id)))
      .bytea(row.delivery_id === null ? null : idBytes(unpackId(row.delivery_id)))
      .bigint(row.delivery_at);
    chunk.note(row.created_at, ROW_BYTES);
  }
}

/**
 * Returns whether the target keeps it: not when its own delivery was deleted, which nobody resends; nor when the event was
 * deleted and is known from another delivery than its own.
 */
function isKept({ delivery, delivery_id, routed_at, trigger }: MissedRow): boolean {
  if (delivery !== null && delivery_id === null) return false;
  return routed_at !== null || trigger === TRIGGER.of.live;
}
