import type { Database } from 'better-sqlite3';
import { packId } from '../../../sqlite/ids.ts';
import { STATUS } from '../../log/codes.ts';
import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import { type AttemptColumns, toAttempt } from '../../rows/log-records.ts';
import { type DeliveryLog, type DeliveryOwner, EVENTS_OF_ID_MAX, type EventListed } from '../../store.ts';
import { AttemptContentReads, headersText } from './attempt-contents.ts';
import { bodyOf } from './bodies-column.ts';
import { ContentReads } from './contents.ts';
import { DeliveryReads } from './delivery-reads.ts';
import { type EventRow, toDelivery, toListed } from './log-rows.ts';

type FullDelivery = NonNullable<Awaited<ReturnType<DeliveryLog['delivery']>>>;
type FullEvent = NonNullable<Awaited<ReturnType<DeliveryLog['event']>>>;

/** Reads of single deliveries and events. `seq`: the row, when the writer knows it and the index may not have it yet. */
export class LogReads {
  readonly #endpoint;
  readonly #endpointName;
  readonly #merchant;
  readonly #deliveryById;
  readonly #eventById;
  readonly #delivery;
  readonly #attempts;
  readonly #bodies;
  readonly #event;
  readonly #eventsById;
  readonly #eventOfAny;
  readonly #contents: ContentReads;
  readonly #attemptContents: AttemptContentReads;
  readonly #isTried;
  readonly #owner;
  readonly #position;

  constructor(db: Database) {
    this.#endpoint = db
      .prepare(
        `SELECT n.seq FROM log_endpoint n JOIN log_merchant m ON m.seq = n.merchant
         WHERE n.endpoint_id = ? AND m.merchant_id = ?`,
      )
      .pluck();
    this.#endpointName = db.prepare('SELECT endpoint_id FROM log_endpoint WHERE seq = ?').pluck();
    this.#merchant = db.prepare('SELECT seq FROM log_merchant WHERE merchant_id = ?').pluck();
    this.#deliveryById = db.prepare('SELECT delivery FROM delivery_by_id WHERE delivery_id = ?').pluck();
    this.#eventById = db.prepare('SELECT event FROM event_by_id WHERE event_id = ? AND merchant = ?').pluck();
    this.#delivery = new DeliveryReads(db);
    this.#attempts = db.prepare(
      `SELECT *, attempt_id % ${ATTEMPTS_PER_DELIVERY} AS number FROM attempt
       WHERE attempt_id BETWEEN ? AND ? ORDER BY attempt_id`,
    );
    this.#bodies = db.prepare(
      `SELECT ev.seq AS event, ev.bodies, own.body, ev.bodies_removed_at IS NOT NULL AS isRemoved FROM delivery d JOIN event ev ON ev.seq = d.event
       LEFT JOIN delivery_body own ON own.delivery = d.seq WHERE d.seq = ?`,
    );
    this.#event = db.prepare('SELECT * FROM event WHERE seq = ? AND merchant = ? AND routed_at IS NOT NULL');
    this.#eventsById = db.prepare('SELECT event FROM event_by_id WHERE event_id = ? LIMIT ?').pluck();
    this.#eventOfAny = db.prepare(
      `SELECT ev.*, m.merchant_id FROM event ev JOIN log_merchant m ON m.seq = ev.merchant
       WHERE ev.seq = ? AND ev.routed_at IS NOT NULL`,
    );
    this.#contents = new ContentReads(db);
    this.#attemptContents = new AttemptContentReads(db);
    this.#isTried = db
      .prepare(`SELECT attempts_made > 0 OR status = ${STATUS.of.cancelled} FROM delivery WHERE seq = ?`)
      .pluck();
    this.#owner = db.prepare(
      `SELECT m.merchant_id AS merchantId, n.endpoint_id AS endpointId FROM delivery d
         CROSS JOIN log_endpoint n ON n.seq = d.endpoint CROSS JOIN log_merchant m ON m.seq = n.merchant
         WHERE d.seq = ?`,
    );
    this.#position = db.prepare('SELECT last FROM journal_position WHERE partition = ?').pluck();
  }

  positionOf(partition: string): number | undefined {
    return this.#position.get(partition) as number | undefined;
  }

  delivery(
    merchantId: string,
    endpointId: string,
    deliveryId: string,
    seq: number | undefined,
  ): FullDelivery | undefined {
    const found = seq ?? (this.#deliveryById.get(packId(deliveryId)) as number | undefined);
    if (found === undefined) return undefined;
    const endpoint = this.#endpoint.get(endpointId, merchantId) as number | undefined;
    const row = this.#delivery.get(found);
    if (!row || row.endpoint !== endpoint) return undefined;
    const record = toDelivery(row, { merchantId, endpointId });
    const first = found * ATTEMPTS_PER_DELIVERY;
    const attempts = this.#attempts.all(first, first + ATTEMPTS_PER_DELIVERY - 1) as AttemptRow[];
    const { event, body, isRemoved, ...stored } = this.#bodies.get(found) as BodiesRow;
    const bodies = stored.bodies ?? this.#contents.of(event)?.bodies;
    return {
      ...record,
      attempts: attempts.map((attempt) => toAttempt(this.#whole(attempt), record.trigger)),
      body: isRemoved === 1 ? null : (body ?? (bodies && bodyOf(bodies, row.api_version)) ?? null),
      bodyRemoved: isRemoved === 1,
    };
  }

  #whole(row: AttemptRow): AttemptColumns {
    const { attempt_id: attemptId, content } = row;
    const { headers, body, isTruncated, signature } = this.#attemptContents.of({ attemptId, content });
    return { ...row, headers: headersText(headers), body, truncated: Number(isTruncated), signature };
  }

  event(merchantId: string, eventId: string, seq: number | undefined): FullEvent | undefined {
    const merchant = this.#merchant.get(merchantId) as number | undefined;
    if (merchant === undefined) return undefined;
    const found = seq ?? (this.#eventById.get(packId(eventId), merchant) as number | undefined);
    if (found === undefined) return undefined;
    const row = this.#event.get(found, merchant) as EventRow | undefined;
    if (row === undefined) return undefined;
    const data = row.data ?? this.#contents.of(found)?.data.toString() ?? null;
    const nameOf = (endpoint: number) => String(this.#endpointName.get(endpoint));
    const { event, subjectId, sequence, routedAt, trace } = toListed(row, merchantId, nameOf);
    const whole = { ...event, data: data === null ? null : JSON.parse(data) };
    return { event: whole, subjectId, sequence, routedAt, trace };
  }

  ownerOf(deliveryId: string, seq: number | undefined): DeliveryOwner | undefined {
    return this.#owner.get(seq ?? this.#deliveryById.get(packId(deliveryId))) as DeliveryOwner | undefined;
  }

  /** `recent`: rows of this id that the index may not have yet. */
  eventsOf(eventId: string, recent: readonly number[]): EventListed[] {
    const indexed = this.#eventsById.all(packId(eventId), EVENTS_OF_ID_MAX) as number[];
    const nameOf = (endpoint: number) => String(this.#endpointName.get(endpoint));
    const rows = [...new Set([...recent, ...indexed])].flatMap(
      (seq) => (this.#eventOfAny.get(seq) as (EventRow & { merchant_id: string }) | undefined) ?? [],
    );
    return rows.slice(0, EVENTS_OF_ID_MAX).map((row) => toListed(row, row.merchant_id, nameOf));
  }

  /** Returns whether the index has the delivery. */
  isRecorded(deliveryId: string): boolean {
    return this.#deliveryById.get(packId(deliveryId)) !== undefined;
  }

  /** Returns whether an attempt of the delivery is recorded, or it was cancelled. */
  isTried(deliveryId: string, seq: number | undefined): boolean {
    const found = seq ?? (this.#deliveryById.get(packId(deliveryId)) as number | undefined);
    return found !== undefined && this.#isTried.get(found) === 1;
  }
}

type AttemptRow = Omit<AttemptColumns, 'headers' | 'body' | 'truncated' | 'signature'> & {
  readonly attempt_id: number;
  readonly content: number;
};

interface BodiesRow {
  readonly event: number;
  readonly bodies: Buffer | null;
  readonly body: Buffer | null;
  readonly isRemoved: number;
}
