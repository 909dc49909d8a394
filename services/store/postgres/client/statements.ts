import type { PoolClient, QueryResultRow } from 'pg';

/** The statements of one connection: of a transaction, or single reads. Values are $1, $2, … */
export interface Statements {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** The first row, or undefined. */
  first<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row | undefined>;
  /** Resolves with the number of rows that were inserted, changed or deleted. */
  change(text: string, values?: readonly unknown[]): Promise<number>;
}

/** What a transaction added, for which this process has somebody to wake. */
export type Added = 'outbox' | 'replay';

export interface Transaction extends Statements {
  /** Called within the transaction; those who wait for it are woken once it is committed. */
  added(what: Added): void;
}

export function statementsOf(client: PoolClient): Statements {
  const rows = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await client.query<QueryResultRow>(text, [...values])).rows as readonly object[] as readonly Row[];
  return {
    rows,
    first: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      (await rows<Row>(text, values))[0],
    change: async (text, values = []) => (await client.query(text, [...values])).rowCount ?? 0,
  };
}
