import { expect } from 'vitest';
import type { Broker, Consumer } from '../../services/broker/broker.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import type { Clock } from '../../services/process/clock.ts';
import { eventually } from '../support/eventually.ts';

/** An installation of an engine: its data survives crashes until `dispose`. */
export interface Installation {
  readonly clock: Clock;
  /** Divides the delays of all tiers. At least 1,000, so that a test can wait for the smallest tier. */
  readonly retryScale: number;
  /** Opens a broker on the data. May be called repeatedly, for one broker at a time. */
  open(): Promise<Broker>;
  /** Ends the broker as kill -9 would: nothing is drained, and all resources are released. */
  crash(broker: Broker): Promise<void>;
  dispose(): Promise<void>;
}
/** Matches an event as a broker hands it on: with its place among those of its entity. */
export function accepted(event: DomainEvent): unknown {
  return { ...event, sequence: expect.any(Number) };
}

/** An installation and the broker opened on it, which is closed after the test. */
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

  /** Closes the broker in order and opens the same data again. */
  async restart(broker: Broker): Promise<Broker> {
    await broker.close();
    return this.open();
  }

  /** Polls until `probe` returns a truthy value, and allows for the engine's redelivery time. */
  eventually<T>(what: string, probe: () => T | Promise<T>): Promise<NonNullable<T>> {
    return eventually(what, probe, 20000 + (this.#open?.capabilities.redeliveryMs ?? 0));
  }

  /** Waits long enough for a wrong redelivery to arrive: several round trips through the engine. */
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
/** Stops a consumer with a generous time limit. */
export function stopped(consumer: Consumer): Promise<'drained' | 'abandoned'> {
  return consumer.stop(20000);
}
/** Returns a gate: `opened` resolves when `open` is called. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
