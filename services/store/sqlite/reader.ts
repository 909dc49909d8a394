import { workerData } from 'node:worker_threads';
import { openConnection } from './connection.ts';
import { FeedReads } from './feed/feed-reads.ts';
import { ListReads } from './lists/list-reads.ts';
import { BodyReads } from './log/body-reads.ts';
import { LogReads } from './log/log-reads.ts';
import { BackupReads } from './maintenance/backup-rows.ts';
import { RetentionReads } from './maintenance/retention-reads.ts';
import { SealingReads } from './maintenance/sealing-reads.ts';
import { SnapshotReads } from './maintenance/snapshot-reads.ts';
import { AuditReads } from './management/audit-reads.ts';
import { ManagementReads } from './management/management-reads.ts';
import { ReplayReads } from './replays/replay-reads.ts';
import type { Call, Reply } from './thread-calls.ts';
import { mainThread, serve, tell, toFailure } from './thread-serve.ts';

/**
 * The data of the thread that reads, on a connection of its own: a long list delays neither a commit nor a delivery.
 */
export interface ReaderData {
  readonly file: string;
}

export type ReaderOps = ReturnType<typeof operations>;

const port = mainThread();
const { file } = workerData as ReaderData;

function operations(db: ReturnType<typeof openConnection>) {
  const management = new ManagementReads(db);
  const snapshot = new SnapshotReads(db);
  const log = new LogReads(db);
  const lists = new ListReads(db);
  const feed = new FeedReads(db);
  const retention = new RetentionReads(db);
  const replays = new ReplayReads(db);
  const bodies = new BodyReads(db);
  const backups = new BackupReads(db);
  const audit = new AuditReads(db);
  const sealings = new SealingReads(db);
  /** Returns an operation that sees one state of the file in all its statements. */
  const inSnapshot = <Operation extends (...args: never[]) => unknown>(operation: Operation) =>
    db.transaction(operation as never) as unknown as Operation;
  return {
    merchant: management.merchant.bind(management),
    merchants: management.merchants.bind(management),
    keyByHash: management.keyByHash.bind(management),
    keys: management.keys.bind(management),
    endpoint: management.endpoint.bind(management),
    endpoints: management.endpoints.bind(management),
    outbox: management.outbox.bind(management),
    isPublished: management.isPublished.bind(management),
    snapshot: snapshot.snapshot.bind(snapshot),
    positionOf: log.positionOf.bind(log),
    delivery: log.delivery.bind(log),
    event: log.event.bind(log),
    isRecorded: log.isRecorded.bind(log),
    isTried: log.isTried.bind(log),
    examineDeliveries: inSnapshot(lists.deliveries.bind(lists)),
    examineEvents: inSnapshot(lists.events.bind(lists)),
    feedHead: inSnapshot(feed.head.bind(feed)),
    feed: inSnapshot(feed.read.bind(feed)),
    oldFeed: feed.old.bind(feed),
    replay: replays.replay.bind(replays),
    runningReplays: replays.running.bind(replays),
    replays: replays.list.bind(replays),
    missed: replays.missed.bind(replays),
    oldDeliveries: retention.oldDeliveries.bind(retention),
    oldEvents: retention.oldEvents.bind(retention),
    agedBodies: bodies.aged.bind(bodies),
    erasedBodies: bodies.ofErasure.bind(bodies),
    unfinishedErasures: bodies.unfinished.bind(bodies),
    backups: backups.backups.bind(backups),
    erasureOrder: backups.order.bind(backups),
    audit: audit.list.bind(audit),
    sealCounts: sealings.counts.bind(sealings),
    notSealedWith: sealings.notSealedWith.bind(sealings),
    hasSealMark: sealings.isComplete.bind(sealings),
    recordCounts: sealings.recordCounts.bind(sealings),
    /** The last call. */
    close: () => void db.close(),
  };
}

try {
  const db = openConnection(file, 'read');
  const ops = operations(db);
  serve(port, (calls) => {
    const one = (call: Call): Reply => {
      try {
        const operation = ops[call.op as keyof ReaderOps] as (...args: readonly unknown[]) => unknown;
        return { id: call.id, value: operation(...call.args) };
      } catch (error) {
        return { id: call.id, failure: toFailure(error, file) };
      }
    };
    tell(port, { kind: 'replies', replies: calls.map(one), hasOutboxRows: false });
    if (!db.open) port.close();
  });
  tell(port, { kind: 'ready' });
} catch (error) {
  tell(port, { kind: 'refused', message: toFailure(error, file).message });
  port.close();
}
