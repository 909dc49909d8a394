/** Rows of batches that wait to be merged into the tallies. */
interface Pending {
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Enough that a merge writes little for each attempt, and few enough that every read of the metrics adds them up in some
 * milliseconds.
 */
const MERGED_ROWS = 1024;
const MERGED_BYTES = 256 * 1024;

export function isFull({ rows, bytes }: Pending): boolean {
  return rows >= MERGED_ROWS || bytes >= MERGED_BYTES;
}
