/**
 * Requests to the brokers by name: callers of one moment share one. A request that began before a call is never shared:
 * its answer may be seconds older than what the caller compares it with, for instance while a broker hangs.
 */
export class SharedQuestions {
  /** Requests that have not begun. */
  readonly #waiting = new Map<string, Promise<unknown>>();

  /** Resolves with the answer to a request that began after the call. */
  ask<Answer>(name: string, question: () => Promise<Answer>): Promise<Answer> {
    const waiting = this.#waiting.get(name) as Promise<Answer> | undefined;
    if (waiting) return waiting;
    const answer = this.#begin(name, question);
    this.#waiting.set(name, answer);
    return answer;
  }

  async #begin<Answer>(name: string, question: () => Promise<Answer>): Promise<Answer> {
    // The other partitions of a rebalance, and timers of the same moment, call within this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    this.#waiting.delete(name);
    return question();
  }
}
