/** After this many milliseconds of searches in one turn of the event loop, what would begin later waits for the next turn. */
const TURN_MS_MAX = 2;

/**
 * Spreads the searches of responses over turns of the event loop: many long ones that arrive together would keep timers,
 * probes and other receivers' answers waiting for the sum of them.
 */
export class SearchTurns {
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  #usedMs = 0;
  #isTurnWatched = false;

  /** `now`: monotonic, milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Searches now, or in a later turn, in the order of the calls. */
  run(search: () => void): void {
    if (this.#waiting.length > 0 || this.#usedMs >= TURN_MS_MAX) this.#waiting.push(search);
    else this.#measured(search);
  }

  #measured(search: () => void): void {
    const begun = this.#now();
    search();
    this.#usedMs += this.#now() - begun;
    if (this.#isTurnWatched) return;
    this.#isTurnWatched = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isTurnWatched = false;
    this.#usedMs = 0;
    let done = 0;
    while (done < this.#waiting.length && this.#usedMs < TURN_MS_MAX) {
      this.#measured(this.#waiting[done] as () => void);
      done += 1;
    }
    this.#waiting.splice(0, done);
  }
}
