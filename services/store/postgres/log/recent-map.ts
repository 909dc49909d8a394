/**
 * Remembers the values that were used recently: at least as many as `most`, at most twice as many. A value that was just
 * set or got is there for the next `most` others.
 */
export class RecentMap<Key, Value> {
  readonly #most: number;
  #newer = new Map<Key, Value>();
  #older = new Map<Key, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): Value | undefined {
    const found = this.#newer.get(key);
    if (found !== undefined) return found;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  clear(): void {
    this.#newer.clear();
    this.#older.clear();
  }

  set(key: Key, value: Value): void {
    this.#newer.set(key, value);
    if (this.#newer.size < this.#most) return;
    this.#older = this.#newer;
    this.#newer = new Map();
  }
}
