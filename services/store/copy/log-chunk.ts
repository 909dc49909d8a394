import type { Leaves } from '../postgres/leaves/leaves.ts';
import { Copies } from '../postgres/log/flush.ts';

/** A chunk ends with the row that makes it this large, so that memory stays bounded. */
const BYTES_MAX = 4 * 1024 * 1024;
const ROWS_MAX = 5_000;

/** A part of a table of the log: rows for the leaves of the target, and where the next part begins. */
export interface LogChunk<Key> {
  readonly copies: Copies;
  /** A time in each leaf that the rows are in. */
  readonly times: ReadonlySet<number>;
  readonly rows: number;
  /** The last row. */
  readonly reached: Key;
}

/** A table of the log as it is read, in the order of its keys. */
export interface LogTable<Key, Row> {
  /** Returns rows after this one. */
  rowsAfter(key: Key): IterableIterator<Row>;
  keyOf(row: Row): Key;
  /** Adds what the target keeps of a row. */
  add(row: Row, rows: RowsOfChunk): void;
}

/** Takes the rows of one chunk. */
export class RowsOfChunk {
  readonly #leaves: Leaves;
  readonly copies: Copies;
  readonly times = new Set<number>();
  #bytes = 0;

  constructor(leaves: Leaves) {
    this.#leaves = leaves;
    this.copies = new Copies(leaves);
  }

  get isFull(): boolean {
    return this.#bytes >= BYTES_MAX;
  }

  /** Notes the leaf and the size of rows that are added. */
  note(createdAt: number, bytes: number): void {
    this.times.add(this.#leaves.of(createdAt).from);
    this.#bytes += bytes;
  }
}

/** Returns the next chunk of a table, null at its end. */
export function readChunk<Key, Row>(
  table: LogTable<Key, Row>,
  after: Key,
  leaves: Leaves,
): LogChunk<Key> | null {
  const chunk = new RowsOfChunk(leaves);
  let reached = after;
  let rows = 0;
  for (const row of table.rowsAfter(after)) {
    table.add(row, chunk);
    reached = table.keyOf(row);
    rows += 1;
    if (chunk.isFull || rows === ROWS_MAX) break;
  }
  return rows === 0 ? null : { copies: chunk.copies, times: chunk.times, rows, reached };
}
