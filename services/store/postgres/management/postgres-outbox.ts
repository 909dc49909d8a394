import type { DirectoryChange } from '../../../domain/directory.ts';
import { Listeners } from '../../../process/listeners.ts';
import type { Outbox, RecordAbove, Timeline } from '../../outbox.ts';
import type { Reads } from '../../rules/reads.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { readTimeline } from '../client/timeline.ts';
import type { Leaves } from '../leaves/leaves.ts';
import { addAbove } from '../maintenance/record-sealing.ts';
import { adoptChanges } from './directory-restore.ts';
import { acceptChanges, publishAgain } from './reconciliation.ts';

export class PostgresOutbox implements Outbox {
  readonly #database: PostgresDatabase;
  readonly #leaves: Leaves;
  readonly #listeners = new Listeners();

  readonly pending: Outbox['pending'];
  readonly isPublished: Outbox['isPublished'];
  readonly snapshot: Outbox['snapshot'];

  constructor(database: PostgresDatabase, leaves: Leaves, { outbox }: Reads) {
    this.#database = database;
    this.#leaves = leaves;
    ({ pending: this.pending, isPublished: this.isPublished, snapshot: this.snapshot } = outbox);
  }

  /** A transaction of this process that added rows was committed. */
  added(): void {
    this.#listeners.call();
  }

  onAdded(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  async published(outboxIds: readonly number[]): Promise<void> {
    if (outboxIds.length === 0) return;
    await this.#database.transaction(({ change }) =>
      change('DELETE FROM outbox WHERE outbox_id = ANY($1::bigint[])', [outboxIds]),
    );
  }

  addAgain(changes: readonly DirectoryChange[]): Promise<number> {
    return this.#database.transaction((tx) => publishAgain(tx, changes));
  }

  addAbove(records: readonly RecordAbove[]): Promise<number> {
    return this.#database.transaction((tx) => addAbove(tx, records));
  }

  async adopt(changes: readonly DirectoryChange[], at: number): Promise<number> {
    await this.#leaves.ensureAt(at);
    return this.#database.transaction((tx) => adoptChanges(tx, changes, Math.floor(at)));
  }

  timeline(): Promise<Timeline> {
    return this.#database.transaction(readTimeline);
  }

  async reconciled(timeline: string): Promise<void> {
    await this.#database.transaction((tx) => acceptChanges(tx, timeline));
  }
}
