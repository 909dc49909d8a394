import { rmSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { connect } from '../../sqlite/connect.ts';
import { lockExclusively } from '../../sqlite/exclusive-lock.ts';
import { layoutFault } from '../../sqlite/migrate-file.ts';
import { backupSqliteStore } from '../sqlite/maintenance/backup.ts';
import { MIGRATIONS } from '../sqlite/migrations/migrate.ts';
import { CopyRefused } from './copy-refused.ts';

export type Sqlite = Database.Database;

/** Tells one store, and one state of it, from others. */
export interface Fingerprint {
  readonly events: number;
  readonly deliveries: number;
  readonly feed: number;
  /** The newest audit entry, which every later state of the store has, too. */
  readonly audit: AuditMark | null;
}

interface AuditMark {
  readonly id: number;
  readonly entry: string;
}

/** Takes a snapshot of the store, which may be in use, in the place of an earlier one. Throws CopyRefused. */
export async function takeSnapshot(file: string, snapshotFile: string): Promise<Fingerprint> {
  const source = openReadOnly(file);
  try {
    refuseUnfit(source, file);
  } finally {
    source.close();
  }
  removeSnapshot(snapshotFile);
  await backupSqliteStore(file, snapshotFile);
  const snapshot = openReadOnly(snapshotFile);
  try {
    return fingerprintOf(snapshot);
  } finally {
    snapshot.close();
  }
}

export function removeSnapshot(snapshotFile: string): void {
  for (const end of ['', '-wal', '-shm', '.lock']) rmSync(snapshotFile + end, { force: true });
}

export function openReadOnly(file: string): Sqlite {
  return connect(file, { readonly: true });
}

export function fingerprintOf(db: Sqlite): Fingerprint {
  const highest = (table: string) =>
    db.prepare(`SELECT coalesce(max(seq), 0) FROM ${table}`).pluck().get() as number;
  const newest = db.prepare('SELECT max(audit_id) FROM audit').pluck().get() as number | null;
  return {
    events: highest('event'),
    deliveries: highest('delivery'),
    feed: highest('feed'),
    audit: newest === null ? null : auditMark(db, newest),
  };
}

/** Returns whether the store is the one of which the fingerprint was taken, as it was then or later. */
export function isSameStore(db: Sqlite, { audit, feed }: Fingerprint): boolean {
  // The newest row of the feed is never deleted.
  const isLater = fingerprintOf(db).feed >= feed;
  return isLater && (audit === null || auditMark(db, audit.id)?.entry === audit.entry);
}

function auditMark(db: Sqlite, id: number): AuditMark | null {
  const entry = db
    .prepare('SELECT at, actor, merchant_id, endpoint_uuid, action, details FROM audit WHERE audit_id = ?')
    .raw()
    .get(id);
  return entry === undefined ? null : { id, entry: JSON.stringify(entry) };
}

/** Returns whether a process has the store open. */
export function isInUse(file: string): boolean {
  try {
    lockExclusively(file).release();
    return false;
  } catch {
    return true;
  }
}

function refuseUnfit(db: Sqlite, file: string): void {
  const fault = layoutFault(db, file, MIGRATIONS);
  if (fault !== undefined) throw new CopyRefused(fault);
  // SQLite's index of URLs does not have the single webhook of 2.2.8; PostgreSQL's has.
  const twice = db
    .prepare(
      `SELECT group_concat(uuid, ' and ') FROM endpoint WHERE deleted_at IS NULL GROUP BY merchant_id, url
       HAVING count(*) > 1 LIMIT 1`,
    )
    .pluck()
    .get() as string | undefined;
  if (twice !== undefined)
    throw new CopyRefused(
      `the endpoints ${twice} of one merchant have the same URL, which PostgreSQL refuses: delete one of them`,
    );
}
