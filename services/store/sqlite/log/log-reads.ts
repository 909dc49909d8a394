import type { Database } from 'better-sqlite3';
import { packId } from '../../../sqlite/ids.ts';
import { CursorInvalid } from '../../change.ts';
import type { DeliveryLog, DeliveryPage, DeliveryStatus } from '../../store.ts';
import { EVENT_TYPE, STATUS } from '../codes.ts';
import { ATTEMPTS_PER_DELIVERY } from './delivery-rows.ts';
import { bodyOf } from './event-rows.ts';
import {
  type AttemptRow,
  type DeliveryRow,
  type EventRow,
  SELECT_DELIVERY,
  toAttempt,
  toDelivery,
  toEvent,
} from './log-rows.ts';

type ListOptions = Parameters<DeliveryLog['deliveries']>[2];
type Filter = Omit<ListOptions, 'limit' | 'after'>;
type FullDelivery = NonNullable<Awaited<ReturnType<DeliveryLog['delivery']>>>;
type FullEvent = NonNullable<Awaited<ReturnType<DeliveryLog['event']>>>;

/** The most rows of one page, whatever is requested. */
const PAGE_MAX = 1000;
/** The most deliveries that one page examines: a filter without an index must not hold up the next reader. */
const LOOKED_AT_MAX = 10_000;

/** Reads of the delivery log. `seq`: the row, when the writer knows it and the index may not have it yet. */
export class LogReads {
  readonly #db: Database;
  readonly #lists = new Map<string, ReturnType<Database['prepare']>>();
  readonly #endpoint;
  readonly #endpointName;
  readonly #merchant;
  readonly #deliveryById;
  readonly #eventById;
  readonly #delivery;
  readonly #attempts;
  readonly #bodies;
  readonly #event;
  readonly #isTried;
  readonly #position;

  constructor(db: Database) {
    this.#db = db;
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
    this.#delivery = db.prepare(`${SELECT_DELIVERY} WHERE d.seq = ?`);
    this.#attempts = db.prepare(
      `SELECT *, attempt_id % ${ATTEMPTS_PER_DELIVERY} AS number FROM attempt
       WHERE attempt_id BETWEEN ? AND ? ORDER BY attempt_id`,
    );
    this.#bodies = db.prepare(
      `SELECT ev.bodies, own.body, ev.bodies_removed_at IS NOT NULL AS isRemoved FROM delivery d JOIN event ev ON ev.seq = d.event
       LEFT JOIN delivery_body own ON own.delivery = d.seq WHERE d.seq = ?`,
    );
    this.#event = db.prepare('SELECT * FROM event WHERE seq = ? AND merchant = ? AND routed_at IS NOT NULL');
    this.#isTried = db
      .prepare(`SELECT attempts_made > 0 OR status = ${STATUS.of.cancelled} FROM delivery WHERE seq = ?`)
      .pluck();
    this.#position = db.prepare('SELECT last FROM journal_position WHERE partition = ?').pluck();
  }

  positionOf(partition: string): number | undefined {
    return this.#position.get(partition) as number | undefined;
  }

  deliveries(merchantId: string, endpointId: string, options: ListOptions): DeliveryPage {
    const after = options.after === undefined ? undefined : parseCursor(options.after);
    const endpoint = this.#endpoint.get(endpointId, merchantId) as number | undefined;
    if (endpoint === undefined) return { records: [], next: null };
    const limit = Math.min(options.limit, PAGE_MAX);
    const values: Record<string, number> = { endpoint, ...after };
    if (options.status) values.status = STATUS.of[options.status];
    if (options.type) values.type = EVENT_TYPE.of[options.type];
    if (options.since !== undefined) values.since = options.since;
    if (options.until !== undefined) values.until = options.until;
    const last = this.#lastLookedAt(options, values);
    const sql = LogReads.listSql(options, {
      isContinued: after !== undefined,
      isBounded: last !== undefined,
    });
    // One more than the page has: its presence means that there is a next page.
    const more = { limit: limit + 1, lastCreatedAt: last?.created_at, lastSeq: last?.seq };
    const rows = this.#statement(sql).all({ ...values, ...more }) as DeliveryRow[];
    const page = rows.slice(0, limit);
    const end = rows.length > limit ? page.at(-1) : last;
    return { records: page.map(toDelivery), next: end ? formatCursor(end.created_at, end.seq) : null };
  }

  /** Returns where a page must stop, or undefined when it needs no limit. */
  #lastLookedAt(
    options: ListOptions,
    values: Readonly<Record<string, number>>,
  ): { readonly created_at: number; readonly seq: number } | undefined {
    if (!isSifted(options)) return undefined;
    const sql = LogReads.lastLookedAtSql(options, options.after !== undefined);
    return this.#statement(sql).get({ ...values, skipped: LOOKED_AT_MAX - 1 }) as
      | { created_at: number; seq: number }
      | undefined;
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
    const row = this.#delivery.get(found) as (DeliveryRow & { readonly endpoint: number }) | undefined;
    if (!row || row.endpoint !== endpoint) return undefined;
    const record = toDelivery(row);
    const first = found * ATTEMPTS_PER_DELIVERY;
    const attempts = this.#attempts.all(first, first + ATTEMPTS_PER_DELIVERY - 1) as AttemptRow[];
    const { bodies, body, isRemoved } = this.#bodies.get(found) as BodiesRow;
    return {
      ...record,
      attempts: attempts.map((attempt) => toAttempt(attempt, record.trigger)),
      body: isRemoved === 1 ? null : (body ?? (bodies && bodyOf(bodies, row.api_version)) ?? null),
      bodyRemoved: isRemoved === 1,
    };
  }

  event(merchantId: string, eventId: string, seq: number | undefined): FullEvent | undefined {
    const merchant = this.#merchant.get(merchantId) as number | undefined;
    if (merchant === undefined) return undefined;
    const found = seq ?? (this.#eventById.get(packId(eventId), merchant) as number | undefined);
    if (found === undefined) return undefined;
    const row = this.#event.get(found, merchant) as EventRow | undefined;
    return row && toEvent(row, merchantId, (endpoint) => String(this.#endpointName.get(endpoint)));
  }

  /** Returns whether an attempt of the delivery is recorded, or it was cancelled. */
  isTried(deliveryId: string, seq: number | undefined): boolean {
    const found = seq ?? (this.#deliveryById.get(packId(deliveryId)) as number | undefined);
    return found !== undefined && this.#isTried.get(found) === 1;
  }

  /** Returns the SQL of a page with these filters; exposed so that its query plan can be checked. */
  static listSql(
    filter: Filter,
    page: { readonly isContinued: boolean; readonly isBounded: boolean },
  ): string {
    const conditions = indexed(filter, page.isContinued);
    if (filter.status && !isIndexed(filter.status)) conditions.push('d.status = :status');
    if (filter.type) conditions.push('d.type = :type');
    if (page.isBounded) conditions.push('(d.created_at, d.seq) >= (:lastCreatedAt, :lastSeq)');
    return `${SELECT_DELIVERY} WHERE ${conditions.join(' AND ')} ORDER BY d.created_at DESC, d.seq DESC LIMIT
     :limit`;
  }

  /** Returns the SQL of the last delivery that a page examines. It reads the index only. */
  static lastLookedAtSql(filter: Filter, isContinued: boolean): string {
    return `SELECT d.created_at, d.seq FROM delivery d WHERE ${indexed(filter, isContinued).join(' AND ')}
     ORDER BY d.created_at DESC, d.seq DESC LIMIT 1 OFFSET :skipped`;
  }

  /** One per set of filters, so that each uses the index that fits. */
  #statement(sql: string): ReturnType<Database['prepare']> {
    const known = this.#lists.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    this.#lists.set(sql, statement);
    return statement;
  }
}

/** Returns whether an index has the status (migration 002). */
function isIndexed(status: DeliveryStatus): boolean {
  return STATUS.of[status] > STATUS.of.delivered;
}

/** Returns whether the filter has a condition that is not in the index used. */
function isSifted({ status, type }: Filter): boolean {
  return type !== undefined || (status !== undefined && !isIndexed(status));
}

/** Returns the conditions that the index covers. */
function indexed(filter: Filter, isContinued: boolean): string[] {
  const conditions = ['d.endpoint = :endpoint'];
  // The second condition lets SQLite's planner use the index of failing deliveries.
  if (filter.status && isIndexed(filter.status))
    conditions.push('d.status = :status', `d.status > ${STATUS.of.delivered}`);
  if (filter.since !== undefined) conditions.push('d.created_at >= :since');
  if (filter.until !== undefined) conditions.push('d.created_at < :until');
  if (isContinued) conditions.push('(d.created_at, d.seq) < (:createdAt, :seq)');
  return conditions;
}

interface BodiesRow {
  readonly bodies: Buffer | null;
  readonly body: Buffer | null;
  readonly isRemoved: number;
}

function formatCursor(createdAt: number, seq: number): string {
  return Buffer.from(`${createdAt}.${seq}`).toString('base64url');
}

function parseCursor(cursor: string): { readonly createdAt: number; readonly seq: number } {
  const parts = /^(\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!parts) throw new CursorInvalid('the cursor does not belong to this list');
  return { createdAt: Number(parts[1]), seq: Number(parts[2]) };
}
