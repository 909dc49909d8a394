/** Runs work in turns, for each name some at a time; the rest waits in the order in which it came. */
export class Turns {
  readonly #atOnceMax: number;
  /** The waiting work of each name that has some under way, and how much is under way. */
  readonly #names = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax;
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#names.get(name) ?? { running: 0, waiting: [] };
    this.#names.set(name, turns);
    if (turns.running < this.#atOnceMax) turns.running += 1;
    else await new Promise<void>((resolve) => turns.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = turns.waiting.shift();
      // The turn passes on to the next, or ends.
      if (next) next();
      else turns.running -= 1;
      if (turns.running === 0) this.#names.delete(name);
    }
  }
}
