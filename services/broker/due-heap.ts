/** The sort key of delayed tasks: soonest first, then by id. */
export interface DueKey {
  readonly due: number;
  readonly id: number;
}

export function isBefore(a: DueKey, b: DueKey): boolean {
  return a.due < b.due || (a.due === b.due && a.id < b.id);
}

/** A binary heap with the soonest entry on top. */
export class DueHeap<E extends DueKey> {
  #entries: E[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get top(): E | undefined {
    return this.#entries[0];
  }

  push(entry: E): void {
    const entries = this.#entries;
    let at = entries.length;
    entries.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = entries[parent] as E;
      if (!isBefore(entry, above)) break;
      entries[at] = above;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): E | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (top === undefined || last === undefined || entries.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && isBefore(entries[child + 1] as E, entries[child] as E)) child += 1;
      if (!isBefore(entries[child] as E, last)) break;
      entries[at] = entries[child] as E;
      at = child;
    }
    entries[at] = last;
    return top;
  }

  /** Removes and returns the entries with these ids. */
  remove(ids: ReadonlySet<number>): E[] {
    const removed = this.#entries.filter(({ id }) => ids.has(id));
    if (removed.length === 0) return removed;
    // A sorted array is a heap.
    this.#entries = this.#entries.filter(({ id }) => !ids.has(id)).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    return removed;
  }

  /** Keeps the `count` soonest entries; returns the others, soonest first. */
  trim(count: number): E[] {
    // A sorted array is a heap.
    this.#entries.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    return this.#entries.splice(count);
  }
}
