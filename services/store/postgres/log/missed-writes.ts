import { idBytes } from '../client/packed-id.ts';
import type { Transaction } from '../client/statements.ts';
import type { MissedChange } from './missed-changes.ts';

/**
 * The statement of each kind of change, to the row of an endpoint ($1) and of an event or a notice ($3: its id). $2 is the
 * event's created_at; a notice has none.
 */
const STATEMENTS: Readonly<Record<MissedChange['kind'], string>> = {
  skip: `INSERT INTO missed (endpoint, created_at, event_id) SELECT $1, $2, $3 WHERE NOT EXISTS (
    SELECT 1 FROM missed WHERE endpoint = $1 AND created_at = $2 AND event_id = $3)`,
  add: `WITH known AS (
      UPDATE missed SET delivery_id = $4, delivery_at = $5
      WHERE endpoint = $1 AND created_at = $2 AND event_id = $3 RETURNING 1
    )
    INSERT INTO missed (endpoint, created_at, event_id, delivery_id, delivery_at) SELECT $1, $2, $3, $4, $5
    WHERE NOT EXISTS (SELECT 1 FROM known)`,
  begin: `UPDATE missed SET delivery_id = $4, delivery_at = $5
    WHERE endpoint = $1 AND created_at = $2 AND event_id = $3`,
  remove: 'DELETE FROM missed WHERE endpoint = $1 AND created_at = $2 AND event_id = $3',
  removePassed: `DELETE FROM missed WHERE endpoint = $1 AND created_at = $2 AND event_id = $3
    AND delivery_id IS NULL`,
  removeNotice: 'DELETE FROM missed WHERE endpoint = $1 AND event_id = $3 AND $2::bigint IS NULL',
};

/** Carries the changes out, in order: there are none while all is well. */
export async function writeMissed(tx: Transaction, changes: readonly MissedChange[]): Promise<void> {
  for (const { kind, endpoint, createdAt, eventId, delivery } of changes) {
    const event = [endpoint, createdAt, idBytes(eventId)];
    const own = delivery ? [idBytes(delivery.deliveryId), delivery.createdAt] : [null, null];
    const hasDelivery = kind === 'add' || kind === 'begin';
    await tx.change(STATEMENTS[kind], hasDelivery ? [...event, ...own] : event);
  }
}
