import { FairTurns } from '../../process/fair-turns.ts';
import { type ListKey, listCursor } from './list-cursor.ts';

/** The most rows of one page, whatever is requested. */
const PAGE_MAX = 1000;
/** The most rows that one page examines: where few match, it ends early. */
const EXAMINED_MAX = 3000;
/** Rows that the first step of a page examines: enough where most match. */
const FIRST_STEP_MIN = 200;
/** One step of a page: it examines `count` rows after a place, for `wanted` that match. */
export interface ListStep {
  readonly before: ListKey;
  readonly count: number;
  readonly wanted: number;
}

export interface Examined<Row> {
  /** The rows that match, newest first. */
  readonly rows: readonly Row[];
  /** The last one that was examined. */
  readonly last: ListKey | undefined;
  /** Whether there is nothing behind it. */
  readonly isEnd: boolean;
}

/** Stands for a merchant where a list is over all of them. */
export const EVERYBODY = '*';

export interface ListRequest<Row> {
  /** The merchant of the list, or EVERYBODY: the pages of a merchant wait for one another, those of others hardly. */
  readonly merchantId: string;
  readonly start: ListKey;
  readonly limit: number;
  readonly keyOf: (row: Row) => ListKey;
}

/**
 * Makes the pages of lists, in steps. A page whose filter matches little examines thousands of rows: from its second step
 * on it shares its turns with the other such pages, merchant by merchant, so that an engine is never busy with more than
 * a step of a few of them, and other reads go in between.
 */
export class ListPages {
  readonly #turns: FairTurns;
  readonly #step: number;

  /**
   * `atOnce`: how many pages use the engine at a time, from their second step on. `step`: the rows of each such step,
   * which take the engine some milliseconds.
   */
  constructor({ atOnce, step }: { readonly atOnce: number; readonly step: number }) {
    this.#turns = new FairTurns(atOnce);
    this.#step = step;
  }

  /** Takes rows until the page is full, or as many were examined as one page may; `next`: where the following one begins. */
  async page<Row>(
    { merchantId, start, limit: requested, keyOf }: ListRequest<Row>,
    examine: (step: ListStep) => Promise<Examined<Row>>,
  ): Promise<{ readonly rows: Row[]; readonly next: string | null }> {
    const limit = Math.min(requested, PAGE_MAX);
    const rows: Row[] = [];
    let before = start;
    for (let examined = 0; examined < EXAMINED_MAX; ) {
      const size = examined === 0 ? Math.max(FIRST_STEP_MIN, limit + 1) : this.#step;
      const count = Math.min(size, EXAMINED_MAX - examined);
      // One more than the page has: its presence means that there is a next page.
      const step = { before, count, wanted: limit + 1 - rows.length };
      const found =
        examined === 0 ? await examine(step) : await this.#turns.run(merchantId, () => examine(step));
      rows.push(...found.rows);
      const last = rows[limit - 1];
      if (rows.length > limit && last) return { rows: rows.slice(0, limit), next: listCursor(keyOf(last)) };
      if (found.isEnd) return { rows, next: null };
      before = found.last ?? before;
      examined += count;
    }
    return { rows, next: listCursor(before) };
  }
}
