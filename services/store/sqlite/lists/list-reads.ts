import type { Database } from 'better-sqlite3';
import { EVENT_TYPE, STATUS } from '../../log/codes.ts';
import type { ListKey } from '../../log/list-cursor.ts';
import type { ListStep } from '../../log/list-pages.ts';
import { eventCondition } from '../../rows/event-condition.ts';
import type { DeliveryFilter, DeliveryRecord, EventFilter, EventListed, MerchantLists } from '../../store.ts';
import { aboutValues, IS_ABOUT } from '../log/about-condition.ts';
import { DeliveryReads } from '../log/delivery-reads.ts';
import { listedToSql } from '../log/list-index.ts';
import { toDelivery, toListed } from '../log/log-rows.ts';
import { AboutReads, EVENT_COLUMNS, type ListedRow } from './about-reads.ts';
import { areAllPassed, examine, isWithin, type SqliteExamined, type SqliteStep } from './examine.ts';
import { newestKeys, type ReadKeys } from './newest-keys.ts';

type DeliveryOptions = Parameters<MerchantLists['deliveries']>[1];
type EventOptions = Parameters<MerchantLists['events']>[1];

/** The key of a delivery, with what its index says of it. The index of failing deliveries says nothing. */
interface DeliveryKey extends ListKey {
  readonly type?: number;
  /** 1: it is delivered. */
  readonly delivered?: number;
}

/** The columns of an event that a filter compares. */
type ExaminedRow = Pick<
  ListedRow,
  'seq' | 'created_at' | 'type' | 'sub_type' | 'routed_at' | 'trace' | 'is_about'
>;

const NOTHING = aboutValues({});

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
    this.#delivery = new DeliveryReads(db);
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
  static readonly keysSql = `SELECT created_at AS createdAt, seq, type, delivered FROM delivery_by_endpoint
    WHERE endpoint = :endpoint AND created_at >= :since AND (created_at, seq) < (:createdAt, :seq)
    ORDER BY created_at DESC, seq DESC LIMIT :limit`;

  /** The second condition on the status lets SQLite's planner use the index of failing deliveries. */
  static readonly failingKeysSql = `SELECT created_at AS createdAt, seq FROM delivery
    WHERE endpoint = :endpoint AND status = :status AND status > ${STATUS.of.delivered}
    AND created_at >= :since AND (created_at, seq) < (:createdAt, :seq)
    ORDER BY created_at DESC, seq DESC LIMIT :limit`;

  /** The SQL of the next keys, of all endpoints of the merchant or of one, that the index does not have yet. */
  static readonly unlistedKeysSql = `SELECT d.created_at AS createdAt, d.seq, d.type,
    d.status = ${STATUS.of.delivered} AS delivered
    FROM delivery d CROSS JOIN log_endpoint n ON n.seq = d.endpoint
    WHERE d.seq > (${listedToSql('delivery')}) AND (:endpoint IS NULL OR d.endpoint = :endpoint)
    AND d.created_at >= :since AND (d.created_at, d.seq) < (:createdAt, :seq)
    AND (:merchant IS NULL OR n.merchant = :merchant)
    ORDER BY d.created_at DESC, d.seq DESC LIMIT :limit`;

  /** Selects the columns that a filter compares; those of an event of another type are null, and its row is not read. */
  static readonly eventsSql =
    `SELECT l.seq, l.created_at, ev.type, ev.sub_type, ev.routed_at, ev.trace, ${IS_ABOUT} AS is_about
    FROM event_by_merchant l LEFT JOIN event ev ON ev.seq = l.seq AND (:type IS NULL OR l.type = :type)
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
    const find = (key: DeliveryKey) => {
      if (!mayMatch(key, conditions)) return undefined;
      const row = this.#delivery.get(key.seq, conditions);
      return row && toDelivery(row, { merchantId: row.merchant_id, endpointId: row.endpoint_id });
    };
    const about = merchant === undefined ? undefined : this.#about.deliveries(merchant, options, only);
    if (about) return { ...examine(about.filter(isWithin(options, step)), step, find), isListed: true };
    const isFailing = options.status !== undefined && STATUS.of[options.status] > STATUS.of.delivered;
    const status = isFailing && options.status ? { status: STATUS.of[options.status] } : {};
    const since = options.since ?? 0;
    let unlisted: readonly DeliveryKey[] | undefined;
    const read: ReadKeys<DeliveryKey> = (endpoint, before, count) => {
      const values = { since, ...before, limit: count };
      if (isFailing) return this.#failingKeys.all({ endpoint, ...status, ...values }) as ListKey[];
      if (endpoint !== UNLISTED) return this.#keys.all({ endpoint, ...values }) as DeliveryKey[];
      // Each read walks all of them, so as many as a step can use are read at once.
      if (unlisted !== undefined) return [];
      const all = { merchant, endpoint: only, ...values, limit: step.count };
      unlisted = this.#unlistedKeys.all(all) as DeliveryKey[];
      return unlisted;
    };
    const sources = isFailing || step.isListed ? endpoints : [UNLISTED, ...endpoints];
    const isFiltered = conditions.type !== null || conditions.status !== null;
    const keys = newestKeys(sources, read, step.before, isFiltered ? step.count : step.wanted);
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
    const find = ({ row }: { readonly row: ExaminedRow | ListedRow }) => {
      if (!matches(row)) return undefined;
      const whole = 'event_id' in row ? row : (this.#event.get({ row: row.seq, ...NOTHING }) as ListedRow);
      return toListed(whole, merchantId ?? String(this.#merchantName.get(whole.merchant)), nameOf);
    };
    const about = this.#about.events(merchant, options);
    if (about) {
      const keys = [...withKeys(about)].filter(isWithin(options, step));
      return { ...examine(keys, step, find), isListed: true };
    }
    const bounds = { merchant, since: options.since ?? 0, ...step.before, limit: step.count };
    const type = options.type === undefined ? null : EVENT_TYPE.of[options.type];
    const values = { ...bounds, ...aboutValues(options), type };
    const unlisted = step.isListed ? [] : (this.#unlistedEvents.all(values) as ListedRow[]);
    const listed = merchant === null ? this.#everyEvent(options, step) : this.#events.all(values);
    const rows = newestFirst(unlisted, listed as Iterable<ExaminedRow | ListedRow>);
    const found = examine(withKeys(rows), step, find);
    const keys = unlisted.map(({ created_at, seq }) => ({ createdAt: created_at, seq }));
    return { ...found, isListed: areAllPassed(keys, found.last, step) };
  }

  /** Reads the events of all merchants that the index has, newest first, as they are taken. */
  *#everyEvent(
    { since = 0, ...about }: EventOptions,
    { before: start, wanted }: ListStep,
  ): Generator<ListedRow> {
    const read: ReadKeys<ListKey> = (merchant, before, limit) =>
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
function* newestFirst<Row extends ExaminedRow>(some: readonly Row[], others: Iterable<Row>): Generator<Row> {
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

function isNewer(one: ExaminedRow, other: ExaminedRow): boolean {
  return one.created_at > other.created_at || (one.created_at === other.created_at && one.seq > other.seq);
}

function* withKeys<Row extends ExaminedRow>(rows: Iterable<Row>): Generator<ListKey & { readonly row: Row }> {
  for (const row of rows) yield { createdAt: row.created_at, seq: row.seq, row };
}

/** Returns whether a delivery must be read to know if it matches. */
function mayMatch(
  { type, delivered }: DeliveryKey,
  wanted: { readonly type: number | null; readonly status: number | null },
): boolean {
  if (wanted.type !== null && type !== undefined && type !== wanted.type) return false;
  return delivered !== 1 || wanted.status === null || wanted.status === STATUS.of.delivered;
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
function listCondition(filter: EventFilter, endpoint: number | undefined): (row: ExaminedRow) => boolean {
  const matches = eventCondition(filter, endpoint);
  return (row) => row.routed_at !== null && row.is_about !== 0 && matches(row);
}
