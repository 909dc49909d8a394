/** Questions whose end is not reached yet; while there are so many, no further one is kept. */
const QUESTIONS_MAX = 60;

/**
 * Since when a reader is known to have read everything. A proof and not a guess: the broker was asked for the end of the
 * log at a moment, and the position has reached that end since; so nothing older than the moment is unread.
 */
export class Freshness {
  #questions: { readonly askedAt: number; readonly end: number }[] = [];
  #provedAt: number;

  constructor(now: number) {
    this.#provedAt = now;
  }

  /** Of what is older than this, nothing is unread; milliseconds since the epoch. */
  get provedAt(): number {
    return this.#provedAt;
  }

  /** Answers may come in another order than they were asked for. */
  asked(askedAt: number, end: number): void {
    if (this.#questions.length < QUESTIONS_MAX) this.#questions.push({ askedAt, end });
  }

  /** The reader has come to `position`. True when that proves something new. */
  reached(position: number): boolean {
    const answered = this.#questions.filter(({ end }) => end <= position);
    this.#questions = this.#questions.filter(({ end }) => end > position);
    const newest = Math.max(...answered.map(({ askedAt }) => askedAt));
    if (newest <= this.#provedAt) return false;
    this.#provedAt = newest;
    return answered.length > 0;
  }

  /** The log is another one: what was asked about it is void. */
  forget(): void {
    this.#questions = [];
  }
}
