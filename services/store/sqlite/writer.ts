import { workerData } from 'node:worker_threads';
import type { HealthPolicy } from '../../domain/health.ts';
import { RecordSeals } from '../../domain/seals/record-seals.ts';
import { KeyRing } from '../../keys/keyring.ts';
import { isDamage } from '../../sqlite/database.ts';
import { lockExclusively } from '../../sqlite/exclusive-lock.ts';
import { openConnection } from './connection.ts';
import { FeedWrites } from './feed/feed-writes.ts';
import { BodyWrites } from './log/body-writes.ts';
import { EndpointHealth } from './log/endpoint-health.ts';
import { JournalWriter } from './log/journal-writer.ts';
import { BackupRows } from './maintenance/backup-rows.ts';
import { DirectoryRestore } from './maintenance/directory-restore.ts';
import { ErasureWrites } from './maintenance/erasure-writes.ts';
import { Purges } from './maintenance/purges.ts';
import { RecordSealing } from './maintenance/record-sealing.ts';
import { RetentionWrites } from './maintenance/retention-writes.ts';
import { SealingWrites } from './maintenance/sealing-writes.ts';
import { AnswerWrites } from './management/answer-writes.ts';
import { EndpointWrites } from './management/endpoint-writes.ts';
import { LegacyEndpointWrites } from './management/legacy-endpoint-writes.ts';
import { MerchantWrites } from './management/merchant-writes.ts';
import { OutboxWrites } from './management/outbox-writes.ts';
import { migrate } from './migrations/migrate.ts';
import { Names } from './names.ts';
import { ReplayWrites } from './replays/replay-writes.ts';
import type { Call, Reply } from './thread-calls.ts';
import { mainThread, serve, tell, toFailure } from './thread-serve.ts';

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
    const purges = new Purges(db);
    purges.runIfDue();
    return { lock, db, purges };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Returns the writers of the tables, on one connection. */
function writersOf(db: ReturnType<typeof openConnection>, keyRing: KeyRing | null) {
  const names = new Names(db);
  const feed = new FeedWrites(db, names);
  const outbox = new OutboxWrites(db, feed, keyRing && new RecordSeals(keyRing));
  const answers = new AnswerWrites(db);
  const merchants = new MerchantWrites(db, outbox);
  const health = new EndpointHealth(db, outbox, healthPolicy);
  const endpoints = new EndpointWrites(db, outbox, answers, (uuid) => health.forget(uuid));
  const legacy = new LegacyEndpointWrites(endpoints);
  const restore = new DirectoryRestore(db, outbox, (uuid) => health.forget(uuid));
  const journal = new JournalWriter(db, names, health, feed);
  const retention = new RetentionWrites(db, journal.events, journal.deliveries, journal.missed);
  const replays = new ReplayWrites(db, outbox, answers);
  const bodies = new BodyWrites(db, journal.deliveries, journal.events.contents);
  const sealings = new SealingWrites(db, outbox, (uuid) => health.forget(uuid));
  const records = new RecordSealing(db, outbox, (uuid) => health.forget(uuid));
  const erasures = new ErasureWrites(journal.events.erasures, names, outbox);
  return {
    names,
    feed,
    outbox,
    answers,
    merchants,
    health,
    endpoints,
    legacy,
    restore,
    journal,
    retention,
    replays,
    bodies,
    sealings,
    records,
    erasures,
  };
}

/** Returns the operations of the api and of operators. */
function managementOf({ merchants, endpoints, replays, legacy, answers }: ReturnType<typeof writersOf>) {
  return {
    createMerchant: merchants.create.bind(merchants),
    updateMerchant: merchants.update.bind(merchants),
    createKey: merchants.createKey.bind(merchants),
    revokeKey: merchants.revokeKey.bind(merchants),
    setKeyRights: merchants.setRights.bind(merchants),
    touchKeys: merchants.touchKeys.bind(merchants),
    createEndpoint: endpoints.create.bind(endpoints),
    updateEndpoint: endpoints.update.bind(endpoints),
    rotateEndpoint: endpoints.rotate.bind(endpoints),
    removeEndpoint: endpoints.remove.bind(endpoints),
    createReplay: replays.create.bind(replays),
    advanceReplay: replays.advance.bind(replays),
    finishReplay: replays.finish.bind(replays),
    claimAnswer: answers.claim.bind(answers),
    releaseAnswer: answers.release.bind(answers),
    keepAnswer: answers.keep.bind(answers),
    setLegacyEndpoint: legacy.set.bind(legacy),
  };
}

/** Returns the operations on what the key ring seals. */
function sealingsOf({ sealings, records, outbox }: ReturnType<typeof writersOf>, keyRing: KeyRing | null) {
  /** The ring may have got a key that seals from now on. */
  const withNewKeys =
    <Args extends unknown[], Result>(operation: (...args: Args) => Result) =>
    (...args: Args): Result => {
      keyRing?.reread();
      return operation(...args);
    };
  return {
    reseal: withNewKeys(sealings.replace.bind(sealings)),
    sealRecords: withNewKeys(records.seal.bind(records)),
    completeSeals: withNewKeys(records.complete.bind(records)),
    addAbove: records.addAbove.bind(records),
    requireSeals: () => outbox.seals?.require(),
  };
}

function operations({ lock, db, purges }: ReturnType<typeof open>) {
  const keyRing = keyRingFile === null ? null : KeyRing.read(keyRingFile);
  const writers = writersOf(db, keyRing);
  const { names, feed, outbox, answers, health, restore, journal, retention, bodies, erasures } = writers;
  const backups = new BackupRows(db);
  const probe = db.prepare("UPDATE meta SET value = value WHERE name = 'event_indexed_to'");
  return {
    ...managementOf(writers),
    published: outbox.published.bind(outbox),
    addToAudit: outbox.audit.bind(outbox),
    addAgain: restore.addAgain.bind(restore),
    adopt: restore.adopt.bind(restore),
    applyJournal: journal.apply.bind(journal),
    deleteDeliveries: retention.deleteDeliveries.bind(retention),
    deleteEvents: retention.deleteEvents.bind(retention),
    deleteFeed: feed.delete.bind(feed),
    removeBodies: bodies.remove.bind(bodies),
    ...sealingsOf(writers, keyRing),
    orderErasure: erasures.order.bind(erasures),
    finishErasure: erasures.finish.bind(erasures),
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
    /** The last call. */
    close() {
      db.exec('COMMIT');
      db.close();
      lock.release();
    },
    takeOutboxRows() {
      const { hasAdded } = outbox;
      outbox.hasAdded = false;
      return hasAdded;
    },
    /** Called at the end of each transaction. */
    fillLists() {
      for (const { list } of [feed, journal.events, journal.deliveries]) list.fill();
    },
    committed() {
      answers.committed();
      journal.committed();
    },
    rolledBack() {
      answers.rolledBack();
      outbox.hasAdded = false;
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

  const one = (call: Call): Reply => {
    const operation = ops[call.op as keyof WriterOps] as (...args: readonly unknown[]) => unknown;
    return { id: call.id, value: operation(...call.args) };
  };

  /** Runs all calls in one transaction, or none. */
  const together = (calls: readonly Call[]): Reply[] => {
    try {
      begin.run();
      const replies = calls.map(one);
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

  serve(port, (calls) => {
    const replies: Reply[] = [];
    let hasOutboxRows = false;
    const attempt = (some: readonly Call[]) => {
      replies.push(...together(some));
      hasOutboxRows = ops.takeOutboxRows() || hasOutboxRows;
    };
    const purging = calls.filter(({ op }) => op === 'purge');
    const changes = calls.filter(({ op }) => op !== 'purge');
    try {
      if (changes.length > 0) attempt(changes);
    } catch (error) {
      // One call failed, or the disk did. Each call gets a transaction of its own, so that only the failing ones
      // reject.
      for (const call of changes) {
        try {
          if (changes.length === 1) throw error;
          attempt([call]);
        } catch (own) {
          replies.push(failed(call, own));
        }
      }
    }
    for (const call of purging) {
      try {
        replies.push(one(call));
      } catch (error) {
        replies.push(failed(call, error));
      }
    }
    tell(port, { kind: 'replies', replies, hasOutboxRows });
    if (!db.open) port.close();
  });
}

try {
  const opened = open();
  const ops = operations(opened);
  tell(port, { kind: 'ready' });
  run(opened.db, ops);
} catch (error) {
  tell(port, { kind: 'refused', message: toFailure(error, file).message });
  port.close();
}
