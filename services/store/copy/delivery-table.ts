import { unpackId } from '../../sqlite/ids.ts';
import { ATTEMPTS_PER_DELIVERY, type Delivery } from '../log/delivery.ts';
import { BODY_KIND } from '../postgres/log/bodies.ts';
import { addAttempt, addBody, addDelivery, addFailing } from '../postgres/log/flush.ts';
import type { DeliveryColumns } from '../rows/log-records.ts';
import { toStoredDelivery } from '../rows/stored-delivery.ts';
import type { AttemptRow } from '../sqlite/log/log-rows.ts';
import type { LogTable, RowsOfChunk } from './log-chunk.ts';
import type { Sqlite } from './source.ts';

/** The size of a row without its texts and bodies. */
const ROW_BYTES = 200;

interface DeliveryRow extends DeliveryColumns {
  readonly seq: number;
  readonly endpoint: number;
  readonly delivery_id: Uint8Array | string;
  readonly event_id: Uint8Array | string;
  readonly entity_id: Uint8Array | string;
  readonly merchant: number;
  readonly removed: number;
  readonly body: Buffer | null;
}

type StoredAttempt = Omit<AttemptRow, 'number'> & { readonly attempt_id: number };

/** The deliveries, with the heads of their events, their own bodies, attempts and responses. */
export class DeliveryTable implements LogTable<number, DeliveryRow> {
  readonly #rows;
  readonly #attempts;

  constructor(db: Sqlite) {
    this.#rows = db.prepare(
      `SELECT d.*, ev.event_id, ev.entity_id, ev.merchant, ev.occurred_at, ev.sub_type,
       ev.bodies_removed_at IS NOT NULL AS removed, own.body
       FROM delivery d CROSS JOIN event ev ON ev.seq = d.event LEFT JOIN delivery_body own ON own.delivery = d.seq
       WHERE d.seq > ? ORDER BY d.seq`,
    );
    this.#attempts = db.prepare('SELECT * FROM attempt WHERE attempt_id >= ? AND attempt_id < ?');
  }

  rowsAfter(seq: number): IterableIterator<DeliveryRow> {
    return this.#rows.iterate(seq) as IterableIterator<DeliveryRow>;
  }

  keyOf({ seq }: DeliveryRow): number {
    return seq;
  }

  add(row: DeliveryRow, chunk: RowsOfChunk): void {
    const delivery = toStoredDelivery(row, {
      deliveryId: unpackId(row.delivery_id),
      endpointId: '',
      event: 0,
      isNew: true,
    });
    const { seq, createdAt } = delivery;
    addDelivery(chunk.copies, delivery, {
      eventId: unpackId(row.event_id),
      merchant: row.merchant,
      entityId: unpackId(row.entity_id),
      type: row.type,
      subType: row.sub_type,
      occurredAt: row.occurred_at,
      createdAt,
      row: null,
    });
    addFailing(chunk.copies, delivery, { merchant: row.merchant, before: undefined });
    chunk.note(createdAt, ROW_BYTES);
    if (row.body !== null) {
      addBody(chunk.copies, { owner: seq, createdAt, kind: BODY_KIND.own, n: 0, bytes: row.body });
      chunk.note(createdAt, row.body.length);
    }
    const first = seq * ATTEMPTS_PER_DELIVERY;
    const attempts = this.#attempts.all(first, first + ATTEMPTS_PER_DELIVERY) as StoredAttempt[];
    for (const attempt of attempts) addOneAttempt(chunk, delivery, attempt);
  }
}

function addOneAttempt(chunk: RowsOfChunk, { seq, createdAt }: Delivery, row: StoredAttempt): void {
  const body = row.response_body ?? new Uint8Array();
  addAttempt(chunk.copies, {
    attemptId: row.attempt_id,
    createdAt,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    nextAttemptAt: row.next_attempt_at,
    response:
      row.response_status === null
        ? null
        : {
            status: row.response_status,
            headers: JSON.parse(row.response_headers ?? '[]'),
            body,
            bodyTruncated: row.response_truncated === 1,
          },
    keepsBody: true,
    failureCode: row.failure_code,
    failureDetail: row.failure_detail,
    signature: row.signature,
  });
  chunk.note(createdAt, ROW_BYTES + (row.response_headers?.length ?? 0));
  if (body.length === 0) return;
  const n = row.attempt_id % ATTEMPTS_PER_DELIVERY;
  addBody(chunk.copies, { owner: seq, createdAt, kind: BODY_KIND.response, n, bytes: body });
  chunk.note(createdAt, body.length);
}
