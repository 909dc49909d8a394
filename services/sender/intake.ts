import type { Consumer } from '../broker/broker.ts';
import type { Lanes } from './lanes/lanes.ts';

/** Above this many tasks waiting for this process alone, the intake pauses; below the other, it continues. */
const WAITING_HIGH = 128;
const WAITING_LOW = 64;

/**
 * Takes tasks from the broker no faster than they can be sent: more tasks in memory would not make sending faster.
 * Tasks that wait for a slow or silent endpoint do not count, so no endpoint can hold up the intake.
 */
export class Intake {
  readonly #lanes: Lanes;
  readonly #consumer: Consumer;
  #isPaused = false;

  constructor(lanes: Lanes, consumer: Consumer) {
    this.#lanes = lanes;
    this.#consumer = consumer;
  }

  /** Call whenever a task was admitted or has left. */
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
