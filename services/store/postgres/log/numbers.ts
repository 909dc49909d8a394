import type { PostgresDatabase } from '../client/postgres-database.ts';

/** Numbers of one block, which the database gives as a whole. */
export const BLOCK = 1000;

/**
 * The numbers of new rows of this process: unique over all processes, ascending within this one. A block is committed
 * before it is used: after a crash, the server's sequence gives out again every number that no commit made durable.
 */
export class Numbers {
  readonly #database: PostgresDatabase;
  /** Blocks that are ours, oldest first: the next number of each and its end. */
  readonly #blocks: { next: number; readonly end: number }[] = [];
  #left = 0;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** Gets enough for this many rows. */
  async reserve(count: number): Promise<void> {
    if (this.#left >= count) return;
    const missing = Math.ceil((count - this.#left) / BLOCK);
    const found = await this.#database.transaction(async ({ rows }) => {
      await rows('SET LOCAL synchronous_commit = on');
      return rows<{ readonly block: number }>(
        "SELECT nextval('log_block') AS block, pg_current_xact_id() FROM generate_series(1, $1)",
        [missing],
      );
    });
    for (const { block } of found) this.#blocks.push({ next: block * BLOCK, end: (block + 1) * BLOCK });
    this.#left += found.length * BLOCK;
  }

  /** Gives up what is left: it may have been given to others. */
  forget(): void {
    this.#blocks.length = 0;
    this.#left = 0;
  }

  /** Returns the next number. Throws unless it was reserved. */
  take(): number {
    const [block] = this.#blocks;
    if (!block) throw new Error('no number was reserved');
    const number = block.next++;
    if (block.next === block.end) this.#blocks.shift();
    this.#left -= 1;
    return number;
  }
}
