import { workerData } from 'node:worker_threads';
import type { Replays } from '../replays.ts';
import { byName } from '../rules/bind.ts';
import { missedPage } from '../rules/reads/missed-page.ts';
import { READS } from '../rules/reads.ts';
import type { Statements } from '../sql/statements.ts';
import { openConnection } from './connection.ts';
import { EventFeedReads } from './feed/event-feed-reads.ts';
import { FeedReads } from './feed/feed-reads.ts';
import { ListReads } from './lists/list-reads.ts';
import { MetricReads } from './lists/metric-reads.ts';
import { BodyReads } from './log/body-reads.ts';
import { LogReads } from './log/log-reads.ts';
import { BackupReads } from './maintenance/backup-rows.ts';
import { RetentionReads } from './maintenance/retention-reads.ts';
import { replayReads } from './replays/missed-reads.ts';
import { statementsOf } from './statements.ts';
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

/** Returns the reads that every store has, on this connection. */
function rulesOn(statements: Statements): object {
  const bound = [...byName(READS)].map(([name, rule]) => [
    name,
    (...args: readonly unknown[]) => rule(statements as never, ...(args as never[])),
  ]);
  return Object.fromEntries(bound);
}

function operations(db: ReturnType<typeof openConnection>) {
  const log = new LogReads(db);
  const lists = new ListReads(db);
  const metrics = new MetricReads(db);
  const feed = new FeedReads(db);
  const eventFeed = new EventFeedReads(db, feed);
  const retention = new RetentionReads(db);
  const statements = statementsOf(db);
  const bodies = new BodyReads(db);
  const backups = new BackupReads(db);
  /** Returns an operation that sees one state of the file in all its statements. */
  const inSnapshot = <Operation extends (...args: never[]) => unknown>(operation: Operation) =>
    db.transaction(operation as never) as unknown as Operation;
  return {
    ...rulesOn(statements),
    positionOf: log.positionOf.bind(log),
    delivery: log.delivery.bind(log),
    event: log.event.bind(log),
    ownerOf: log.ownerOf.bind(log),
    eventsOf: log.eventsOf.bind(log),
    isRecorded: log.isRecorded.bind(log),
    isTried: log.isTried.bind(log),
    examineDeliveries: inSnapshot(lists.deliveries.bind(lists)),
    examineEvents: inSnapshot(lists.events.bind(lists)),
    metricEndpoints: metrics.endpoints.bind(metrics),
    metricCounts: inSnapshot(metrics.counts.bind(metrics)),
    feedHead: inSnapshot(feed.head.bind(feed)),
    feed: inSnapshot(feed.read.bind(feed)),
    eventFeed: inSnapshot(eventFeed.read.bind(eventFeed)),
    oldFeed: feed.old.bind(feed),
    missed: (...args: Parameters<Replays['missed']>) => missedPage(statements, replayReads, ...args),
    oldDeliveries: retention.oldDeliveries.bind(retention),
    oldEvents: retention.oldEvents.bind(retention),
    oldTallies: retention.oldTallies.bind(retention),
    agedBodies: bodies.aged.bind(bodies),
    erasedBodies: bodies.ofErasure.bind(bodies),
    backups: backups.backups.bind(backups),
    erasureOrder: backups.order.bind(backups),
    /** The last call. */
    close: () => void db.close(),
  };
}

try {
  const db = openConnection(file, 'read');
  const ops = operations(db);
  serve(port, async (calls) => {
    const one = async (call: Call): Promise<Reply> => {
      try {
        const operation = ops[call.op as keyof ReaderOps] as (...args: readonly unknown[]) => unknown;
        return { id: call.id, value: await operation(...call.args) };
      } catch (error) {
        return { id: call.id, failure: toFailure(error, file) };
      }
    };
    const replies: Reply[] = [];
    for (const call of calls) replies.push(await one(call));
    tell(port, { kind: 'replies', replies, hasOutboxRows: false });
    if (!db.open) port.close();
  });
  tell(port, { kind: 'ready' });
} catch (error) {
  tell(port, { kind: 'refused', message: toFailure(error, file).message });
  port.close();
}
