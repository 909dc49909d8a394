import type { Database } from 'better-sqlite3';
import type { DirectoryChange } from '../../../domain/directory.ts';
import { type Actor, personOf } from '../../change.ts';
import { actorText } from '../../rows/audit-rows.ts';
import type { FeedWrites } from '../feed/feed-writes.ts';

/**
 * The rows that accompany every change of an endpoint or merchant, in its transaction: the outbox row, the audit entry,
 * and for an endpoint the feed's row.
 */
export class OutboxWrites {
  /** Rows were added since this was last set to false. */
  hasAdded = false;
  readonly #feed: FeedWrites;
  readonly #add;
  readonly #audit;
  readonly #forget;

  constructor(db: Database, feed: FeedWrites) {
    this.#feed = feed;
    this.#add = db.prepare('INSERT INTO outbox (change) VALUES (?)');
    this.#audit = db.prepare(
      `INSERT INTO audit (at, actor, person, merchant_id, endpoint_uuid, action, details)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#forget = db.prepare('DELETE FROM outbox WHERE outbox_id = ?');
  }

  /** Returns the outbox id. */
  add(change: DirectoryChange): number {
    this.hasAdded = true;
    return Number(this.#add.run(JSON.stringify(change)).lastInsertRowid);
  }

  /** `details` must not contain a secret. */
  audit(entry: {
    readonly at: number;
    readonly actor: Actor;
    readonly merchantId: string | null;
    readonly endpointId?: string;
    readonly action: string;
    readonly details: Readonly<Record<string, unknown>>;
  }): void {
    const actor = actorText(entry.actor);
    const details = JSON.stringify(entry.details);
    const { at, merchantId, endpointId, action } = entry;
    const auditId = this.#audit.run(
      Math.floor(at),
      actor,
      personOf(entry.actor),
      merchantId,
      endpointId ?? null,
      action,
      details,
    ).lastInsertRowid;
    if (merchantId !== null && endpointId !== undefined && action.startsWith('endpoint.'))
      this.#feed.add(merchantId, 'endpoint', { ref: Number(auditId), at });
  }

  /** Forgets changes that are on the DIRECTORY stream. */
  published(outboxIds: readonly number[]): void {
    for (const outboxId of outboxIds) this.#forget.run(outboxId);
  }
}
