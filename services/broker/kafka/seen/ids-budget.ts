/** A memory that holds ids in blocks, oldest first, and can give up its oldest block. */
export interface IdsHolder {
  /** The number of the oldest block, in the order of creation; undefined = there is none. */
  readonly oldest: number | undefined;
  dropOldest(): void;
}

/**
 * Limits how many ids all partitions of a process remember together. When there is no room for more, the oldest ids are
 * forgotten first, whichever partition they belong to.
 */
export class IdsBudget {
  readonly max: number;
  /** Room in all blocks, filled or not, so that `max` also limits the memory. */
  #room = 0;
  #blocks = 0;
  readonly #holders = new Set<IdsHolder>();
  readonly #onFull: () => void;

  /** `onFull` is called whenever ids are forgotten for lack of room. */
  constructor(max: number, onFull: () => void = () => {}) {
    this.max = max;
    this.#onFull = onFull;
  }

  /** The number of ids that there is room for now. */
  get room(): number {
    return this.#room;
  }

  add(holder: IdsHolder): void {
    this.#holders.add(holder);
  }

  remove(holder: IdsHolder): void {
    this.#holders.delete(holder);
  }

  /** Reserves room for a block of ids. Returns the block's number. */
  take(room: number): number {
    while (this.#room + room > this.max && this.#dropOldest()) this.#onFull();
    this.#room += room;
    this.#blocks += 1;
    return this.#blocks;
  }

  /** Releases a block's room. */
  give(room: number): void {
    this.#room -= room;
  }

  #dropOldest(): boolean {
    let first: IdsHolder | undefined;
    for (const holder of this.#holders) {
      if (holder.oldest !== undefined && holder.oldest < (first?.oldest ?? Number.POSITIVE_INFINITY)) {
        first = holder;
      }
    }
    first?.dropOldest();
    return first !== undefined;
  }
}
