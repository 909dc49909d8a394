import { BLOCK_IDS_MAX, digestOf, IdBlock } from './id-block.ts';
import type { IdsBudget, IdsHolder } from './ids-budget.ts';

/**
 * A pause in the log counts as no more than this, milliseconds: an outage appends nothing, and its copies come after. It
 * also bounds what one record with a wild timestamp can do.
 */
const GAP_MS_MAX = 60_000;
const BLOCK_IDS_MIN = 64;
/** A window of time is made of so many blocks at least; ids are kept for up to one block longer than the window. */
const BLOCKS_PER_WINDOW = 4;
/** The budget forgets whole blocks: none has a larger part of it. */
const BLOCKS_PER_BUDGET = 8;

export interface RecentIdsOptions {
  /** Ids are remembered at least so long in the log's own time, unless the budget is spent. */
  readonly windowMs: number;
  readonly budget: IdsBudget;
  /** The offset that reading starts at. */
  readonly from: number;
  /** Whether ids come with a content that is to be compared. */
  readonly hasContent: boolean;
}

/** `itself`: the same record once more. `same` and `other` tell a repeat's content from that of the first record. */
export type Known = 'new' | 'itself' | 'same' | 'other';

/**
 * The ids in one partition's most recent records, each with the offset at which it came first. Measured in the time of
 * the log's records, which stands still while nothing is appended: what an outage interrupted is repeated after it,
 * however long it was. Therefore nothing is forgotten on an idle topic either; the budget bounds what that costs.
 */
export class RecentIds implements IdsHolder {
  readonly #options: RecentIdsOptions;
  readonly #blocks: IdBlock[] = [];
  #logTime = 0;
  #newest: number | null = null;
  #start: number;
  /** Of the record that was looked up last. */
  #offset: number;

  constructor(options: RecentIdsOptions) {
    this.#options = options;
    this.#start = options.from;
    this.#offset = options.from;
    options.budget.add(this);
  }

  /**
   * Looks an id up and remembers it when it is new. Records must come in the order of their offsets. `appendedAt`: time of
   * the record, milliseconds since the epoch; earlier than before counts as no time.
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

  /** The offset that reading must start at to know as much again. */
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

  /** Forgets everything and takes no more part in the budget. */
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

/** Places for as many ids as are expected: a power of two, within bounds. */
function roomFor(expected: number, budget: number): number {
  const largest = Math.min(BLOCK_IDS_MAX, 2 ** Math.floor(Math.log2(budget / BLOCKS_PER_BUDGET)));
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, expected)));
  return Math.max(BLOCK_IDS_MIN, Math.min(wanted, largest));
}
