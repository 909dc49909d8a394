/** The thread that owns the data file. It replies to every request, in order; commits and reads never overlap. */

import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { messageOf } from '../../../messages/error-message.ts';
import { isDamage } from '../../../sqlite/database.ts';
import { type ExclusiveLock, lockExclusively } from '../../../sqlite/exclusive-lock.ts';
import { purge } from '../../../sqlite/purge.ts';
import { Committer } from './commit.ts';
import { Reader } from './reads.ts';
import { RecentCommits } from './recent-commits.ts';
import { instanceOf, moveDueTimes, openBrokerFile, writerSchemas } from './schema.ts';
import type { EngineThreadData, Reply, Request } from './wire.ts';

/** After about this many bytes written, the WAL is copied into the file: few enough to delay a commit only shortly. */
const CHECKPOINT_BYTES = 32 * 1024 * 1024;

const port = parentPort;
if (!port) throw new Error('services/broker/sqlite/file/worker.ts runs as a worker thread');
const { file, instance, schemas } = workerData as EngineThreadData;

interface OpenFile {
  readonly lock: ExclusiveLock;
  readonly db: Database.Database;
  readonly committer: Committer;
  readonly reader: Reader;
}

function open(): OpenFile | null {
  let lock: ExclusiveLock | undefined;
  let db: Database.Database | undefined;
  try {
    lock = lockExclusively(file);
    db = openBrokerFile(file);
    moveDueTimes(db);
    const { ids, all } = writerSchemas(db, schemas);
    const recent = new RecentCommits(db);
    const reader = new Reader(db, recent);
    const committer = new Committer(db, ids, recent);
    const { sequence } = committer;
    const engine = { lock, db, committer, reader };
    send({
      ...{ kind: 'opened', instance: instanceOf(db, instance), ...reader.waiting() },
      ...{ sequence, schemas: all },
    });
    return engine;
  } catch (error) {
    db?.close();
    lock?.release();
    send({ kind: 'refused', message: messageOf(error) });
    return null;
  }
}

function send(reply: Reply, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(reply, transfer);
}

function commit(engine: OpenFile, request: Extract<Request, { kind: 'commit' }>): void {
  try {
    const committed = engine.committer.commit(request);
    const spare = [request.settlements, request.publications];
    send({ ...committed, spare }, spare);
  } catch (error) {
    const code = error instanceof Database.SqliteError ? error.code : 'ERROR';
    const message = messageOf(error);
    const { settlements } = request;
    send({ kind: 'failed', code, message, passing: mayPass(code), settlements }, [settlements]);
    return;
  }
  if (engine.committer.bytesInWal < CHECKPOINT_BYTES) return;
  engine.committer.bytesInWal = 0;
  try {
    // The reply is sent; the main thread gathers the next commit meanwhile.
    engine.db.pragma('wal_checkpoint(PASSIVE)');
  } catch {
    // The commits are safe in the WAL. A disk fault will show at the next commit.
  }
}

/**
 * Returns whether the same commit may succeed later. Not after a failed fsync: the system may have dropped the pages
 * and report success next time; only a new process reads what is really on the disk.
 */
function mayPass(code: string): boolean {
  if (code === 'SQLITE_IOERR_FSYNC' || code === 'SQLITE_IOERR_DIR_FSYNC') return false;
  return ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_BUSY'].some((passing) => code.startsWith(passing));
}

function read(engine: OpenFile, request: Exclude<Request, { kind: 'commit' | 'close' }>): Reply {
  const { reader } = engine;
  try {
    switch (request.kind) {
      case 'readRows':
        return reader.rows(request);
      case 'readDelayed':
        return reader.delayed(request);
      case 'readDelayedIds':
        return reader.delayedIds(request);
      case 'readDirectory':
        return reader.directory(request);
      case 'readRecordStore':
        return reader.recordStore(request);
      case 'readQuarantined':
        return reader.quarantined(request);
      case 'findQuarantined':
        return reader.findQuarantined(request);
      case 'knownEvents':
        return { kind: 'known', repeats: engine.committer.known(request) };
      case 'purge': {
        engine.committer.clearRecent();
        const isWhole = purge(engine.db, request.bytesMax);
        engine.committer.bytesInWal = 0;
        return { kind: 'purged', isWhole };
      }
      case 'forgetEvents':
        return reader.forgetEvents(request);
    }
  } catch (error) {
    const code = error instanceof Database.SqliteError ? error.code : 'ERROR';
    return { kind: 'unreadable', message: `${code}: ${error}`, fatal: isDamage(error) };
  }
}

const engine = open();
if (engine) {
  port.on('message', (request: Request) => {
    if (request.kind === 'commit') commit(engine, request);
    else if (request.kind === 'close') {
      engine.db.close();
      engine.lock.release();
      send({ kind: 'closed' });
      port.close();
    } else send(read(engine, request));
  });
}
