/** A memory that holds ids in blocks, oldest first, and can give up its oldest one. */
export interface IdsHolder {
  /** Number of the oldest block, in the order in which blocks were made; undefined = there is none. */
  readonly oldest: number | undefined;
  dropOldest(): void;
}

/**
 * Bounds how many ids all partitions of a process remember together. When there is no room for more, the ids that were
 * learnt first are forgotten first, whichever partition they belong to.
 */
export class IdsBudget {
  readonly max: number;
  /** Room in all blocks, filled or not, so that `max` also bounds the memory. */
  #room = 0;
  #blocks = 0;
  readonly #holders = new Set<IdsHolder>();
  readonly #onFull: () => void;

  /** `onFull` is called whenever ids are forgotten for want of room. */
  constructor(max: number, onFull: () => void = () => {}) {
    this.max = max;
    this.#onFull = onFull;
  }

  /** Ids for which there is a place now. */
  get room(): number {
    return this.#room;
  }

  add(holder: IdsHolder): void {
    this.#holders.add(holder);
  }

  remove(holder: IdsHolder): void {
    this.#holders.delete(holder);
  }

  /** Takes room for a block of ids. Returns the block's number. */
  take(room: number): number {
    while (this.#room + room > this.max && this.#dropOldest()) this.#onFull();
    this.#room += room;
    this.#blocks += 1;
    return this.#blocks;
  }

  /** Gives a block's room back. */
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
