import type { HealthPolicy } from '../../domain/health.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { spawnWorker } from '../../runtime/worker-thread.ts';
import type { Audit, Erasures, Sealings } from '../keeping.ts';
import type { ApiKeys, Endpoints, Merchants, Outbox, Store, StoredAnswers } from '../store.ts';
import type { ReaderData, ReaderOps } from './reader.ts';
import { SqliteDeliveryLog } from './sqlite-delivery-log.ts';
import { SqliteErasures } from './sqlite-erasures.ts';
import { ThreadCalls } from './thread-calls.ts';
import type { WriterData, WriterOps } from './writer.ts';

/** Uses of API keys are noted together, this long after the first. */
const TOUCH_AFTER_MS = 1000;

export interface SqliteStoreOptions {
  /** The database's path; `<file>-wal`, `<file>-shm` and `<file>.lock` lie beside it. */
  readonly file: string;
  readonly clock: Clock;
  readonly healthPolicy: HealthPolicy;
  readonly log?: Logger;
  /** The file grows no further than this, in pages of 8 KiB. */
  readonly pagesMax?: number;
}

/**
 * Opens the embedded store. The calling thread never touches the file: one thread writes, another reads.
 * Rejects with one line naming the file when another process has it, it is damaged, or a newer build wrote
 * it.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, clock, healthPolicy, log, pagesMax = 0 } = options;
  const writerData: WriterData = { file, healthPolicy, pagesMax };
  const writer = await ThreadCalls.start<WriterOps>(
    spawnWorker(new URL('./writer.ts', import.meta.url), writerData),
  );
  const readerData: ReaderData = { file };
  try {
    const reader = await ThreadCalls.start<ReaderOps>(
      spawnWorker(new URL('./reader.ts', import.meta.url), readerData),
    );
    return new SqliteStore(writer.calls, reader.calls, Number(writer.ready), clock, log);
  } catch (error) {
    await writer.calls.close('close');
    throw error;
  }
}

class SqliteStore implements Store {
  readonly merchants: Merchants;
  readonly keys: ApiKeys;
  readonly endpoints: Endpoints;
  readonly answers: StoredAnswers;
  readonly outbox: Outbox;
  readonly log: SqliteDeliveryLog;
  readonly audit: Audit;
  readonly sealings: Sealings;
  readonly erasures: Erasures;
  readonly failed: Promise<Error>;
  readonly #writer: ThreadCalls<WriterOps>;
  readonly #reader: ThreadCalls<ReaderOps>;
  readonly #clock: Clock;
  /** The last write worked. */
  #isWritable = true;
  #isProbing = false;
  #isFailed = false;
  #closing: Promise<void> | null = null;
  readonly #used = new Map<string, number>();
  #cancelTouch: (() => void) | null = null;

  constructor(
    writer: ThreadCalls<WriterOps>,
    reader: ThreadCalls<ReaderOps>,
    publishedUpTo: number,
    clock: Clock,
    log: Logger | undefined,
  ) {
    this.#writer = writer;
    this.#reader = reader;
    this.#clock = clock;
    this.merchants = this.#makeMerchants();
    this.keys = this.#makeKeys();
    this.endpoints = this.#makeEndpoints();
    this.answers = { find: (scope, now) => reader.call('answer', [scope, now]) };
    this.outbox = this.#makeOutbox(publishedUpTo);
    this.log = new SqliteDeliveryLog(reader, writer, (written) => this.#watched(written));
    this.audit = { list: (options) => reader.call('audit', [options]) };
    this.sealings = {
      counts: (now) => reader.call('sealCounts', [now]),
      notSealedWith: (keyId, options) => reader.call('notSealedWith', [keyId, options]),
      replace: (things, options) => this.#watched(writer.call('reseal', [things, options])),
    };
    this.erasures = new SqliteErasures(reader, writer, (written) => this.#watched(written));
    this.failed = new Promise((resolve) => {
      const fail = (error: Error | null) => {
        if (this.#closing && error === null) return;
        this.#isFailed = true;
        const reason = error ?? new Error('a thread of the store ended by itself');
        log?.error({ event: 'store_failed', reason: reason.message });
        resolve(reason);
      };
      writer.onBroken = fail;
      void writer.exited.then(fail);
      void reader.exited.then(fail);
    });
  }

  status(): { readonly reachable: boolean } {
    if (!this.#isWritable && !this.#isProbing && !this.#isFailed) this.#probe();
    return { reachable: this.#isWritable && !this.#isFailed };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#cancelTouch?.();
    await this.#writeUsed();
    this.log.close();
    await this.#reader.close('close');
    await this.#writer.close('close');
  }

  /** Remembers whether writing works, for status(). */
  async #watched<T>(written: Promise<T>): Promise<T> {
    try {
      const value = await written;
      this.#isWritable = true;
      return value;
    } catch (error) {
      if (error instanceof Error && error.name === 'StoreUnavailable') this.#isWritable = false;
      throw error;
    }
  }

  /** Writing failed: only another write can tell when it works again, and perhaps nobody asks for one. */
  #probe(): void {
    this.#isProbing = true;
    this.#watched(this.#writer.call('probe', []))
      .catch(() => {})
      .finally(() => {
        this.#isProbing = false;
      });
  }

  #makeMerchants(): Merchants {
    const now = () => this.#clock.now();
    return {
      create: (merchant) => this.#watched(this.#writer.call('createMerchant', [merchant, now()])),
      get: (merchantId) => this.#reader.call('merchant', [merchantId]),
      list: () => this.#reader.call('merchants', []),
      update: (merchantId, change) =>
        this.#watched(this.#writer.call('updateMerchant', [merchantId, change, now()])),
    };
  }

  #makeKeys(): ApiKeys {
    return {
      create: (key) => this.#watched(this.#writer.call('createKey', [key, this.#clock.now()])),
      findByHash: (hash) => this.#reader.call('keyByHash', [hash]),
      list: () => this.#reader.call('keys', []),
      revoke: (keyId, at) => this.#watched(this.#writer.call('revokeKey', [keyId, at])),
      touch: (keyId, at) => {
        this.#used.set(keyId, at);
        this.#cancelTouch ??= this.#clock.at(
          this.#clock.now() + TOUCH_AFTER_MS,
          () => void this.#writeUsed(),
        );
      },
    };
  }

  async #writeUsed(): Promise<void> {
    this.#cancelTouch = null;
    if (this.#used.size === 0) return;
    const used = new Map(this.#used);
    this.#used.clear();
    // Best effort: when a key was last used is worth no failed request.
    await this.#watched(this.#writer.call('touchKeys', [used])).catch(() => {});
  }

  #makeEndpoints(): Endpoints {
    const writer = this.#writer;
    return {
      create: (endpoint, options) => this.#watched(writer.call('createEndpoint', [endpoint, options])),
      get: (merchantId, uuid) => this.#reader.call('endpoint', [merchantId, uuid]),
      list: (merchantId, options) => this.#reader.call('endpoints', [merchantId, options]),
      update: (merchantId, uuid, change, options) =>
        this.#watched(writer.call('updateEndpoint', [merchantId, uuid, change, options])),
      rotate: (merchantId, uuid, secret, options) =>
        this.#watched(writer.call('rotateEndpoint', [merchantId, uuid, secret, options])),
      remove: (merchantId, uuid, options) =>
        this.#watched(writer.call('removeEndpoint', [merchantId, uuid, options])),
    };
  }

  #makeOutbox(publishedAtStart: number): Outbox {
    let publishedUpTo = publishedAtStart;
    const listeners: (() => void)[] = [];
    this.#writer.onOutboxRows = () => {
      for (const listener of listeners) listener();
    };
    return {
      pending: (limit) => this.#reader.call('outbox', [limit]),
      published: async (upTo) => {
        const reached = await this.#watched(this.#writer.call('published', [upTo]));
        publishedUpTo = Math.max(publishedUpTo, reached);
      },
      onAdded: (listener) => void listeners.push(listener),
      publishedUpTo: () => publishedUpTo,
    };
  }
}
