/** What the databases write differently. */
export interface Dialect {
  /** Selects every endpoint as `e`, deleted ones included, with its health; a WHERE clause may follow. */
  readonly endpoints: string;
  /** Returns a column that is to be compared in the rows which another condition has found, without an index of its own. */
  notByIndex(column: string): string;
  /** The id of the key that has sealed `answer.sealed`; null where that is no JSON. */
  readonly answerKeyId: string;
  /** Follows a SELECT: keeps other transactions from changing its rows. `of`: those of this table. */
  forUpdate(of?: string): string;
  /** As `forUpdate`, and leaves out the rows that another transaction holds. */
  readonly skipLocked: string;
  /** The version that follows this one. After a failover it is above all that were lost. */
  nextVersion(version: string): string;
  /** In the SET of an endpoint that is made again: gives it a new number, where its failures would count on. */
  readonly newNumber: string;
  /** Whether the column is one of the values. Give them by `list`. */
  among(column: string, parameter: string, type: 'text' | 'bigint'): string;
  list(values: readonly (string | number)[]): unknown;
}

/** The statements of one connection: of a transaction, or single reads. Values are $1, $2, … */
export interface Statements {
  readonly dialect: Dialect;
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** The first row, or undefined. */
  first<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row | undefined>;
  /** Resolves with the number of rows that were inserted, changed or deleted. */
  change(text: string, values?: readonly unknown[]): Promise<number>;
}
