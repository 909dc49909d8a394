import { EVENT_TYPE, STATUS } from '../../log/codes.ts';
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
/** Rows that one statement examines. */
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
    const endpoints = await this.#endpointsOf(merchantId, options.endpointId);
    if (endpoints.length === 0) return { records: [], next: null };
    const read = (before: ListKey, count: number) => this.#readDeliveries(endpoints, options, before, count);
    const { rows, next } = await page(start, options.limit, read);
    await this.#names.readIds(rows.map(({ endpoint }) => endpoint));
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
        : (await this.#endpointsOf(merchantId, options.endpointId))[0];
    const isUnknown = options.endpointId !== undefined && endpoint === undefined;
    if (merchant === undefined || isUnknown) return { records: [], next: null };
    const matches = listCondition(options, endpoint);
    const read = async (before: ListKey, count: number) => {
      const rows = await this.#database.read((statements) =>
        statements.rows<EventRow>(EVENTS, [
          merchant,
          options.since ?? 0,
          before.createdAt,
          before.seq,
          count,
        ]),
      );
      return rows.map((row) => ({ key: keyOf(row), row: matches(row) ? row : undefined }));
    };
    const { rows, next } = await page(start, options.limit, read);
    await this.#names.readIds(rows.flatMap((row) => linesOf(row).map(([each]) => each)));
    return { records: rows.map((row) => toListed(row, merchantId, this.#names.numbers.endpointId)), next };
  }

  /** Reads the next keys, with the rows of those that match. */
  async #readDeliveries(
    endpoints: readonly number[],
    { status, type, subType, entityId, since = 0 }: DeliveryOptions,
    before: ListKey,
    count: number,
  ): Promise<readonly Examined<DeliveryRow>[]> {
    const code = status === undefined ? null : STATUS.of[status];
    const isFailing = code !== null && code > STATUS.of.delivered;
    const values = [endpoints, since, before.createdAt, before.seq, count];
    return this.#database.read(async ({ rows }) => {
      const keys = isFailing
        ? await rows<FailingRow>(FAILING, [...values, code])
        : await rows<DeliveryRow>(DELIVERIES, values);
      const found = isFailing
        ? await rows<DeliveryRow>(BY_KEYS, byKeys(keys))
        : (keys as readonly DeliveryRow[]);
      const bySeq = new Map(found.map((row) => [row.seq, row]));
      const entity = entityId === undefined ? undefined : idBytes(entityId);
      const matches = (row: DeliveryRow | undefined) =>
        row !== undefined &&
        (code === null || row.status === code) &&
        (type === undefined || row.type === EVENT_TYPE.of[type]) &&
        (subType === undefined || row.sub_type === subType) &&
        (entity === undefined || entity.equals(row.entity_id));
      return keys.map((key) => {
        const row = bySeq.get(key.seq);
        return { key: keyOf(key), row: matches(row) ? row : undefined };
      });
    });
  }

  async #endpointsOf(merchantId: string, endpointId: string | undefined): Promise<readonly number[]> {
    if (endpointId !== undefined) {
      const endpoint = await this.#names.endpoint(merchantId, endpointId);
      return endpoint === undefined ? [] : [endpoint];
    }
    const merchant = await this.#names.merchant(merchantId);
    return merchant === undefined ? [] : this.#names.endpointsOf(merchant);
  }
}

interface KeyRow {
  readonly created_at: number;
  readonly seq: number;
}

type FailingRow = KeyRow & Pick<DeliveryRow, 'delivery_id'>;

/** A row that a page has examined; undefined: it does not match. */
interface Examined<Row> {
  readonly key: ListKey;
  readonly row: Row | undefined;
}

const keyOf = ({ created_at, seq }: KeyRow): ListKey => ({ createdAt: created_at, seq });

/**
 * Of each endpoint its next rows by the endpoint's index, then the newest of all: one ordered walk for each, which reads
 * no leaf behind the last row.
 */
const newestOf = (
  table: string,
  columns: string,
  condition: string,
) => `SELECT d.* FROM unnest($1::int[]) AS e (seq)
  CROSS JOIN LATERAL (
    SELECT ${columns} FROM ${table} WHERE endpoint = e.seq ${condition}
    AND created_at >= $2 AND created_at <= $3 AND (created_at, seq) < ($3, $4)
    ORDER BY created_at DESC, seq DESC LIMIT $5
  ) d ORDER BY d.created_at DESC, d.seq DESC LIMIT $5`;

const DELIVERIES = newestOf('delivery', '*', '');
const FAILING = newestOf('failing', 'created_at, seq, delivery_id', 'AND status = $6');

const BY_KEYS = `SELECT * FROM delivery WHERE delivery_id = ANY($1::bytea[]) AND created_at >= $2 AND created_at <= $3`;

function byKeys(keys: readonly FailingRow[]): readonly unknown[] {
  const times = keys.map(({ created_at }) => created_at);
  return [
    keys.map(({ delivery_id }) => delivery_id),
    Math.min(...times, Number.MAX_SAFE_INTEGER),
    Math.max(...times, 0),
  ];
}

const EVENTS = `SELECT * FROM event WHERE merchant = $1 AND created_at >= $2 AND created_at <= $3
  AND (created_at, seq) < ($3, $4) ORDER BY created_at DESC, seq DESC LIMIT $5`;

/** Takes rows until the page is full, or as many were examined as one page may; `next`: where the following one begins. */
async function page<Row>(
  start: ListKey,
  wanted: number,
  read: (before: ListKey, count: number) => Promise<readonly Examined<Row>[]>,
): Promise<{ readonly rows: Row[]; readonly next: string | null }> {
  const limit = Math.min(wanted, PAGE_MAX);
  const rows: Row[] = [];
  let last: ListKey | undefined;
  for (let looked = 0; looked < LOOKED_AT_MAX; ) {
    const count = Math.min(Math.max(CHUNK_MIN, limit + 1), LOOKED_AT_MAX - looked);
    const examined = await read(last ?? start, count);
    for (const { key, row } of examined) {
      // One more than the page has: its presence means that there is a next page.
      if (row !== undefined && rows.length === limit) return { rows, next: last ? listCursor(last) : null };
      if (row !== undefined) rows.push(row);
      last = key;
    }
    looked += examined.length;
    if (examined.length < count) return { rows, next: null };
  }
  return { rows, next: last ? listCursor(last) : null };
}

/** Returns the condition on an event's row. `endpoint`: the number of the filter's endpoint. */
function listCondition(filter: EventFilter, endpoint: number | undefined): (row: EventRow) => boolean {
  const entity = filter.entityId === undefined ? undefined : idBytes(filter.entityId);
  const matches = eventCondition(filter, endpoint);
  return (row) => (entity === undefined || entity.equals(row.entity_id)) && matches(row);
}
