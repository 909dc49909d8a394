/** The weight of one answer in the mean. */
const MEAN_WEIGHT = 0.05;

/** How long successful attempts take at present over all endpoints, whatever makes them slow: receivers, or this process. */
export class UsualAnswer {
  #ms = 0;

  /** The recent mean, milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  note(ms: number): void {
    this.#ms += MEAN_WEIGHT * (ms - this.#ms);
  }
}
