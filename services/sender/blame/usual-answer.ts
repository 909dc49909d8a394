/** The weight of one answer in the mean. */
const MEAN_WEIGHT = 0.05;

/** The usual duration of successful attempts at present, over all endpoints, whether receivers or this process take it. */
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
