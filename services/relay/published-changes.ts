import type { Clock } from '../process/clock.ts';
import type { Outbox } from '../store/outbox.ts';

/** The interval of look-ups for a change that another process may have published. */
const LOOK_MS = 25;

interface Waiter {
  readonly outboxId: number;
  readonly done: (published: boolean) => void;
}

/** Tells when a directory change is on the DIRECTORY stream, whichever process has the relay. */
export class PublishedChanges {
  readonly #outbox: Pick<Outbox, 'isPublished'>;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();

  constructor(outbox: Pick<Outbox, 'isPublished'>, clock: Clock) {
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Resolves true once the change is on the DIRECTORY stream, false when `timeoutMs` have passed first. */
  published(outboxId: number, timeoutMs: number): Promise<boolean> {
    const until = this.#clock.now() + timeoutMs;
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

  /** Ends the waits for changes that the relay of this process has published. */
  note(outboxIds: ReadonlySet<number>): void {
    for (const waiter of this.#waiting) if (outboxIds.has(waiter.outboxId)) waiter.done(true);
  }

  /** Ends every wait without its change. */
  stop(): void {
    for (const waiter of this.#waiting) waiter.done(false);
  }

  async #look(waiter: Waiter, until: number): Promise<void> {
    while (this.#waiting.has(waiter)) {
      // A store that does not answer does not know: the relay may tell.
      const isPublished = await this.#outbox.isPublished(waiter.outboxId).catch(() => false);
      const leftMs = until - this.#clock.now();
      if (isPublished || leftMs <= 0) waiter.done(isPublished);
      else await this.#clock.sleep(Math.min(leftMs, LOOK_MS));
    }
  }
}
