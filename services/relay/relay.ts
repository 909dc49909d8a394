import type { Broker } from '../broker/broker.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Clock } from '../process/clock.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type ReconcileDeps, reconcile, untilPropagated } from './reconcile.ts';

const BATCH = 200;
/** How often a change is looked up that another process may have published. */
const LOOK_MS = 25;
/** Pauses after one failure, two, …, milliseconds; a success resets them. */
const PAUSES_MS = [50, 200, 1000, 2000] as const;

export interface RelayDeps {
  readonly store: Pick<Store, 'outbox'>;
  readonly broker: Pick<Broker, 'publishDirectory'>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Waiter {
  readonly outboxId: number;
  readonly done: (published: boolean) => void;
}

/**
 * Publishes committed directory changes from the store's outbox to the DIRECTORY stream, in order, one batch at a time.
 * Followers drop a change that was published twice (a crash between publish and acknowledgement) by its version.
 */
export class Relay {
  readonly #deps: RelayDeps;
  readonly #stopping = new AbortController();
  readonly #waiting = new Set<Waiter>();
  readonly #running: Promise<void>;
  #isWoken = false;
  #wake = () => {};

  /** Starts at once: changes that an earlier process left in the outbox go first. */
  constructor(deps: RelayDeps) {
    this.#deps = deps;
    deps.store.outbox.onAdded(() => {
      this.#isWoken = true;
      this.#wake();
    });
    this.#running = this.#run();
  }

  /** Resolves true once the change is on the DIRECTORY stream, false when `timeoutMs` have passed first. */
  published(outboxId: number, timeoutMs: number): Promise<boolean> {
    const until = this.#deps.clock.now() + timeoutMs;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        outboxId,
        done: (published) => {
          this.#waiting.delete(waiter);
          resolve(published);
        },
      };
      this.#waiting.add(waiter);
      void this.#look(waiter, until);
    });
  }

  async #look(waiter: Waiter, until: number): Promise<void> {
    const { clock, store } = this.#deps;
    while (this.#waiting.has(waiter)) {
      // A store that does not answer does not know: the relay may tell.
      const isPublished = await store.outbox.isPublished(waiter.outboxId).catch(() => false);
      const leftMs = until - clock.now();
      if (isPublished || leftMs <= 0) waiter.done(isPublished);
      else await clock.sleep(Math.min(leftMs, LOOK_MS));
    }
  }

  /** Waits for a running publish to end; remaining waits resolve false. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
    for (const waiter of this.#waiting) waiter.done(false);
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      this.#isWoken = false;
      try {
        await this.#drain();
        failures = 0;
        await this.#nextWake();
      } catch (error) {
        await this.#pauseAfter(error, failures);
        failures += 1;
      }
    }
  }

  /** Publishes until nothing is pending. */
  async #drain(): Promise<void> {
    const { store, broker } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      const rows = await store.outbox.pending(BATCH);
      if (rows.length === 0) return;
      await broker.publishDirectory(rows.map((row) => row.change));
      const published = new Set(rows.map((row) => row.outboxId));
      await store.outbox.published([...published]);
      for (const waiter of this.#waiting) if (published.has(waiter.outboxId)) waiter.done(true);
    }
  }

  /** Rows added while the last ones were being published have already set the wake-up. */
  #nextWake(): Promise<void> {
    if (this.#isWoken || this.#stopping.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #pauseAfter(error: unknown, failuresBefore: number): Promise<void> {
    const pause = PAUSES_MS[Math.min(failuresBefore, PAUSES_MS.length - 1)] ?? 0;
    const reason = messageOf(error);
    this.#deps.log.warn({
      event: 'directory_relay_failed',
      reason,
      failures: failuresBefore + 1,
      pause_ms: pause,
    });
    await this.#deps.clock.sleep(pause, this.#stopping.signal);
  }
}

/**
 * Brings store and DIRECTORY stream into agreement, and starts the relay. Resolves when the stream has what it lacked, so
 * that no event is routed without it.
 */
export async function startRelay(deps: RelayDeps & ReconcileDeps): Promise<Relay> {
  const lacking = await reconcile(deps);
  const relay = new Relay(deps);
  await untilPropagated(lacking, deps);
  return relay;
}
