import { BLOCK_IDS_MAX, digestOf, IdBlock } from './id-block.ts';
import type { IdsBudget, IdsHolder } from './ids-budget.ts';

/**
 * The most that a pause in the log counts towards the window, milliseconds: during an outage nothing is appended, and
 * copies of earlier records come after it. It also limits the effect of one record with a wrong timestamp.
 */
const GAP_MS_MAX = 60_000;
const BLOCK_IDS_MIN = 64;
/** The fewest blocks of a window; ids are kept for up to one block longer than the window. */
const BLOCKS_PER_WINDOW = 4;
/** The budget forgets whole blocks, so no block takes a larger part of it. */
const BLOCKS_PER_BUDGET = 8;

export interface RecentIdsOptions {
  /** Ids are remembered for at least this long in the log's own time, unless the budget is used up. */
  readonly windowMs: number;
  readonly budget: IdsBudget;
  /** The offset at which reading starts. */
  readonly from: number;
  /** Whether ids come with a content to compare. */
  readonly hasContent: boolean;
}

/** `itself`: the same record again. `same` and `other` compare a repeat's content with that of the first record. */
export type Known = 'new' | 'itself' | 'same' | 'other';

/**
 * The ids in one partition's most recent records, each with the offset of its first record. The window is measured in
 * the time of the log's records, which stands still while nothing is appended: work interrupted by an outage is
 * repeated after it, however long it was. Therefore nothing is forgotten on an idle topic either; the budget limits the
 * cost.
 */
export class RecentIds implements IdsHolder {
  readonly #options: RecentIdsOptions;
  readonly #blocks: IdBlock[] = [];
  #logTime = 0;
  #newest: number | null = null;
  #start: number;
  /** The offset of the record that was looked up last. */
  #offset: number;

  constructor(options: RecentIdsOptions) {
    this.#options = options;
    this.#start = options.from;
    this.#offset = options.from;
    options.budget.add(this);
  }

  /**
   * Looks up an id and remembers it when it is new. Records must come in the order of their offsets. `appendedAt`: time
   * of the record, milliseconds since the epoch; earlier than before counts as no time.
   */
  add(id: string, offset: number, appendedAt: number, content: string | null = null): Known {
    this.#offset = offset;
    this.#advance(appendedAt);
    const digest = digestOf(id);
    const contentDigest = content === null ? null : digestOf(content);
    for (let index = this.#blocks.length - 1; index >= 0; index -= 1) {
      const block = this.#blocks[index] as IdBlock;
      const entry = block.find(digest);
      if (entry === undefined) continue;
      if (block.offsetOf(entry) === offset) return 'itself';
      return contentDigest === null || block.hasContent(entry, contentDigest) ? 'same' : 'other';
    }
    this.#blockFor(offset).add(digest, offset, contentDigest, this.#logTime);
    return 'new';
  }

  /** The offset at which reading must start to remember as much again. */
  get start(): number {
    return this.#start;
  }

  get oldest(): number | undefined {
    return this.#blocks[0]?.number;
  }

  dropOldest(): void {
    const block = this.#blocks.shift();
    if (!block) return;
    this.#options.budget.give(block.room);
    this.#start = this.#blocks[0]?.firstOffset ?? this.#offset;
  }

  /** Forgets everything and releases its part of the budget. */
  close(): void {
    while (this.#blocks.length > 0) this.dropOldest();
    this.#options.budget.remove(this);
  }

  #advance(appendedAt: number): void {
    if (this.#newest !== null) {
      this.#logTime += Math.min(GAP_MS_MAX, Math.max(0, appendedAt - this.#newest));
    }
    this.#newest = Math.max(appendedAt, this.#newest ?? 0);
    const forgotten = this.#logTime - this.#options.windowMs;
    while ((this.#blocks[0]?.lastAt ?? Number.POSITIVE_INFINITY) < forgotten) this.dropOldest();
  }

  #blockFor(offset: number): IdBlock {
    const { windowMs, budget, hasContent } = this.#options;
    const last = this.#blocks.at(-1);
    const isLate = last !== undefined && this.#logTime - last.startedAt > windowMs / BLOCKS_PER_WINDOW;
    if (last?.takes(offset) && !isLate) return last;
    const room = roomFor(isLate ? last.count : 2 * (last?.room ?? 0), budget.max);
    // Room is made first: it may take our own oldest block.
    const number = budget.take(room);
    const block = new IdBlock({ room, hasContent, firstOffset: offset, startedAt: this.#logTime, number });
    this.#blocks.push(block);
    return block;
  }
}

/** Returns the room for the expected number of ids: a power of two, within limits. */
function roomFor(expected: number, budget: number): number {
  const largest = Math.min(BLOCK_IDS_MAX, 2 ** Math.floor(Math.log2(budget / BLOCKS_PER_BUDGET)));
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, expected)));
  return Math.max(BLOCK_IDS_MIN, Math.min(wanted, largest));
}
