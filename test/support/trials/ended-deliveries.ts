import { ATTEMPTS_MAX } from '../../../services/domain/retry.ts';
import type { Exchange } from '../models/delivery-checker.ts';

/** The time without a request at the receivers after which the dead letters are read, milliseconds. */
const QUIET_MS = 15_000;

/**
 * The deliveries that have ended: a receiver gave a 2xx or got the last attempt, or a dead letter is stored. The last
 * attempt may fail before it reaches a receiver, on a machine that is too busy to connect in time.
 */
export class EndedDeliveries {
  readonly #exchanges: () => readonly Exchange[];
  readonly #deadLetters: () => Promise<readonly string[]>;
  readonly #ids = new Set<string>();
  #looked = 0;
  #quietSince = Date.now();

  constructor(exchanges: () => readonly Exchange[], deadLetters: () => Promise<readonly string[]>) {
    this.#exchanges = exchanges;
    this.#deadLetters = deadLetters;
  }

  has(deliveryId: string): boolean {
    return this.#ids.has(deliveryId);
  }

  /** Takes in what has happened since the last call. */
  async look(): Promise<void> {
    const exchanges = this.#exchanges();
    if (this.#looked < exchanges.length) this.#quietSince = Date.now();
    for (; this.#looked < exchanges.length; this.#looked += 1) {
      const exchange = exchanges[this.#looked];
      if (exchange && (exchange.status === 200 || exchange.attempt === ATTEMPTS_MAX)) {
        this.#ids.add(exchange.deliveryId);
      }
    }
    if (Date.now() - this.#quietSince < QUIET_MS) return;
    for (const id of await this.#deadLetters()) this.#ids.add(id);
    this.#quietSince = Date.now();
  }
}
