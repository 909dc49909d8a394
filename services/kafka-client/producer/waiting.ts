import type { Sent, Told } from './record-sender.ts';

/** Told of a record's acknowledgement. */
export interface Waiting {
  resolve(sent: Sent): void;
  reject(error: Error): void;
}

/** Waits for several records, and tells of all of them once. */
export class WaitingForAll implements Waiting {
  #left: number;
  readonly #told: Told;

  constructor(count: number, told: Told) {
    this.#left = count;
    this.#told = told;
  }

  resolve(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#told.durable();
  }

  /** Tells of the first failure. Nothing is told after it. */
  reject(error: Error): void {
    if (this.#left <= 0) return;
    this.#left = Number.NEGATIVE_INFINITY;
    this.#told.failed(error);
  }
}
