import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { HealthPolicy } from '../../domain/health.ts';
import type { KeyRing } from '../../keys/keyring.ts';
import type { Clock } from '../../process/clock.ts';
import { Listeners } from '../../process/listeners.ts';
import { spawnWorker } from '../../process/worker-thread.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { EventFeed } from '../event-feed.ts';
import type { Limits } from '../limits.ts';
import type { Audit, Erasures, Sealings } from '../maintenance.ts';
import type { Metrics } from '../metrics.ts';
import type { Notices } from '../notices.ts';
import type { Outbox } from '../outbox.ts';
import type { PortalSessions } from '../portal-sessions.ts';
import type { Replays } from '../replays.ts';
import { bind } from '../rules/bind.ts';
import { READS, type Reads } from '../rules/reads.ts';
import { WRITES, type Writes } from '../rules/writes.ts';
import type { StoreStatus } from '../status.ts';
import type { ApiKeys, Endpoints, MerchantLists, Merchants, Store, StoredAnswers } from '../store.ts';
import { UsedKeys } from '../used-keys.ts';
import { SqliteFeed } from './feed/sqlite-feed.ts';
import { SqliteLists } from './lists/sqlite-lists.ts';
import { SqliteMetrics } from './lists/sqlite-metrics.ts';
import { SqliteDeliveryLog } from './log/sqlite-delivery-log.ts';
import { backupSqliteStore } from './maintenance/backup.ts';
import { noteBackup } from './maintenance/backup-manifest.ts';
import { sqliteErasures } from './maintenance/sqlite-erasures.ts';
import { KnownKeys } from './management/known-keys.ts';
import { RequestWindows } from './management/request-windows.ts';
import type { ReaderData, ReaderOps } from './reader.ts';
import { SoleProcess } from './sole-process.ts';
import { ThreadCalls } from './thread-calls.ts';
import type { WriterData, WriterOps } from './writer.ts';

export interface SqliteStoreOptions {
  /** The database's path; `<file>-wal`, `<file>-shm` and `<file>.lock` are beside it. */
  readonly file: string;
  readonly clock: Clock;
  readonly healthPolicy: HealthPolicy;
  readonly log?: Logger;
  /** The file grows no further than this, in pages of 4 KiB. */
  readonly pagesMax?: number;
  /** Seals records. Null or absent: changes of merchants and endpoints are refused. */
  readonly keyRing?: Pick<KeyRing, 'file'> | null;
}

/**
 * Opens the embedded store. The calling thread never touches the file: one thread writes, another reads.
 * Rejects with one line naming the file when another process has it, it is damaged, or a newer build wrote
 * it.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, healthPolicy, pagesMax = 0, keyRing } = options;
  const writerData: WriterData = { file, healthPolicy, pagesMax, keyRingFile: keyRing?.file ?? null };
  const writer = await ThreadCalls.start<WriterOps>(
    spawnWorker(new URL('./writer.ts', import.meta.url), writerData),
  );
  const readerData: ReaderData = { file };
  try {
    const reader = await ThreadCalls.start<ReaderOps>(
      spawnWorker(new URL('./reader.ts', import.meta.url), readerData),
    );
    return new SqliteStore({ ...options, writer, reader });
  } catch (error) {
    await writer.close('close');
    throw error;
  }
}

interface Threads {
  readonly writer: ThreadCalls<WriterOps>;
  readonly reader: ThreadCalls<ReaderOps>;
}

class SqliteStore implements Store {
  readonly backup: Store['backup'];
  readonly merchants: Merchants;
  readonly keys: ApiKeys;
  readonly endpoints: Endpoints;
  readonly answers: StoredAnswers;
  readonly limits: Limits;
  readonly leases = new SoleProcess();
  readonly outbox: Outbox;
  readonly log: SqliteDeliveryLog;
  readonly lists: MerchantLists;
  readonly metrics: Metrics;
  readonly feed: SqliteFeed;
  readonly eventFeed: EventFeed;
  readonly replays: Replays;
  readonly notices: Notices;
  readonly portalSessions: PortalSessions;
  readonly audit: Audit;
  readonly sealings: Sealings;
  readonly erasures: Erasures;
  readonly failed: Promise<Error>;
  readonly #writer: ThreadCalls<WriterOps>;
  readonly #reader: ThreadCalls<ReaderOps>;
  readonly #clock: Clock;
  readonly #log: Logger | undefined;
  readonly #file: string;
  /** Whether the last write succeeded. */
  #isWritable = true;
  #isProbing = false;
  #isFailed = false;
  #closing: Promise<void> | null = null;
  readonly #used: UsedKeys;
  readonly #reads: Reads;
  readonly #writes: Writes;

  constructor({ writer, reader, clock, log, file }: SqliteStoreOptions & Threads) {
    this.backup = (to) => this.#backUp(to);
    this.#writer = writer;
    this.#reader = reader;
    this.#clock = clock;
    this.#log = log;
    this.#file = file;
    this.#reads = bind(READS, (name, _, args) =>
      reader.call(name as keyof ReaderOps & string, args as never),
    );
    this.#writes = bind(WRITES, (name, _, args) =>
      this.#watched(writer.call(name as keyof WriterOps & string, [clock.wall(), ...args] as never)),
    );
    this.#used = new UsedKeys(clock, (used) => this.#watched(writer.call('touchKeys', [used])));
    const known = new KnownKeys(this.#reads.keys.findByHash);
    const { merchants } = this.#writes;
    const close: Merchants['close'] = (...args) => known.change(merchants.close(...args));
    this.merchants = { ...this.#reads.merchants, ...merchants, close };
    this.keys = this.#makeKeys(known);
    this.endpoints = { ...this.#reads.endpoints, ...this.#writes.endpoints };
    this.answers = this.#writes.answers;
    this.limits = new RequestWindows(clock);
    this.replays = this.#makeReplays();
    this.feed = new SqliteFeed(reader, writer);
    this.eventFeed = { read: (...args) => reader.call('eventFeed', args) };
    this.outbox = this.#makeOutbox();
    this.lists = new SqliteLists(reader);
    this.metrics = new SqliteMetrics(reader);
    const { feed } = this;
    this.log = new SqliteDeliveryLog({
      ...{ reader, writer, feed },
      watched: (written) => this.#watched(written),
    });
    this.notices = { ...this.#reads.notices, ...this.#writes.notices };
    this.portalSessions = { ...this.#reads.portalSessions, ...this.#writes.portalSessions };
    this.audit = { ...this.#reads.audit, ...this.#writes.audit };
    this.sealings = { ...this.#reads.sealings, ...this.#writes.sealings };
    const watched = <T>(written: Promise<T>) => this.#watched(written);
    this.erasures = {
      ...this.#reads.erasures,
      ...this.#writes.erasures,
      ...sqliteErasures({ file, reader, writer, watched }),
    };
    this.failed = new Promise((resolve) => {
      const fail = (error: Error | null) => {
        if (this.#closing && error === null) return;
        this.#isFailed = true;
        const reason = error ?? new Error('a store thread ended unexpectedly');
        log?.error({ event: 'store_failed', reason: reason.message });
        resolve(reason);
      };
      writer.onBroken = fail;
      void writer.exited.then(fail);
      void reader.exited.then(fail);
    });
  }

  status(): StoreStatus {
    if (!this.#isWritable && !this.#isProbing && !this.#isFailed) this.#probe();
    const reachable = this.#isWritable && !this.#isFailed;
    return { reachable, connections: null, leases: this.leases.names };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#used.flush();
    this.log.close();
    await this.#reader.close('close');
    await this.#writer.close('close');
  }

  /** The store remembers the copy before it is made: one that it does not know would keep what is erased later. */
  async #backUp(to: string): Promise<{ readonly bytes: number }> {
    const takenAt = this.#clock.wall();
    if (!existsSync(to)) await this.#watched(this.#writer.call('addBackup', [resolve(to), takenAt]));
    const { bytes } = await backupSqliteStore(this.#file, to);
    noteBackup(to, { takenAt, bytes });
    return { bytes };
  }

  /** Remembers whether writing works, for status(). */
  async #watched<T>(written: Promise<T>): Promise<T> {
    try {
      const value = await written;
      this.#noteWritable(null);
      return value;
    } catch (error) {
      if (error instanceof Error && error.name === 'StoreUnavailable') this.#noteWritable(error.message);
      throw error;
    }
  }

  /** Logs one line when writing stops working (`reason`), and one when it works again (null). */
  #noteWritable(reason: string | null): void {
    const isWritable = reason === null;
    if (isWritable === this.#isWritable) return;
    this.#isWritable = isWritable;
    const file = this.#file;
    if (isWritable) this.#log?.warn({ event: 'store_writable', file }, `${file} can be written again`);
    else {
      const what = `${file} cannot be written: free space on its disk, or repair it`;
      this.#log?.error({ event: 'store_not_writable', file, reason }, what);
    }
  }

  /** Writing failed: tests by another write whether it works again, because no request may come. */
  #probe(): void {
    this.#isProbing = true;
    this.#watched(this.#writer.call('probe', []))
      .catch(() => {})
      .finally(() => {
        this.#isProbing = false;
      });
  }

  #makeKeys(known: KnownKeys): ApiKeys {
    const reads = this.#reads.keys;
    const { revoke, setRights, ...writes } = this.#writes.keys;
    return {
      ...reads,
      ...writes,
      findByHash: (hash) => known.find(hash),
      revoke: (...args) => known.change(revoke(...args)),
      setRights: (...args) => known.change(setRights(...args)),
      touch: (keyId, at) => this.#used.add(keyId, at),
    };
  }

  #makeReplays(): Replays {
    const listeners = new Listeners();
    return {
      ...this.#reads.replays,
      ...this.#writes.replays,
      create: async (...args) => {
        const created = await this.#writes.replays.create(...args);
        if (created.kind === 'ok') listeners.call();
        return created;
      },
      missed: (scope, place, limit) => this.#reader.call('missed', [scope, place, limit]),
      onAdded: (listener) => listeners.add(listener),
    };
  }

  #makeOutbox(): Outbox {
    const listeners = new Listeners();
    this.#writer.onOutboxRows = () => {
      listeners.call();
      this.feed.changed();
    };
    return {
      ...this.#reads.outbox,
      ...this.#writes.outbox,
      onAdded: (listener) => listeners.add(listener),
      timeline: async () => null,
      reconciled: async () => {},
    };
  }
}
