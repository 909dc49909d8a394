import type { Database } from 'better-sqlite3';
import { EVENT_TYPE, STATUS } from '../../log/codes.ts';
import { byNewest, type ListKey } from '../../log/list-cursor.ts';
import type { Examined, ListStep } from '../../log/list-pages.ts';
import { eventCondition } from '../../rows/event-condition.ts';
import type { DeliveryFilter, DeliveryRecord, EventFilter, EventListed, MerchantLists } from '../../store.ts';
import { listedToSql } from '../log/list-index.ts';
import { type DeliveryRow, SELECT_DELIVERY, toDelivery, toListed } from '../log/log-rows.ts';
import { AboutReads, aboutValues, EVENT_COLUMNS, IS_ABOUT, type ListedRow } from './about-reads.ts';
import { newestKeys, type ReadKeys } from './newest-keys.ts';

type DeliveryOptions = Parameters<MerchantLists['deliveries']>[1];
type EventOptions = Parameters<MerchantLists['events']>[1];

/** A step in this file: once every row behind a place is in the index, the newest rows need not be looked through again. */
export interface SqliteStep extends ListStep {
  readonly isListed: boolean;
}

export type Keyed<Listed> = ListKey & { readonly record: Listed };

export interface SqliteExamined<Listed> extends Examined<Keyed<Listed>> {
  readonly isListed: boolean;
}

/** Stands for the deliveries that the index does not have yet, beside the numbers of endpoints, which begin at 1. */
const UNLISTED = 0;

/**
 * Reads the lists of a merchant and of an endpoint, each step in one snapshot of the file. Deliveries have an index by
 * endpoint, which the lists merge: an index of the merchant would cost every delivery a further entry, for a list that
 * few ask for. What the indexes do not have yet (log/list-index.ts) is read from the newest rows.
 */
export class ListReads {
  readonly #merchant;
  readonly #endpoints;
  readonly #endpoint;
  readonly #endpointName;
  readonly #everyEndpoint;
  readonly #everyMerchant;
  readonly #merchantName;
  readonly #keys;
  readonly #unlistedKeys;
  readonly #failingKeys;
  readonly #delivery;
  readonly #events;
  readonly #eventKeys;
  readonly #event;
  readonly #unlistedEvents;
  readonly #about: AboutReads;

  constructor(db: Database) {
    this.#merchant = db.prepare('SELECT seq FROM log_merchant WHERE merchant_id = ?').pluck();
    this.#endpoints = db.prepare(ListReads.endpointsSql).pluck();
    this.#everyEndpoint = db.prepare('SELECT seq FROM log_endpoint').pluck();
    this.#everyMerchant = db.prepare('SELECT seq FROM log_merchant').pluck();
    this.#merchantName = db.prepare('SELECT merchant_id FROM log_merchant WHERE seq = ?').pluck();
    this.#endpoint = db.prepare(ListReads.endpointSql).pluck();
    this.#endpointName = db.prepare('SELECT endpoint_id FROM log_endpoint WHERE seq = ?').pluck();
    this.#keys = db.prepare(ListReads.keysSql);
    this.#unlistedKeys = db.prepare(ListReads.unlistedKeysSql);
    this.#failingKeys = db.prepare(ListReads.failingKeysSql);
    this.#delivery = db.prepare(ListReads.deliverySql);
    this.#events = db.prepare(ListReads.eventsSql);
    this.#eventKeys = db.prepare(ListReads.eventKeysSql);
    this.#event = db.prepare(ListReads.eventSql);
    this.#unlistedEvents = db.prepare(ListReads.unlistedEventsSql);
    this.#about = new AboutReads(db);
  }

  /** The SQL of the statements, exposed so that their query plans can be checked. */
  static readonly endpointSql = `SELECT seq FROM log_endpoint
    WHERE endpoint_id = :endpointId AND (:merchant IS NULL OR merchant = :merchant)`;

  static readonly endpointsSql = 'SELECT seq FROM log_endpoint WHERE merchant = ?';

  /** The SQL of an endpoint's next keys, which the index alone has. */
  static readonly keysSql = `SELECT created_at AS createdAt, seq FROM delivery_by_endpoint
    WHERE endpoint = :endpoint AND created_at >= :since AND (created_at, seq) < (:createdAt, :seq)
    ORDER BY created_at DESC, seq DESC LIMIT :limit`;

  /** The second condition on the status lets SQLite's planner use the index of failing deliveries. */
  static readonly failingKeysSql = `SELECT created_at AS createdAt, seq FROM delivery
    WHERE endpoint = :endpoint AND status = :status AND status > ${STATUS.of.delivered}
    AND created_at >= :since AND (created_at, seq) < (:createdAt, :seq)
    ORDER BY created_at DESC, seq DESC LIMIT :limit`;

  /** The SQL of the next keys, of all endpoints of the merchant or of one, that the index does not have yet. */
  static readonly unlistedKeysSql = `SELECT d.created_at AS createdAt, d.seq
    FROM delivery d CROSS JOIN log_endpoint n ON n.seq = d.endpoint
    WHERE d.seq > (${listedToSql('delivery')}) AND (:endpoint IS NULL OR d.endpoint = :endpoint)
    AND d.created_at >= :since AND (d.created_at, d.seq) < (:createdAt, :seq)
    AND (:merchant IS NULL OR n.merchant = :merchant)
    ORDER BY d.created_at DESC, d.seq DESC LIMIT :limit`;

  /** CROSS JOIN keeps the order of SELECT_DELIVERY: a delivery that does not match costs no look at its event. */
  static readonly deliverySql = `${SELECT_DELIVERY} WHERE d.seq = :seq
    AND (:status IS NULL OR d.status = :status) AND (:type IS NULL OR d.type = :type)
    AND (:subType IS NULL OR ev.sub_type = :subType) AND ${IS_ABOUT}`;

  static readonly eventsSql =
    `SELECT ${EVENT_COLUMNS}, ${IS_ABOUT} AS is_about FROM event_by_merchant l CROSS JOIN event ev ON ev.seq = l.seq
    WHERE l.merchant = :merchant AND l.created_at >= :since AND (l.created_at, l.seq) < (:createdAt, :seq)
    ORDER BY l.created_at DESC, l.seq DESC LIMIT :limit`;

  /** The SQL of a merchant's next keys, which are merged where a list is over all merchants. */
  static readonly eventKeysSql = `SELECT created_at AS createdAt, seq FROM event_by_merchant
    WHERE merchant = :merchant AND created_at >= :since AND (created_at, seq) < (:createdAt, :seq)
    ORDER BY created_at DESC, seq DESC LIMIT :limit`;

  static readonly eventSql =
    `SELECT ${EVENT_COLUMNS}, ${IS_ABOUT} AS is_about FROM event ev WHERE ev.seq = :row`;

  /** The SQL of the events that the index does not have yet. */
  static readonly unlistedEventsSql = `SELECT ${EVENT_COLUMNS}, ${IS_ABOUT} AS is_about FROM event ev
    WHERE ev.seq > (${listedToSql('event')}) AND (:merchant IS NULL OR ev.merchant = :merchant)
    AND ev.created_at >= :since AND (ev.created_at, ev.seq) < (:createdAt, :seq)
    ORDER BY ev.created_at DESC, ev.seq DESC LIMIT :limit`;

  deliveries(
    merchantId: string | null,
    options: DeliveryOptions,
    step: SqliteStep,
  ): SqliteExamined<DeliveryRecord> {
    const merchant = this.#numberOf(merchantId);
    const endpoints = this.#endpointsOf(merchant, options.endpointId);
    if (endpoints.length === 0) return { rows: [], last: undefined, isEnd: true, isListed: true };
    const only = options.endpointId === undefined ? null : (endpoints[0] ?? null);
    const conditions = deliveryConditions(options);
    const find = ({ seq }: ListKey) => {
      const row = this.#delivery.get({ seq, ...conditions }) as DeliveryRow | undefined;
      return row && toDelivery(row, { merchantId: row.merchant_id, endpointId: row.endpoint_id });
    };
    const about = merchant === undefined ? undefined : this.#about.deliveries(merchant, options, only);
    if (about) return { ...examine(about.filter(isWithin(options, step)), step, find), isListed: true };
    const isFailing = options.status !== undefined && STATUS.of[options.status] > STATUS.of.delivered;
    const status = isFailing && options.status ? { status: STATUS.of[options.status] } : {};
    const since = options.since ?? 0;
    let unlisted: readonly ListKey[] | undefined;
    const read: ReadKeys = (endpoint, before, count) => {
      const values = { since, ...before, limit: count };
      if (isFailing) return this.#failingKeys.all({ endpoint, ...status, ...values }) as ListKey[];
      if (endpoint !== UNLISTED) return this.#keys.all({ endpoint, ...values }) as ListKey[];
      // Each read walks all of them, so as many as a step can use are read at once.
      if (unlisted !== undefined) return [];
      const all = { merchant, endpoint: only, ...values, limit: step.count };
      unlisted = this.#unlistedKeys.all(all) as ListKey[];
      return unlisted;
    };
    const sources = isFailing || step.isListed ? endpoints : [UNLISTED, ...endpoints];
    const keys = newestKeys(sources, read, step.before, step.wanted);
    const found = examine(keys, step, find);
    return { ...found, isListed: areAllPassed(unlisted ?? [], found.last, step) };
  }

  events(merchantId: string | null, options: EventOptions, step: SqliteStep): SqliteExamined<EventListed> {
    const merchant = this.#numberOf(merchantId);
    const endpoint =
      options.endpointId === undefined ? undefined : this.#endpointsOf(merchant, options.endpointId)[0];
    const isUnknown = options.endpointId !== undefined && endpoint === undefined;
    if (merchant === undefined || isUnknown)
      return { rows: [], last: undefined, isEnd: true, isListed: true };
    const matches = listCondition(options, endpoint);
    const nameOf = (each: number) => String(this.#endpointName.get(each));
    const find = ({ row }: { readonly row: ListedRow }) =>
      matches(row)
        ? toListed(row, merchantId ?? String(this.#merchantName.get(row.merchant)), nameOf)
        : undefined;
    const about = this.#about.events(merchant, options);
    if (about) {
      const keys = [...withKeys(about)].filter(isWithin(options, step));
      return { ...examine(keys, step, find), isListed: true };
    }
    const bounds = { merchant, since: options.since ?? 0, ...step.before, limit: step.count };
    const values = { ...bounds, ...aboutValues(options) };
    const unlisted = step.isListed ? [] : (this.#unlistedEvents.all(values) as ListedRow[]);
    const listed = merchant === null ? this.#everyEvent(options, step) : this.#events.all(values);
    const rows = newestFirst(unlisted, listed as Iterable<ListedRow>);
    const found = examine(withKeys(rows), step, find);
    const keys = unlisted.map(({ created_at, seq }) => ({ createdAt: created_at, seq }));
    return { ...found, isListed: areAllPassed(keys, found.last, step) };
  }

  /** Reads the events of all merchants that the index has, newest first, as they are taken. */
  *#everyEvent(
    { since = 0, ...about }: EventOptions,
    { before: start, wanted }: ListStep,
  ): Generator<ListedRow> {
    const read: ReadKeys = (merchant, before, limit) =>
      this.#eventKeys.all({ merchant, since, ...before, limit }) as ListKey[];
    const merchants = this.#everyMerchant.all() as number[];
    for (const { seq: row } of newestKeys(merchants, read, start, wanted))
      yield this.#event.get({ row, ...aboutValues(about) }) as ListedRow;
  }

  /** Returns the number of a merchant; null for null, undefined where the log does not have it. */
  #numberOf(merchantId: string | null): number | null | undefined {
    return merchantId === null ? null : (this.#merchant.get(merchantId) as number | undefined);
  }

  #endpointsOf(merchant: number | null | undefined, endpointId: string | undefined): readonly number[] {
    if (merchant === undefined) return [];
    if (endpointId === undefined)
      return (merchant === null ? this.#everyEndpoint.all() : this.#endpoints.all(merchant)) as number[];
    return this.#endpoint.all({ endpointId, merchant }) as number[];
  }
}

/** Merges two lists of events, each newest first. */
function* newestFirst(some: readonly ListedRow[], others: Iterable<ListedRow>): Generator<ListedRow> {
  let next = 0;
  for (const other of others) {
    for (let row = some[next]; row && isNewer(row, other); row = some[next]) {
      next += 1;
      yield row;
    }
    yield other;
  }
  yield* some.slice(next);
}

function isNewer(one: ListedRow, other: ListedRow): boolean {
  return one.created_at > other.created_at || (one.created_at === other.created_at && one.seq > other.seq);
}

function* withKeys(rows: Iterable<ListedRow>): Generator<ListKey & { readonly row: ListedRow }> {
  for (const row of rows) yield { createdAt: row.created_at, seq: row.seq, row };
}

/** Examines as many rows as a step may, or until it has as many as are wanted. */
function examine<Each extends ListKey, Listed>(
  keys: Iterable<Each>,
  { count, wanted }: ListStep,
  find: (key: Each) => Listed | undefined,
): Examined<Keyed<Listed>> {
  const rows: Keyed<Listed>[] = [];
  let examined = 0;
  let last: ListKey | undefined;
  for (const key of keys) {
    if (examined === count || rows.length === wanted) return { rows, last, isEnd: false };
    const record = find(key);
    last = { createdAt: key.createdAt, seq: key.seq };
    if (record !== undefined) rows.push({ ...last, record });
    examined += 1;
  }
  // As many as a step may examine is as many as were read: there may be more.
  return { rows, last, isEnd: examined < count };
}

/** Returns whether a step has passed all rows that the index does not have: there were no more than it could read. */
function areAllPassed(unlisted: readonly ListKey[], last: ListKey | undefined, { count }: ListStep): boolean {
  const oldest = unlisted.at(-1);
  if (oldest === undefined) return true;
  return unlisted.length < count && last !== undefined && byNewest(oldest, last) <= 0;
}

/** Returns whether a step may examine a row: it comes after the step's beginning, and is young enough. */
function isWithin(
  { since = 0 }: { readonly since?: number },
  { before }: ListStep,
): (key: ListKey) => boolean {
  return (key) => key.createdAt >= since && byNewest(key, before) > 0;
}

function deliveryConditions({ status, type, subType, ...about }: DeliveryFilter) {
  return {
    status: status === undefined ? null : STATUS.of[status],
    type: type === undefined ? null : EVENT_TYPE.of[type],
    subType: subType ?? null,
    ...aboutValues(about),
  };
}

/** Returns the condition on an event's row. `endpoint`: the number of the filter's endpoint. */
function listCondition(filter: EventFilter, endpoint: number | undefined): (row: ListedRow) => boolean {
  const matches = eventCondition(filter, endpoint);
  return (row) => row.routed_at !== null && row.is_about !== 0 && matches(row);
}
