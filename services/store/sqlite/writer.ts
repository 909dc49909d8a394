import { workerData } from 'node:worker_threads';
import type { HealthPolicy } from '../../domain/health.ts';
import { RecordSeals } from '../../domain/seals/record-seals.ts';
import { KeyRing } from '../../keys/keyring.ts';
import { stepBack } from '../../process/thread-priority.ts';
import { isDamage } from '../../sqlite/database.ts';
import { lockExclusively } from '../../sqlite/exclusive-lock.ts';
import { byName } from '../rules/bind.ts';
import { WRITES } from '../rules/writes.ts';
import { openConnection } from './connection.ts';
import { FeedWrites } from './feed/feed-writes.ts';
import { BodyWrites } from './log/body-writes.ts';
import { EndpointHealth } from './log/endpoint-health.ts';
import { JournalWriter } from './log/journal-writer.ts';
import type { PostedBatch } from './log/posted-batch.ts';
import { BackupRows } from './maintenance/backup-rows.ts';
import { Purges } from './maintenance/purges.ts';
import { RetentionWrites } from './maintenance/retention-writes.ts';
import { migrate } from './migrations/migrate.ts';
import { Names } from './names.ts';
import type { Call, Reply } from './thread-calls.ts';
import { mainThread, serve, tell, toFailure } from './thread-serve.ts';
import { Changes } from './transaction.ts';

/**
 * The data of the thread that owns the file: only this thread writes. Calls that arrive while a transaction is being
 * made durable go into the next one together, so that many share one fsync; a single call does not wait for others.
 */
export interface WriterData {
  readonly file: string;
  readonly healthPolicy: HealthPolicy;
  /** Limits the file, in pages; 0 = no limit. */
  readonly pagesMax: number;
  /** Null in a process without the key ring. */
  readonly keyRingFile: string | null;
}

export type WriterOps = ReturnType<typeof operations>;

const port = mainThread();
const { file, healthPolicy, pagesMax, keyRingFile } = workerData as WriterData;

function open() {
  const lock = lockExclusively(file);
  try {
    const db = openConnection(file, 'write');
    if (pagesMax > 0) db.pragma(`max_page_count = ${pagesMax}`);
    migrate(db, file);
    // Their requests ended with the process that had them.
    db.exec('DELETE FROM answer WHERE status IS NULL');
    const purges = new Purges(db);
    purges.runIfDue();
    return { lock, db, purges };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Returns the writers of the tables that are this engine's own, on one connection. */
function writersOf(db: ReturnType<typeof openConnection>, seals: RecordSeals | null) {
  const names = new Names(db);
  const feed = new FeedWrites(db, names);
  const health = new EndpointHealth(db, healthPolicy);
  const journal = new JournalWriter(db, names, health, feed);
  const { erasures } = journal.events;
  const changes = new Changes(db, { feed, seals, health, erasures, names });
  const retention = new RetentionWrites(db, journal);
  const bodies = new BodyWrites(db, journal);
  return { names, feed, health, changes, journal, retention, bodies, erasures };
}

/** Returns the changes that every store has. The first argument of a call is when it was asked for. */
function rulesOn(changes: Changes, keyRing: KeyRing | null): object {
  const bound = [...byName(WRITES)].map(([name, rule]) => {
    const operation = (at: number, ...args: readonly unknown[]) => {
      // The ring may have got a key that seals from now on.
      if (name.startsWith('sealings.')) keyRing?.reread();
      return rule(changes.at(at) as never, ...(args as never[]));
    };
    return [name, operation];
  });
  return Object.fromEntries(bound);
}

function operations({ lock, db, purges }: ReturnType<typeof open>) {
  const keyRing = keyRingFile === null ? null : KeyRing.read(keyRingFile);
  const seals = keyRing && new RecordSeals(keyRing);
  const { names, feed, health, changes, journal, retention, bodies, erasures } = writersOf(db, seals);
  const backups = new BackupRows(db);
  const touchKey = db.prepare(
    'UPDATE api_key SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE key_id = ?',
  );
  const probe = db.prepare("UPDATE meta SET value = value WHERE name = 'event_indexed_to'");
  return {
    ...rulesOn(changes, keyRing),
    touchKeys(used: ReadonlyMap<string, number>) {
      for (const [keyId, at] of used) touchKey.run(Math.floor(at), keyId);
    },
    applyJournal: (batches: readonly PostedBatch[]) => journal.apply(changes.at(0), batches),
    deleteDeliveries: retention.deleteDeliveries.bind(retention),
    deleteEvents: retention.deleteEvents.bind(retention),
    mergeTallies: () => journal.tallies.merge(),
    deleteTallies: journal.tallies.delete.bind(journal.tallies),
    deleteFeed: feed.delete.bind(feed),
    removeBodies: bodies.remove.bind(bodies),
    forgetErasures: erasures.forget.bind(erasures),
    addBackup: backups.add.bind(backups),
    /** Not part of a transaction. */
    purge: () => purges.run(),
    /** Writes something, to test whether writing works again. */
    probe: () => void probe.run(),
    /** Returns the row of a delivery that the index may not have yet. */
    findDelivery: (deliveryId: string) => journal.deliveries.index.findRecent(0, deliveryId),
    findEvent(merchantId: string, eventId: string) {
      const merchant = names.findMerchant(merchantId);
      return merchant === undefined ? undefined : journal.events.index.findRecent(merchant, eventId);
    },
    findEvents: (eventId: string) => journal.events.index.findRecentAny(eventId),
    /** The last call. */
    close() {
      db.exec('COMMIT');
      db.close();
      lock.release();
    },
    takeOutboxRows() {
      const { hasAdded } = changes;
      changes.hasAdded = false;
      return hasAdded;
    },
    /** Called at the end of each transaction. */
    fillLists() {
      for (const { list } of [feed, journal.events, journal.deliveries]) list.fill();
      journal.tallies.fill();
    },
    committed: () => journal.committed(),
    rolledBack() {
      changes.hasAdded = false;
      names.forgetAll();
      health.forgetAll();
      journal.rolledBack();
    },
  };
}

function run(db: ReturnType<typeof open>['db'], ops: WriterOps): void {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');

  const one = async (call: Call): Promise<Reply> => {
    const operation = ops[call.op as keyof WriterOps] as (...args: readonly unknown[]) => unknown;
    return { id: call.id, value: await operation(...call.args) };
  };

  /** Runs all calls in one transaction, or none. */
  const together = async (calls: readonly Call[]): Promise<Reply[]> => {
    try {
      begin.run();
      const replies: Reply[] = [];
      for (const call of calls) replies.push(await one(call));
      if (db.open) {
        ops.fillLists();
        commit.run();
      }
      ops.committed();
      return replies;
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (db.inTransaction) rollback.run();
      ops.rolledBack();
      throw error;
    }
  };

  const failed = (call: Call, error: unknown): Reply => {
    const failure = toFailure(error, file);
    if (isDamage(error)) tell(port, { kind: 'broken', message: failure.message });
    return { id: call.id, failure };
  };

  serve(port, async (calls) => {
    const replies: Reply[] = [];
    let hasOutboxRows = false;
    const attempt = async (some: readonly Call[]) => {
      replies.push(...(await together(some)));
      hasOutboxRows = ops.takeOutboxRows() || hasOutboxRows;
    };
    const purging = calls.filter(({ op }) => op === 'purge');
    const changes = calls.filter(({ op }) => op !== 'purge');
    try {
      if (changes.length > 0) await attempt(changes);
    } catch (error) {
      // One call failed, or the disk did. Each call gets a transaction of its own, so that only the failing ones
      // reject.
      for (const call of changes) {
        try {
          if (changes.length === 1) throw error;
          await attempt([call]);
        } catch (own) {
          replies.push(failed(call, own));
        }
      }
    }
    for (const call of purging) {
      try {
        replies.push(await one(call));
      } catch (error) {
        replies.push(failed(call, error));
      }
    }
    tell(port, { kind: 'replies', replies, hasOutboxRows });
    if (!db.open) port.close();
  });
}

// Deliveries do not wait for the log.
stepBack();
try {
  const opened = open();
  const ops = operations(opened);
  tell(port, { kind: 'ready' });
  run(opened.db, ops);
} catch (error) {
  tell(port, { kind: 'refused', message: toFailure(error, file).message });
  port.close();
}
