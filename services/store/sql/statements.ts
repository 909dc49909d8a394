/** The words that the databases write differently. */
export interface Dialect {
  /** Returns a number of failures of the endpoint `e` from its health `h`: 0 where those counted no longer count. */
  counted(column: string): string;
  /** Returns a column in a form that uses no index: another condition finds the rows, and this one is checked in them. */
  notByIndex(column: string): string;
  /** The id of the key that has sealed `answer.sealed`; null where that is no JSON. */
  readonly answerKeyId: string;
  /** Follows a SELECT: keeps other transactions from changing its rows. `of`: those of this table. */
  forUpdate(of?: string): string;
  /** As `forUpdate`, and leaves out the rows that another transaction holds. */
  readonly skipLocked: string;
  /** The version that follows this one. After a failover it is above all that were lost. */
  nextVersion(version: string): string;
  /** Part of the SET of an endpoint that is created again. Gives it a new number where old failures would still count. */
  readonly newNumber: string;
  /** Returns the condition that a column has one of the values, which `list` makes of them. */
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
