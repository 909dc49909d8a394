import type { Database } from 'better-sqlite3';
import { STATUS } from '../../log/codes.ts';

/** Rows that go into an index together: few enough to be read one by one while they are not in it. */
const GENERATION = 16_384;

/**
 * The lists: their tables and their indexes, which are tables themselves, in the order of these columns. `facts`: further
 * columns that hold for good, by which readers pass over rows without reading them.
 */
const LISTS = {
  feed: { index: 'feed_by_merchant', columns: 'merchant, seq', facts: [] },
  event: { index: 'event_by_merchant', columns: 'merchant, created_at, seq', facts: ['type'] },
  delivery: {
    index: 'delivery_by_endpoint',
    columns: 'endpoint, created_at, seq',
    facts: ['type', `status = ${STATUS.of.delivered}`],
  },
} as const;

type List = keyof typeof LISTS;

/** A further index that is filled with a list's. */
const ALSO: Partial<Readonly<Record<List, (from: string) => string>>> = {
  event: (from) =>
    `INSERT OR IGNORE INTO event_about SELECT substr(entity_id, -5), merchant, seq FROM ${from} UNION ALL
     SELECT substr(subject_id, -5), merchant, seq FROM ${from} AND subject_id IS NOT NULL ORDER BY 1, 2, 3`,
  delivery: (from) => `INSERT INTO delivery_by_event SELECT event, seq FROM ${from} ORDER BY 1, 2`,
};

/** Returns the SQL of the row up to which a list's index is complete. Readers read the rows above it one by one. */
export function listedToSql(list: List): string {
  return `SELECT value FROM meta WHERE name = '${list}_listed_to'`;
}

/**
 * Writes a list's index: in bulk and in the order of its keys. Each merchant and each endpoint has its own place in the
 * index, so rows that went in one by one would dirty a page each. What the index lacks is in the rows: nothing is kept
 * in memory, and a crash loses nothing.
 */
export class ListIndex {
  readonly #waiting;
  readonly #fills;
  readonly #setListedTo;
  readonly #remove;
  readonly #move;

  constructor(db: Database, list: List) {
    const { index, columns, facts } = LISTS[list];
    const listedTo = listedToSql(list);
    const [owner] = columns.split(',');
    this.#waiting = db.prepare(`SELECT coalesce((SELECT max(seq) FROM ${list}), 0) - (${listedTo})`).pluck();
    const from = `${list} WHERE seq > (${listedTo})`;
    const also = ALSO[list];
    this.#fills = [
      `INSERT INTO ${index} SELECT ${[columns, ...facts].join(', ')} FROM ${from} ORDER BY ${columns}`,
      ...(also === undefined ? [] : [also(from)]),
    ].map((text) => db.prepare(text));
    this.#setListedTo = db.prepare(
      `UPDATE meta SET value = (SELECT max(seq) FROM ${list}) WHERE name = '${list}_listed_to'`,
    );
    const isTimed = columns.includes('created_at');
    const key = `${owner} = ? AND seq = ?`;
    this.#remove = db.prepare(`DELETE FROM ${index} WHERE ${key}${isTimed ? ' AND created_at = ?' : ''}`);
    this.#move = isTimed
      ? db.prepare(`UPDATE ${index} SET created_at = ? WHERE ${key} AND created_at = ?`)
      : null;
  }

  /** Puts the newest rows into the index when there are enough. Called at the end of a transaction. */
  fill(): void {
    if ((this.#waiting.get() as number) < GENERATION) return;
    for (const fill of this.#fills) fill.run();
    this.#setListedTo.run();
  }

  /** The row was deleted. `createdAt`: none in the feed. */
  remove(owner: number, seq: number, ...createdAt: readonly number[]): void {
    this.#remove.run(owner, seq, ...createdAt);
  }

  /** The row's time was changed. */
  move(owner: number, seq: number, from: number, to: number): void {
    this.#move?.run(to, owner, seq, from);
  }
}
