import { unpackId } from '../../sqlite/ids.ts';
import { API_VERSION } from '../log/codes.ts';
import { BODY_KIND } from '../postgres/log/bodies.ts';
import { addBody, addEvent } from '../postgres/log/flush.ts';
import { type EventColumns, linesOf } from '../rows/log-records.ts';
import { type Content, ContentReads } from '../sqlite/log/contents.ts';
import { bodyOf } from '../sqlite/log/event-rows.ts';
import type { LogTable, RowsOfChunk } from './log-chunk.ts';
import type { Sqlite } from './source.ts';

/** The size of a row without its texts and bodies. */
const ROW_BYTES = 150;

interface EventRow extends EventColumns {
  readonly seq: number;
  readonly event_id: Uint8Array | string;
  readonly merchant: number;
  readonly entity_id: Uint8Array | string;
  readonly created_at: number;
  readonly data: string | null;
  readonly bodies: Buffer | null;
  readonly bodies_removed_at: number | null;
  readonly published_by: Uint8Array | string | null;
}

/** The events that were routed, with their data and bodies. Of events without a routing, the target keeps what their deliveries have. */
export class EventTable implements LogTable<number, EventRow> {
  readonly #rows;
  readonly #contents: ContentReads;
  #group: ReadonlyMap<number, Content> | undefined;

  constructor(db: Sqlite) {
    this.#rows = db.prepare('SELECT * FROM event WHERE seq > ? AND routed_at IS NOT NULL ORDER BY seq');
    this.#contents = new ContentReads(db);
  }

  rowsAfter(seq: number): IterableIterator<EventRow> {
    return this.#rows.iterate(seq) as IterableIterator<EventRow>;
  }

  keyOf({ seq }: EventRow): number {
    return seq;
  }

  add(row: EventRow, chunk: RowsOfChunk): void {
    const { seq, created_at: createdAt, bodies_removed_at: removedAt } = row;
    addEvent(chunk.copies, {
      eventId: unpackId(row.event_id),
      merchant: row.merchant,
      entityId: unpackId(row.entity_id),
      type: row.type,
      subType: row.sub_type,
      occurredAt: row.occurred_at,
      createdAt,
      row: {
        seq,
        entityKind: row.entity_kind,
        simulated: row.simulated,
        routedAt: row.routed_at,
        removedAt,
        trace: linesOf(row),
        publishedBy: row.published_by === null ? null : unpackId(row.published_by),
        isNew: true,
        isChanged: false,
      },
    });
    chunk.note(createdAt, ROW_BYTES + row.trace.length);
    if (removedAt === null) this.#addBodies(row, chunk);
  }

  #addBodies({ seq, created_at: createdAt, ...row }: EventRow, chunk: RowsOfChunk): void {
    const content = row.data === null || row.bodies === null ? this.#contentOf(seq) : undefined;
    const data = row.data === null ? content?.data : Buffer.from(row.data);
    const bodies = row.bodies ?? content?.bodies;
    const add = (kind: (typeof BODY_KIND)['data' | 'event'], n: number, bytes: Buffer | undefined) => {
      if (bytes === undefined) return;
      addBody(chunk.copies, { owner: seq, createdAt, kind, n, bytes });
      chunk.note(createdAt, ROW_BYTES + bytes.length);
    };
    add(BODY_KIND.data, 0, data);
    for (const version of Object.values(API_VERSION.of))
      add(BODY_KIND.event, version, bodies && bodyOf(bodies, version));
  }

  /** Contents are packed in groups of successive events: each group is unpacked once. */
  #contentOf(seq: number): Content | undefined {
    if (!this.#group?.has(seq)) this.#group = this.#contents.groupOf(seq)?.contents;
    return this.#group?.get(seq);
  }
}
