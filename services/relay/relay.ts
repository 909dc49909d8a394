import type { Broker } from '../broker/broker.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Clock } from '../process/clock.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type PublishChecks, publishable } from './publishable.ts';
import type { PublishedChanges } from './published-changes.ts';

const BATCH = 200;
/** Pauses after one failure, two, …, milliseconds; a success resets them. */
const PAUSES_MS = [50, 200, 1000, 2000] as const;

export interface RelayDeps {
  readonly store: Pick<Store, 'outbox'>;
  readonly broker: Pick<Broker, 'publishDirectory'>;
  readonly published: Pick<PublishedChanges, 'note'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Null or absent: changes are published as the store has them. */
  readonly checks?: PublishChecks | null;
  /** How often the outbox is checked, milliseconds; absent where no other process adds to it. */
  readonly lookMs?: number;
}

/**
 * Publishes committed directory changes from the store's outbox to the DIRECTORY stream, in order, one batch at a time.
 * Followers drop a change that was published twice (a crash between publish and acknowledgement) by its version.
 */
export class Relay {
  readonly #deps: RelayDeps;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #stopListening: () => void;
  #isWoken = false;
  #wake = () => {};

  /** Starts at once: changes that an earlier process left in the outbox go first. */
  constructor(deps: RelayDeps) {
    this.#deps = deps;
    this.#stopListening = deps.store.outbox.onAdded(() => {
      this.#isWoken = true;
      this.#wake();
    });
    this.#running = this.#run();
  }

  /** Waits for a running publish to end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopListening();
    this.#wake();
    await this.#running;
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
    const { store, broker, published, checks } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      const rows = await store.outbox.pending(BATCH);
      if (rows.length === 0) return;
      const changes = rows.flatMap(({ change }) => publishable(change, checks) ?? []);
      if (changes.length > 0) await broker.publishDirectory(changes);
      const outboxIds = new Set(rows.map((row) => row.outboxId));
      await store.outbox.published([...outboxIds]);
      published.note(outboxIds);
    }
  }

  /** Rows added while the last ones were being published have already set the wake-up. */
  async #nextWake(): Promise<void> {
    if (this.#isWoken || this.#stopping.signal.aborted) return;
    const { clock, lookMs } = this.#deps;
    let cancelLook = () => {};
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (lookMs !== undefined) cancelLook = clock.at(clock.now() + lookMs, resolve);
    });
    cancelLook();
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
