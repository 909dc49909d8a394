import type { Broker, Consumer } from '../../services/broker/broker.ts';
import type { Clock } from '../../services/process/clock.ts';
import { eventually } from '../support/eventually.ts';

/** One installation of an engine: its data outlives crashes, until it is disposed of. */
export interface Installation {
  readonly clock: Clock;
  /** Divides parked delays. At least 1,000, so that a test can wait for the smallest tier. */
  readonly retryScale: number;
  /** Opens it, again and again, on the same data; one at a time. */
  open(): Promise<Broker>;
  /** As kill -9: nothing is drained, whatever was held is let go. */
  crash(broker: Broker): Promise<void>;
  dispose(): Promise<void>;
}
/** An installation, and the brokers opened on it, closed after the test. */
export class Bench {
  readonly installation: Installation;
  #open: Broker | null = null;

  constructor(installation: Installation) {
    this.installation = installation;
  }

  get clock(): Clock {
    return this.installation.clock;
  }

  async open(): Promise<Broker> {
    this.#open = await this.installation.open();
    return this.#open;
  }

  /** Kills the broker and opens the same data again. */
  async crash(broker: Broker): Promise<Broker> {
    await this.installation.crash(broker);
    return this.open();
  }

  /** Closes it properly and opens the same data again. */
  async restart(broker: Broker): Promise<Broker> {
    await broker.close();
    return this.open();
  }

  /** Waits for what an engine may take its redelivery time for. */
  eventually<T>(what: string, probe: () => T | Promise<T>): Promise<NonNullable<T>> {
    return eventually(what, probe, 20000 + (this.#open?.capabilities.redeliveryMs ?? 0));
  }

  /** Long enough for anything that wrongly comes to come: a full turn through the engine with work of its own. */
  async turn(broker: Broker): Promise<void> {
    for (let turns = 0; turns < 5; turns += 1) {
      await broker.deadLetters.list({ limit: 1 });
      await this.clock.sleep(10);
    }
  }

  async dispose(): Promise<void> {
    await this.#open?.close();
    await this.installation.dispose();
  }
}

export type GiveBench = () => Bench;
/** Stops within a generous bound. */
export function stopped(consumer: Consumer): Promise<'drained' | 'abandoned'> {
  return consumer.stop(20000);
}
/** Something to wait for: resolves when opened. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
