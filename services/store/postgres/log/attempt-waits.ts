import type { JournalEntries } from '../../../domain/journal.ts';
import type { Clock } from '../../../process/clock.ts';
import { STATUS } from '../../log/codes.ts';
import { idBytes, idOf } from '../client/packed-id.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';

/** The interval of looks for all who wait: the recorder may be another process. */
const LOOK_MS = 50;
const IDS_PER_LOOK = 1000;

type Done = (isTried: boolean) => void;

/** Callers that wait for the first attempt of a delivery: one look for all of them. */
export class AttemptWaits {
  readonly #database: PostgresDatabase;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<Done>>();
  #looking: Promise<void> | null = null;
  #isClosed = false;

  constructor(database: PostgresDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async wait(deliveryId: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#isClosed) return false;
    let done: Done = () => {};
    const heard = new Promise<boolean>((resolve) => {
      done = resolve;
    });
    const stop = () => done(false);
    const dones = this.#waiting.get(deliveryId) ?? new Set();
    this.#waiting.set(deliveryId, dones.add(done));
    signal.addEventListener('abort', stop, { once: true });
    this.#start();
    try {
      return await heard;
    } finally {
      signal.removeEventListener('abort', stop);
      dones.delete(done);
      if (dones.size === 0 && this.#waiting.get(deliveryId) === dones) this.#waiting.delete(deliveryId);
    }
  }

  #start(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
      // Somebody may have come while the loop was ending.
      if (this.#waiting.size > 0) this.#start();
    });
  }

  /** This process has recorded entries: those who wait for them hear it at once. */
  recorded(entries: JournalEntries): void {
    if (this.#waiting.size === 0) return;
    for (const entry of entries)
      if (entry.kind === 'attempted' || entry.kind === 'cancelled') this.#tried(entry.delivery.deliveryId);
  }

  /** Ends all waits. */
  close(): void {
    this.#isClosed = true;
    for (const dones of this.#waiting.values()) for (const done of dones) done(false);
    this.#waiting.clear();
  }

  async #look(): Promise<void> {
    while (this.#waiting.size > 0) {
      const ids = [...this.#waiting.keys()];
      try {
        for (let at = 0; at < ids.length; at += IDS_PER_LOOK)
          for (const id of await this.#triedOf(ids.slice(at, at + IDS_PER_LOOK))) this.#tried(id);
      } catch {
        // The store is away: whoever waits gives up by itself.
      }
      if (this.#waiting.size > 0) await this.#clock.sleep(LOOK_MS);
    }
  }

  async #triedOf(ids: readonly string[]): Promise<readonly string[]> {
    const found = await this.#database.read(({ rows }) =>
      rows<{ readonly delivery_id: Buffer }>(
        `SELECT delivery_id FROM delivery WHERE delivery_id = ANY($1::bytea[])
         AND (attempts_made > 0 OR status = ${STATUS.of.cancelled})`,
        [ids.map(idBytes)],
      ),
    );
    return found.map(({ delivery_id }) => idOf(delivery_id));
  }

  #tried(deliveryId: string): void {
    const dones = this.#waiting.get(deliveryId);
    this.#waiting.delete(deliveryId);
    if (dones) for (const done of dones) done(true);
  }
}
