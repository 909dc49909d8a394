import type { Clock } from '../process/clock.ts';
import type { Outage } from '../telemetry/outage.ts';

interface StepsDeps {
  readonly clock: Clock;
  /** Is told of each step that fails and of each that succeeds. */
  readonly outage: Outage;
  /** Between two steps, milliseconds. */
  readonly pauseMs: number;
}

/** Takes a step again and again, with a pause in between, until it is stopped. A step that fails is taken again. */
export class RepeatedSteps {
  readonly #deps: StepsDeps;
  readonly #step: (signal: AbortSignal) => Promise<void>;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  /** Starts at once. */
  constructor(deps: StepsDeps, step: (signal: AbortSignal) => Promise<void>) {
    this.#deps = deps;
    this.#step = step;
    this.#running = this.#run();
  }

  /** Interrupts the step by its signal, and waits for its end. May be called twice. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, outage, pauseMs } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#step(signal);
        outage.succeeded();
      } catch (error) {
        if (!signal.aborted) outage.failed(error);
      }
      await clock.sleep(pauseMs, signal);
    }
  }
}
