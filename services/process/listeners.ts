/** Callbacks that are called together, in the order in which they were added. */
export class Listeners {
  readonly #listeners = new Set<() => void>();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Returns a function that removes this one. A callback may be added more than once. */
  add(listener: () => void): () => void {
    const added = () => listener();
    this.#listeners.add(added);
    return () => void this.#listeners.delete(added);
  }

  call(): void {
    for (const listener of this.#listeners) listener();
  }
}
