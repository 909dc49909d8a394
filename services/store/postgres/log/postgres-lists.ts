import { EVENT_TYPE, SKIP_REASON, STATUS } from '../../log/codes.ts';
import { type ListKey, listCursor, startOfList } from '../../log/list-cursor.ts';
import { eventCondition } from '../../rows/event-condition.ts';
import { linesOf } from '../../rows/log-records.ts';
import type { DeliveryPage, EventFilter, EventPage, MerchantLists } from '../../store.ts';
import { idBytes } from '../client/packed-id.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { LogNames } from './log-names.ts';
import { type DeliveryRow, type EventRow, toDelivery, toListed } from './log-rows.ts';

type DeliveryOptions = Parameters<MerchantLists['deliveries']>[1];
type EventOptions = Parameters<MerchantLists['events']>[1];

/** The most rows of one page, whatever is requested. */
const PAGE_MAX = 1000;
/** The most rows that one page examines: where few match, it ends early. */
const LOOKED_AT_MAX = 10_000;
/** Rows that the first statement of a page examines. The next one examines all the others: few match. */
const CHUNK_MIN = 200;

/** The lists of a merchant and of an endpoint, newest first. */
export class PostgresLists implements MerchantLists {
  readonly #database: PostgresDatabase;
  readonly #names: LogNames;

  constructor(database: PostgresDatabase, names: LogNames) {
    this.#database = database;
    this.#names = names;
  }

  async deliveries(merchantId: string, options: DeliveryOptions): Promise<DeliveryPage> {
    const start = startOfList(options);
    const { status, endpointId } = options;
    const merchant = await this.#names.merchant(merchantId);
    if (merchant === undefined) return { records: [], next: null };
    const endpoint =
      endpointId === undefined ? undefined : await this.#names.endpoint(merchantId, endpointId);
    if (endpointId !== undefined && endpoint === undefined) return { records: [], next: null };
    const isFailing = status !== undefined && STATUS.of[status] > STATUS.of.delivered;
    const of = endpoint === undefined ? { merchant } : { endpoint };
    const read = (step: Step) =>
      isFailing ? this.#readFailing(of, options, step) : this.#readDeliveries(of, options, step);
    const { rows, next } = await page(start, options.limit, read);
    await this.#names.readIds(rows.map((row) => row.endpoint));
    return {
      records: rows.map((row) => toDelivery(row, this.#names.numbers.endpointId(row.endpoint))),
      next,
    };
  }

  async events(merchantId: string, options: EventOptions): Promise<EventPage> {
    const start = startOfList(options);
    const merchant = await this.#names.merchant(merchantId);
    const endpoint =
      options.endpointId === undefined
        ? undefined
        : await this.#names.endpoint(merchantId, options.endpointId);
    const isUnknown = options.endpointId !== undefined && endpoint === undefined;
    if (merchant === undefined || isUnknown) return { records: [], next: null };
    const matches = eventCondition(options, endpoint);
    const read = async (step: Step) => {
      const condition = conditionOf({ ...options, trace: tracePattern(options, endpoint) });
      const found = await this.#examine<EventRow>('event', { merchant }, condition, options, step);
      return { ...found, rows: found.rows.filter(matches) };
    };
    const { rows, next } = await page(start, options.limit, read);
    await this.#names.readIds(rows.flatMap((row) => linesOf(row).map(([each]) => each)));
    return { records: rows.map((row) => toListed(row, merchantId, this.#names.numbers.endpointId)), next };
  }

  #readDeliveries(of: Owner, options: DeliveryOptions, step: Step): Promise<Examined<DeliveryRow>> {
    const status = options.status === undefined ? undefined : STATUS.of[options.status];
    return this.#examine('delivery', of, conditionOf({ ...options, status }), options, step);
  }

  /** Examines the next rows of a list: a walk by the index, which reads no leaf behind the last row. */
  async #examine<Row extends KeyRow>(
    table: 'delivery' | 'event',
    of: Owner,
    { text: condition, values }: Condition,
    { since = 0 }: { readonly since?: number },
    { before, count, wanted }: Step,
  ): Promise<Examined<Row>> {
    const [column, owner] = columnOf(of);
    const text = examining(table, column, condition);
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
  #readFailing(of: Owner, options: DeliveryOptions, { before, count }: Step): Promise<Examined<DeliveryRow>> {
    const { status, since = 0 } = options;
    const code = status === undefined ? 0 : STATUS.of[status];
    const [column, owner] = columnOf(of);
    return this.#database.read(async ({ rows }) => {
      const keys = await rows<FailingRow>(failing(column), [
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

/** The column of an index by which a list is read, and its value. */
type Owner = { readonly merchant: number } | { readonly endpoint: number };

function columnOf(of: Owner): [column: string, value: number] {
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

/** One statement of a page: it examines `count` rows after a place, for `wanted` that match. */
interface Step {
  readonly before: ListKey;
  readonly count: number;
  readonly wanted: number;
}

interface Examined<Row> {
  /** The rows that match, newest first. */
  readonly rows: readonly Row[];
  /** The last one that was examined. */
  readonly last: ListKey | undefined;
  /** Whether there is nothing behind it. */
  readonly isEnd: boolean;
}

const keyOf = ({ created_at, seq }: KeyRow): ListKey => ({ createdAt: created_at, seq });

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
    entityId,
    trace,
  }: Pick<EventFilter, 'type' | 'subType' | 'entityId'> & {
    readonly status?: number | undefined;
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
  if (entityId !== undefined) conditions.push(`entity_id = ${value(idBytes(entityId))}`);
  if (trace !== undefined) conditions.push(`trace LIKE ${value(trace)}`);
  return { text: conditions.join(' AND '), values };
}

/** Returns a pattern that the text of every trace with the wanted line has, and few others. */
function tracePattern({ verdict }: EventFilter, endpoint: number | undefined): string | undefined {
  if (verdict === undefined) return endpoint === undefined ? undefined : `%[${endpoint},%`;
  const line = verdict === 'delivered_to' ? ',0,"' : `,${SKIP_REASON.of[verdict]}]`;
  return endpoint === undefined ? `%${line}%` : `%[${endpoint}${line}%`;
}

const examining = (table: string, owner: string, condition: string) => `WITH examined AS MATERIALIZED (
    SELECT * FROM ${table} WHERE ${owner} = $1 AND created_at >= $2 AND created_at <= $3
    AND (created_at, seq) < ($3, $4) ORDER BY created_at DESC, seq DESC LIMIT $5
  )
  SELECT n.examined, l.last_at, l.last_seq, m.* FROM (SELECT count(*) AS examined FROM examined) n
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

/** Takes rows until the page is full, or as many were examined as one page may; `next`: where the following one begins. */
async function page<Row extends KeyRow>(
  start: ListKey,
  requested: number,
  read: (step: Step) => Promise<Examined<Row>>,
): Promise<{ readonly rows: Row[]; readonly next: string | null }> {
  const limit = Math.min(requested, PAGE_MAX);
  const rows: Row[] = [];
  let before = start;
  for (let looked = 0; looked < LOOKED_AT_MAX; ) {
    const count = looked === 0 ? Math.max(CHUNK_MIN, limit + 1) : LOOKED_AT_MAX - looked;
    // One more than the page has: its presence means that there is a next page.
    const wanted = limit + 1 - rows.length;
    const examined = await read({ before, count, wanted });
    rows.push(...examined.rows.slice(0, wanted));
    const last = rows[limit - 1];
    if (rows.length > limit && last) return { rows: rows.slice(0, limit), next: listCursor(keyOf(last)) };
    if (examined.isEnd) return { rows, next: null };
    before = examined.last ?? before;
    looked += count;
  }
  return { rows, next: listCursor(before) };
}
