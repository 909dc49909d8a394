import { EVENT_TYPE, SKIP_REASON, STATUS } from '../../log/codes.ts';
import { byNewest, type ListKey, startOfList } from '../../log/list-cursor.ts';
import { EVERYBODY, type Examined, ListPages, type ListStep } from '../../log/list-pages.ts';
import { eventCondition } from '../../rows/event-condition.ts';
import { linesOf } from '../../rows/log-records.ts';
import type { DeliveryPage, EventFilter, EventPage, MerchantLists } from '../../store.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { type AboutKey, aboutConditions, deliveriesAbout, eventsAbout } from './about-reads.ts';
import { everyExamined, FAILING_OF_EVERY } from './every-merchant.ts';
import type { LogNames } from './log-names.ts';
import { type DeliveryRow, type EventRow, toDelivery, toListed } from './log-rows.ts';

type DeliveryOptions = Parameters<MerchantLists['deliveries']>[1];
type EventOptions = Parameters<MerchantLists['events']>[1];

/**
 * At most two pages whose filter matches little use a connection at a time: the others are for everybody else. Their steps
 * are large, because planning a statement over all leaves takes as long as examining thousands of rows.
 */
const LONG_PAGES = { atOnce: 2, step: 1400 };

/** The lists of a merchant and of an endpoint, newest first. */
export class PostgresLists implements MerchantLists {
  readonly #database: PostgresDatabase;
  readonly #names: LogNames;
  readonly #pages = new ListPages(LONG_PAGES);

  constructor(database: PostgresDatabase, names: LogNames) {
    this.#database = database;
    this.#names = names;
  }

  async deliveries(merchantId: string | null, options: DeliveryOptions): Promise<DeliveryPage> {
    const start = startOfList(options);
    const { status, endpointId } = options;
    const merchant = merchantId === null ? null : await this.#names.merchant(merchantId);
    if (merchant === undefined) return { records: [], next: null };
    const endpoint =
      endpointId === undefined ? undefined : await this.#names.endpoint(merchantId, endpointId);
    if (endpointId !== undefined && endpoint === undefined) return { records: [], next: null };
    const isFailing = status !== undefined && STATUS.of[status] > STATUS.of.delivered;
    const of = endpoint === undefined ? { merchant } : { endpoint };
    const about = await this.#database.read((statements) => deliveriesAbout(statements, merchant, options));
    const read = (step: ListStep) => {
      if (about) return this.#readAbout(about, { ...options, endpoint }, step);
      return isFailing ? this.#readFailing(of, options, step) : this.#readDeliveries(of, options, step);
    };
    const whose = { merchantId: merchantId ?? EVERYBODY, start, limit: options.limit, keyOf };
    const { rows, next } = await this.#pages.page(whose, read);
    await this.#names.readIds(rows.map((row) => row.endpoint));
    const merchantOf = await this.#names.merchantIds(rows.map((row) => row.merchant));
    const ownerOf = (row: DeliveryRow) => ({
      merchantId: merchantOf(row.merchant),
      endpointId: this.#names.numbers.endpointId(row.endpoint),
    });
    return { records: rows.map((row) => toDelivery(row, ownerOf(row))), next };
  }

  async events(merchantId: string | null, options: EventOptions): Promise<EventPage> {
    const start = startOfList(options);
    const merchant = merchantId === null ? null : await this.#names.merchant(merchantId);
    const endpoint =
      options.endpointId === undefined
        ? undefined
        : await this.#names.endpoint(merchantId, options.endpointId);
    const isUnknown = options.endpointId !== undefined && endpoint === undefined;
    if (merchant === undefined || isUnknown) return { records: [], next: null };
    const matches = eventCondition(options, endpoint);
    const about = await this.#database.read((statements) => eventsAbout(statements, merchant, options));
    const read = async (step: ListStep): Promise<Examined<EventRow>> => {
      if (about) return { rows: after(about, options, step).filter(matches), last: undefined, isEnd: true };
      const condition = conditionOf({ ...options, trace: tracePattern(options, endpoint) });
      const found = await this.#examine<EventRow>('event', { merchant }, condition, options, step);
      return { ...found, rows: found.rows.filter(matches) };
    };
    const whose = { merchantId: merchantId ?? EVERYBODY, start, limit: options.limit, keyOf };
    const { rows, next } = await this.#pages.page(whose, read);
    await this.#names.readIds(rows.flatMap((row) => linesOf(row).map(([each]) => each)));
    const merchantOf = await this.#names.merchantIds(rows.map((row) => row.merchant));
    const { endpointId: endpointOf } = this.#names.numbers;
    return { records: rows.map((row) => toListed(row, merchantOf(row.merchant), endpointOf)), next };
  }

  #readDeliveries(of: Owner, options: DeliveryOptions, step: ListStep): Promise<Examined<DeliveryRow>> {
    const status = options.status === undefined ? undefined : STATUS.of[options.status];
    return this.#examine('delivery', of, conditionOf({ ...options, status }), options, step);
  }

  /** Reads the next of the deliveries that were found by what they are about. */
  async #readAbout(
    about: readonly AboutKey[],
    { since = 0, ...options }: DeliveryOptions & { readonly endpoint: number | undefined },
    step: ListStep,
  ): Promise<Examined<DeliveryRow>> {
    const rest = about.filter(({ createdAt }) => createdAt <= step.before.createdAt && createdAt >= since);
    // All of one millisecond together: their order is known when they are read.
    const end = rest[step.count - 1]?.createdAt ?? since;
    const keys = rest.filter(({ createdAt }) => createdAt >= end);
    const status = options.status === undefined ? undefined : STATUS.of[options.status];
    const condition = conditionOf({ ...options, status }, BY_KEYS_VALUES);
    const found = await this.#database.read(({ rows }) =>
      rows<DeliveryRow>(byKeys(condition.text), [
        keys.map(({ deliveryId }) => deliveryId),
        keys.map(({ createdAt }) => createdAt),
        ...condition.values,
      ]),
    );
    const last = { createdAt: end, seq: 0 };
    return { rows: after(found, { since }, step), last, isEnd: keys.length === rest.length };
  }

  /** Examines the next rows of a list: a walk by the index, which reads no leaf behind the last row. */
  async #examine<Row extends KeyRow>(
    table: 'delivery' | 'event',
    of: Owner,
    { text: condition, values }: Condition,
    { since = 0 }: { readonly since?: number },
    { before, count, wanted }: ListStep,
  ): Promise<Examined<Row>> {
    const [column, owner] = columnOf(of);
    const text = column === null ? examiningEvery(table, condition) : examining(table, column, condition);
    const found = await this.#database.read(({ rows }) =>
      rows<ExaminedRow<Row>>(text, [owner, since, before.createdAt, before.seq, count, wanted, ...values]),
    );
    const matching = found.filter(({ seq }) => seq !== null);
    const lastFound = matching.at(-1);
    // There may be more that match among those examined: the next statement begins behind the last one returned.
    if (lastFound && matching.length === wanted)
      return { rows: matching, last: keyOf(lastFound), isEnd: false };
    const { examined = 0, last_at = null, last_seq = 0 } = found[0] ?? {};
    const last = last_at === null ? undefined : { createdAt: last_at, seq: last_seq };
    return { rows: matching, last, isEnd: examined < count };
  }

  /** Examines the next failing deliveries, by keys; then reads those that match. */
  #readFailing(
    of: Owner,
    options: DeliveryOptions,
    { before, count }: ListStep,
  ): Promise<Examined<DeliveryRow>> {
    const { status, since = 0 } = options;
    const code = status === undefined ? 0 : STATUS.of[status];
    const [column, owner] = columnOf(of);
    return this.#database.read(async ({ rows }) => {
      const keys = await rows<FailingRow>(column === null ? FAILING_OF_EVERY : failing(column), [
        owner,
        since,
        before.createdAt,
        before.seq,
        count,
        code,
      ]);
      const condition = conditionOf({ ...options, status: code }, BY_KEYS_VALUES);
      const found = await rows<DeliveryRow>(byKeys(condition.text), [
        keys.map(({ delivery_id }) => delivery_id),
        keys.map(({ created_at }) => created_at),
        ...condition.values,
      ]);
      const last = keys.at(-1);
      return { rows: found, last: last && keyOf(last), isEnd: keys.length < count };
    });
  }
}

/** The column of an index by which a list is read, and its value; null: over all merchants. */
type Owner = { readonly merchant: number | null } | { readonly endpoint: number };

function columnOf(of: Owner): [column: string | null, value: number | null] {
  if ('merchant' in of && of.merchant === null) return [null, null];
  return 'merchant' in of ? ['merchant', of.merchant] : ['endpoint', of.endpoint];
}

interface KeyRow {
  readonly created_at: number;
  readonly seq: number;
}

type FailingRow = KeyRow & Pick<DeliveryRow, 'delivery_id'>;
type ExaminedRow<Row> = Row & {
  readonly examined: number;
  readonly last_at: number | null;
  readonly last_seq: number;
};

const keyOf = ({ created_at, seq }: KeyRow): ListKey => ({ createdAt: created_at, seq });

/** Returns the rows that a step may examine, newest first. */
function after<Row extends KeyRow>(
  rows: readonly Row[],
  { since = 0 }: { readonly since?: number },
  { before }: ListStep,
): Row[] {
  return rows
    .filter((row) => row.created_at >= since && byNewest(keyOf(row), before) > 0)
    .sort((one, other) => byNewest(keyOf(one), keyOf(other)));
}

interface Condition {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Values of `examining` before those of its condition. */
const EXAMINING_VALUES = 6;

/** Returns the condition on a row. `before`: the number of the statement's other values. */
function conditionOf(
  {
    status,
    type,
    subType,
    trace,
    endpoint,
    ...about
  }: Pick<EventFilter, 'type' | 'subType' | 'entityId' | 'subjectId' | 'transactionId'> & {
    readonly status?: number | undefined;
    readonly endpoint?: number | undefined;
    readonly trace?: string | undefined;
  },
  before = EXAMINING_VALUES,
): Condition {
  const values: unknown[] = [];
  const value = (each: unknown) => `$${before + values.push(each)}`;
  const conditions = ['TRUE'];
  if (status !== undefined) conditions.push(`status = ${value(status)}`);
  if (type !== undefined) conditions.push(`type = ${value(EVENT_TYPE.of[type])}`);
  if (subType !== undefined) conditions.push(`sub_type = ${value(subType)}`);
  if (endpoint !== undefined) conditions.push(`endpoint = ${value(endpoint)}`);
  conditions.push(...aboutConditions(about, value));
  if (trace !== undefined) conditions.push(`trace LIKE ${value(trace)}`);
  return { text: conditions.join(' AND '), values };
}

/** Returns a pattern that the text of every trace with the wanted line has, and few others. */
function tracePattern({ verdict }: EventFilter, endpoint: number | undefined): string | undefined {
  if (verdict === undefined) return endpoint === undefined ? undefined : `%[${endpoint},%`;
  const line = verdict === 'delivered_to' ? ',0,"' : `,${SKIP_REASON.of[verdict]}]`;
  return endpoint === undefined ? `%${line}%` : `%[${endpoint}${line}%`;
}

const examining = (
  table: 'delivery' | 'event',
  owner: string,
  condition: string,
) => `WITH examined AS MATERIALIZED (
    SELECT * FROM ${table} WHERE ${owner} = $1 AND created_at >= $2 AND created_at <= $3
    AND (created_at, seq) < ($3, $4) ORDER BY created_at DESC, seq DESC LIMIT $5
  )
  ${matching(condition)}`;

const examiningEvery = (table: 'delivery' | 'event', condition: string) =>
  `WITH ${everyExamined(table)} ${matching(condition)}`;

/** Selects those of the examined rows that meet the condition, and how far the examination came. */
const matching = (
  condition: string,
) => `SELECT n.examined, l.last_at, l.last_seq, m.* FROM (SELECT count(*) AS examined FROM examined) n
  LEFT JOIN (
    SELECT created_at AS last_at, seq AS last_seq FROM examined ORDER BY created_at, seq LIMIT 1
  ) l ON TRUE
  LEFT JOIN (
    SELECT * FROM examined WHERE ${condition} ORDER BY created_at DESC, seq DESC LIMIT $6
  ) m ON TRUE
  ORDER BY m.created_at DESC, m.seq DESC`;

const failing = (
  owner: string,
) => `SELECT created_at, seq, delivery_id FROM failing WHERE ${owner} = $1 AND status = $6
  AND created_at >= $2 AND created_at <= $3 AND (created_at, seq) < ($3, $4)
  ORDER BY created_at DESC, seq DESC LIMIT $5`;

/** By id, each in the leaf of its time: with one condition for all of them, every leaf would be searched for every id. */
const byKeys = (condition: string) => `SELECT d.* FROM unnest($1::bytea[], $2::bigint[]) AS k (id, at)
  CROSS JOIN LATERAL (SELECT * FROM delivery WHERE delivery_id = k.id AND created_at = k.at LIMIT 1) d
  WHERE ${condition} ORDER BY d.created_at DESC, d.seq DESC`;
const BY_KEYS_VALUES = 2;
