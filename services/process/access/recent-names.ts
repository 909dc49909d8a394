/** The names seen last, at most `max`: the one not seen for longest is forgotten first. */
export class RecentNames {
  readonly #max: number;
  readonly #names = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.delete(name);
    this.#names.add(name);
    for (const oldest of this.#names) {
      if (this.#names.size <= this.#max) break;
      this.#names.delete(oldest);
    }
  }

  delete(name: string): void {
    this.#names.delete(name);
  }
}
