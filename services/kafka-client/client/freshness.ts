/** The most requests kept whose end has not been reached. */
const QUESTIONS_MAX = 60;

/**
 * Since when a reader is known to have read everything. This is a proof, not a guess: at some moment the broker was
 * asked for the end of the log, and the position has reached that end since, so nothing older than that moment is
 * unread.
 */
export class Freshness {
  #questions: { readonly askedAt: number; readonly end: number }[] = [];
  #provedAt: number;

  constructor(now: number) {
    this.#provedAt = now;
  }

  /** Nothing older than this is unread; milliseconds since the epoch. */
  get provedAt(): number {
    return this.#provedAt;
  }

  /** Responses may arrive in another order than the requests. */
  asked(askedAt: number, end: number): void {
    if (this.#questions.length < QUESTIONS_MAX) this.#questions.push({ askedAt, end });
  }

  /** The reader has reached `position`. Returns true when that proves something new. */
  reached(position: number): boolean {
    const answered = this.#questions.filter(({ end }) => end <= position);
    this.#questions = this.#questions.filter(({ end }) => end > position);
    const newest = Math.max(...answered.map(({ askedAt }) => askedAt));
    if (newest <= this.#provedAt) return false;
    this.#provedAt = newest;
    return answered.length > 0;
  }

  /** The log was replaced: forgets everything known about the old one. */
  forget(): void {
    this.#questions = [];
  }
}
