import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { openConnection } from '../connection.ts';
import { fileFault, migrate } from '../migrations/migrate.ts';
import { Names } from '../names.ts';
import { isSame, readManifest } from './backup-manifest.ts';
import { BackupReads, type BackupRow, BackupRows, type ErasedEntity } from './backup-rows.ts';

interface Restoring {
  /** The backup. */
  readonly from: string;
  /** The store that is replaced, which need not be there. */
  readonly file: string;
  /** Where that is kept. */
  readonly keptAs: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Adds to a store that is being restored what it cannot know: the orders to erase that came after it, to be carried out again,
 * and the copies of the store that there are.
 */
export function carryOver(incoming: string, { from, file, keptAs, at }: Restoring): void {
  const previous = knownTo(file);
  const erased = [...(readManifest(resolve(from))?.erasedSince ?? []), ...previous.orders];
  const db = openConnection(incoming, 'write');
  try {
    migrate(db, incoming);
    const names = new Names(db);
    const [reads, rows] = [new BackupReads(db), new BackupRows(db)];
    const insert = db.prepare('INSERT INTO erasure (entity_id, merchant, accepted_before) VALUES (?, ?, ?)');
    db.transaction(() => {
      const known = reads.orders();
      for (const order of erased) {
        if (known.some((each) => isSame(each, order))) continue;
        known.push(order);
        const merchant = order.merchantId === null ? null : names.merchant(order.merchantId);
        insert.run(order.entityId, merchant, order.acceptedBefore);
      }
      const files = new Set(reads.backups().map((backup) => backup.file));
      const copies = [...previous.backups, { file: resolve(from), takenAt: statSync(from).mtimeMs }];
      if (keptAs !== null) copies.push({ file: resolve(keptAs), takenAt: at });
      for (const copy of copies) {
        if (!files.has(copy.file)) rows.add(copy.file, copy.takenAt);
        files.add(copy.file);
      }
      // The backup itself may have been purged less well than this build does.
      db.prepare("UPDATE meta SET value = 1 WHERE name = 'purge_due'").run();
    })();
  } finally {
    db.close();
  }
}

/** Returns what a store knows of erasures and copies; nothing where there is none, or it cannot be read. */
function knownTo(file: string): {
  readonly orders: readonly ErasedEntity[];
  readonly backups: readonly BackupRow[];
} {
  // The rows of another build may have another form.
  if (!existsSync(file) || fileFault(file) !== undefined) return { orders: [], backups: [] };
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true });
    const reads = new BackupReads(db);
    return { orders: reads.orders(), backups: reads.backups() };
  } catch {
    // A damaged store is what is restored most often: the manifest has the orders.
    return { orders: [], backups: [] };
  } finally {
    db?.close();
  }
}
