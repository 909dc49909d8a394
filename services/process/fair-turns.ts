/**
 * Gives turns to work that shares something scarce: a number of them at a time, and to each owner in rotation, so that
 * one with a thousand waiting pieces delays another by one piece and not by a thousand.
 */
export class FairTurns {
  readonly #atOnce: number;
  /** The waiting work by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Does a piece of work when it is its turn. */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await this.#turn(owner);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(owner);
      if (own) own.push(resolve);
      else this.#waiting.set(owner, [resolve]);
    });
  }

  /** Passes the turn on. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    const [owner, [start, ...others]] = first;
    this.#waiting.delete(owner);
    if (others.length > 0) this.#waiting.set(owner, others);
    start?.();
  }
}
