/** What the databases write differently. */
export interface Dialect {
  /** Selects every endpoint as `e`, deleted ones included, with its health; a WHERE clause may follow. */
  readonly endpoints: string;
  /** Returns a column that is to be compared in the rows which another condition has found, without an index of its own. */
  notByIndex(column: string): string;
  /** The id of the key that has sealed `answer.sealed`; null where that is no JSON. */
  readonly answerKeyId: string;
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
