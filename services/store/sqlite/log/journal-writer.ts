import type { Database } from 'better-sqlite3';
import { PositionLost } from '../../../domain/journal.ts';
import { JournalFold } from '../../log/journal-fold.ts';
import type { Transaction } from '../../sql/transaction.ts';
import type { FeedWrites } from '../feed/feed-writes.ts';
import type { Names } from '../names.ts';
import { MissedRows } from '../replays/missed-rows.ts';
import { AttemptRows } from './attempt-rows.ts';
import { DeliveryRows } from './delivery-rows.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { EventRows } from './event-rows.ts';
import { entriesOf, type PostedBatch } from './posted-batch.ts';
import { TallyRows } from './tally-rows.ts';

/** Applies journal batches, and the position with them, in the caller's transaction. */
export class JournalWriter {
  readonly events: EventRows;
  readonly deliveries: DeliveryRows;
  readonly attempts: AttemptRows;
  readonly missed: MissedRows;
  readonly tallies: TallyRows;
  readonly #fold: JournalFold;
  readonly #health: EndpointHealth;
  readonly #position;
  readonly #setPosition;

  constructor(db: Database, names: Names, health: EndpointHealth, feed: FeedWrites) {
    this.#health = health;
    this.missed = new MissedRows(db);
    this.events = new EventRows(db, this.missed);
    this.deliveries = new DeliveryRows(db);
    this.tallies = new TallyRows(db);
    this.attempts = new AttemptRows(db, this.tallies);
    const { events, deliveries, attempts, missed, tallies } = this;
    this.#fold = new JournalFold({ names, events, deliveries, attempts, missed, health, tallies, feed });
    this.#position = db.prepare('SELECT last FROM journal_position WHERE partition = ?').pluck();
    this.#setPosition = db.prepare('INSERT OR REPLACE INTO journal_position VALUES (?, ?)');
  }

  async apply(tx: Transaction, batches: readonly PostedBatch[]): Promise<void> {
    this.#fold.begin();
    for (const batch of batches) this.#add(batch);
    for (const delivery of this.#fold.deliveries) this.deliveries.write(delivery);
    this.events.contents.flush();
    this.attempts.contents.flush();
    await this.#health.flush(tx);
    this.events.index.write();
    this.deliveries.index.write();
  }

  /** Folds the entries of a batch that the log does not have, and moves the position on. */
  #add(batch: PostedBatch): void {
    const { partition, first, last, positions, after } = batch.position;
    const stored = this.#position.get(partition) as number | undefined;
    if (after !== undefined && (stored === undefined || stored < after))
      throw new PositionLost(
        `the log has ${partition} up to ${stored ?? 'nothing'}, but had it up to ${after}`,
      );
    if (stored !== undefined && last <= stored) return;
    let index = 0;
    for (const entry of entriesOf(batch)) {
      // A batch may have been applied in part.
      if (stored === undefined || (positions?.[index] ?? first + index) > stored) this.#fold.apply(entry);
      index += 1;
    }
    this.#setPosition.run(partition, last);
  }

  committed(): void {
    this.events.index.committed();
    this.deliveries.index.committed();
  }

  rolledBack(): void {
    this.events.index.rolledBack();
    this.deliveries.index.rolledBack();
    this.events.contents.rolledBack();
    this.attempts.contents.rolledBack();
    this.tallies.rolledBack();
    this.events.erasures.readAll();
    this.deliveries.forgetPending();
  }
}
