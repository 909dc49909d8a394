import { ATTEMPTS_MAX } from '../../../services/domain/retry.ts';
import type { Exchange } from '../models/delivery-checker.ts';

/** The time without a request at the receivers after which the dead letters are read, milliseconds. */
const QUIET_MS = 15_000;

/**
 * The deliveries that have ended: a receiver responded with 200 or got the last attempt, or a dead letter is stored. On a
 * machine that is too busy to connect in time, the last attempt may fail before it reaches a receiver.
 */
export class EndedDeliveries {
  readonly #exchanges: () => readonly Exchange[];
  readonly #deadLetters: () => Promise<readonly string[]>;
  readonly #ids = new Set<string>();
  #seen = 0;
  #quietSince = Date.now();

  constructor(exchanges: () => readonly Exchange[], deadLetters: () => Promise<readonly string[]>) {
    this.#exchanges = exchanges;
    this.#deadLetters = deadLetters;
  }

  has(deliveryId: string): boolean {
    return this.#ids.has(deliveryId);
  }

  /** Adds the deliveries that have ended since the last call. */
  async update(): Promise<void> {
    const exchanges = this.#exchanges();
    if (this.#seen < exchanges.length) this.#quietSince = Date.now();
    for (; this.#seen < exchanges.length; this.#seen += 1) {
      const exchange = exchanges[this.#seen];
      if (exchange && (exchange.status === 200 || exchange.attempt === ATTEMPTS_MAX)) {
        this.#ids.add(exchange.deliveryId);
      }
    }
    if (Date.now() - this.#quietSince < QUIET_MS) return;
    for (const id of await this.#deadLetters()) this.#ids.add(id);
    this.#quietSince = Date.now();
  }
}
