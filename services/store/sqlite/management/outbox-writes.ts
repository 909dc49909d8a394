import type { Database } from 'better-sqlite3';
import type { DirectoryChange } from '../../../domain/directory.ts';
import type { RecordSeals } from '../../../domain/seals/record-seals.ts';
import { personOf } from '../../change.ts';
import type { AddedAuditEntry } from '../../maintenance.ts';
import { actorText } from '../../rows/audit-rows.ts';
import { resealed, type SealColumns, sealOf, sealValues } from '../../rows/record-seals.ts';
import type { FeedWrites } from '../feed/feed-writes.ts';

/**
 * The rows that accompany every change of an endpoint or merchant, in its transaction: the outbox row, the audit entry,
 * and for an endpoint the feed's row.
 */
export class OutboxWrites {
  /** Rows were added since this was last set to false. */
  hasAdded = false;
  /** Null in a process without the key ring. */
  readonly seals: RecordSeals | null;
  readonly #feed: FeedWrites;
  readonly #add;
  readonly #sealOf;
  readonly #seal;
  readonly #audit;
  readonly #forget;

  constructor(db: Database, feed: FeedWrites, seals: RecordSeals | null) {
    this.#feed = feed;
    this.seals = seals;
    const columns = 'seal_key_id, seal_version, seal_mac';
    this.#sealOf = {
      merchant: db.prepare(`SELECT ${columns} FROM merchant WHERE merchant_id = ?`),
      endpoint: db.prepare(`SELECT ${columns} FROM endpoint WHERE uuid = ?`),
    };
    const set = 'SET seal_key_id = ?, seal_version = ?, seal_mac = ?';
    this.#seal = {
      merchant: db.prepare(`UPDATE merchant ${set} WHERE merchant_id = ?`),
      endpoint: db.prepare(`UPDATE endpoint ${set} WHERE uuid = ?`),
    };
    this.#add = db.prepare('INSERT INTO outbox (change) VALUES (?)');
    this.#audit = db.prepare(
      `INSERT INTO audit (at, actor, person, merchant_id, endpoint_uuid, action, details)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#forget = db.prepare('DELETE FROM outbox WHERE outbox_id = ?');
  }

  /** Seals the row, which was written before, and adds the change. Returns the outbox id. */
  add(change: DirectoryChange): number {
    const before = this.#sealOf[change.kind].get(change.id) as SealColumns | undefined;
    const sealed = resealed(this.seals, change, before ? sealOf(before) : {});
    this.seal(sealed);
    return this.addSealed(sealed);
  }

  /** Writes the seal of a change into its row. */
  seal({ kind, id, seal }: DirectoryChange): void {
    this.#seal[kind].run(...sealValues(seal), id);
  }

  /** Adds a change with the seal that it has. Returns the outbox id. */
  addSealed(change: DirectoryChange): number {
    this.hasAdded = true;
    return Number(this.#add.run(JSON.stringify(change)).lastInsertRowid);
  }

  /** Adds an audit entry. */
  audit(entry: AddedAuditEntry): void {
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
