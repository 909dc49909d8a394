import type { Statements } from '../client/statements.ts';

/** Numbers of one block, which the database gives as a whole. */
const BLOCK = 1000;

/** The numbers of new rows of this process: unique over all processes, ascending within this one. */
export class Numbers {
  /** Blocks that are ours, oldest first: the next number of each and its end. */
  readonly #blocks: { next: number; readonly end: number }[] = [];
  #left = 0;

  /** Gets enough for this many rows. */
  async reserve(count: number, { rows }: Statements): Promise<void> {
    if (this.#left >= count) return;
    const missing = Math.ceil((count - this.#left) / BLOCK);
    const found = await rows<{ readonly block: number }>(
      "SELECT nextval('log_block') AS block FROM generate_series(1, $1)",
      [missing],
    );
    for (const { block } of found) this.#blocks.push({ next: block * BLOCK, end: (block + 1) * BLOCK });
    this.#left += found.length * BLOCK;
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
