import type { Consumer } from '../broker/broker.ts';
import type { Lanes } from './lanes/lanes.ts';

/** Above this many tasks that wait for us alone, nothing more is taken; below the other, taking goes on. */
const WAITING_HIGH = 128;
const WAITING_LOW = 64;

/**
 * Takes tasks from the broker no faster than they can be sent. More of them in memory would make nothing faster: it would
 * only be more to carry. What waits for a slow or dark endpoint does not count, so that none holds the intake up.
 */
export class Intake {
  readonly #lanes: Lanes;
  readonly #consumer: Consumer;
  #isPaused = false;

  constructor(lanes: Lanes, consumer: Consumer) {
    this.#lanes = lanes;
    this.#consumer = consumer;
  }

  /** To be called whenever a task was admitted or has left. */
  adjust(): void {
    const waiting = this.#lanes.waitingForUs;
    if (!this.#isPaused && waiting > WAITING_HIGH) {
      this.#isPaused = true;
      this.#consumer.pause();
    } else if (this.#isPaused && waiting < WAITING_LOW) {
      this.#isPaused = false;
      this.#consumer.resume();
    }
  }

  stop(deadlineMs: number): ReturnType<Consumer['stop']> {
    return this.#consumer.stop(deadlineMs);
  }
}
