import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { PoolClient, QueryResultRow } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Statements } from '../../sql/statements.ts';
import type { Transaction as StoreTransaction } from '../../sql/transaction.ts';
import type { CopyRows } from './copy-rows.ts';
import { POSTGRES_DIALECT } from './dialect.ts';

/** A row of the feed that a transaction adds (migrations/log-tables.ts). */
export interface FeedItem {
  readonly merchantId: string;
  readonly kind: number;
  readonly at: number;
  readonly detail?: number | null;
  readonly eventId?: string | undefined;
  readonly deliveryId?: string | undefined;
  readonly ref?: number | undefined;
  readonly refAt?: number | undefined;
}

/** A transaction of this engine. */
export interface Transaction extends StoreTransaction {
  /** Adds rows to a table; the columns are all of it or those named, as in COPY. */
  copy(table: string, rows: CopyRows): Promise<void>;
  /** As `copy`, with the bytes of any number of rows, which are read as the server takes them. */
  copyAll(table: string, parts: Iterable<Buffer>): Promise<void>;
  /** The feed's rows about it. They are written last, because they lock the merchant's feed until the commit. */
  readonly feed: FeedItem[];
  /** Throws when the timeline is older than one that this process has seen: the server was the primary, and is not. */
  sawTimeline(name: string): void;
}

/** `timeoutMs`: how long a statement may take, instead of the connection's limit. */
export function statementsOf(client: Pick<PoolClient, 'query'>, timeoutMs?: number): Statements {
  const query = (text: string, values: readonly unknown[] = []) => {
    const config = { text, values: [...values], ...(timeoutMs ? { query_timeout: timeoutMs } : {}) };
    return client.query<QueryResultRow>(config);
  };
  const rows = async <Row extends object>(text: string, values?: readonly unknown[]) =>
    (await query(text, values)).rows as readonly object[] as readonly Row[];
  return {
    dialect: POSTGRES_DIALECT,
    rows,
    first: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      (await rows<Row>(text, values))[0],
    change: async (text, values) => (await query(text, values)).rowCount ?? 0,
  };
}

/** Adds rows to a table, unless there are none. */
export async function copyRows(client: PoolClient, table: string, rows: CopyRows): Promise<void> {
  if (rows.count === 0) return;
  const stream = client.query(copyInto(table));
  stream.end(rows.end());
  await finished(stream);
}

/** Adds rows to a table; `parts`: their bytes, from the beginning of CopyRows to its end. */
export async function copyAllRows(client: PoolClient, table: string, parts: Iterable<Buffer>): Promise<void> {
  await pipeline(Readable.from(parts), client.query(copyInto(table)));
}

function copyInto(table: string) {
  return copyFrom(`COPY ${table} FROM STDIN (FORMAT binary)`);
}
