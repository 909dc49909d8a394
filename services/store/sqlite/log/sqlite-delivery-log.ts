import type { JournalBatch, JournalEntries } from '../../../domain/journal.ts';
import { TALLY_MS, tallyOf } from '../../log/tally/tallies.ts';
import type { DeliveryLog } from '../../store.ts';
import type { SqliteFeed } from '../feed/sqlite-feed.ts';
import type { ReaderOps } from '../reader.ts';
import type { ThreadCalls } from '../thread-calls.ts';
import type { WriterOps } from '../writer.ts';
import { encodeBatch } from './posted-batch.ts';

type Answer<Operation extends (...args: never[]) => unknown> = Awaited<ReturnType<Operation>>;

/**
 * The delivery log on the main thread: passes batches on encoded, calls the threads, and wakes callers that wait for an attempt.
 */
export class SqliteDeliveryLog implements DeliveryLog {
  readonly #reader: ThreadCalls<ReaderOps>;
  readonly #writer: ThreadCalls<WriterOps>;
  readonly #feed: SqliteFeed;
  readonly #watched: <T>(written: Promise<T>) => Promise<T>;
  /** Callers that wait for an attempt, by delivery. */
  readonly #waiting = new Map<string, Set<(isTried: boolean) => void>>();
  /** No tally up to this time is left. */
  #talliesGoneTo = Number.NEGATIVE_INFINITY;

  constructor(deps: {
    readonly reader: ThreadCalls<ReaderOps>;
    readonly writer: ThreadCalls<WriterOps>;
    readonly feed: SqliteFeed;
    readonly watched: <T>(written: Promise<T>) => Promise<T>;
  }) {
    this.#reader = deps.reader;
    this.#writer = deps.writer;
    this.#feed = deps.feed;
    this.#watched = deps.watched;
  }

  async applyJournal(batches: readonly JournalBatch[]): Promise<void> {
    const posted = batches.map(encodeBatch);
    const bytes = posted.map(({ entries }) => entries);
    await this.#watched(this.#writer.call('applyJournal', [posted], bytes));
    for (const { entries } of batches) {
      this.#feed.recorded(entries);
      if (this.#waiting.size > 0) this.#wake(entries);
    }
  }

  positionOf(partition: string): Promise<number | undefined> {
    return this.#reader.call('positionOf', [partition]);
  }

  async delivery(...args: Parameters<DeliveryLog['delivery']>): Promise<Answer<DeliveryLog['delivery']>> {
    const seq = await this.#writer.call('findDelivery', [args[2]]);
    return this.#reader.call('delivery', [...args, seq]);
  }

  async event(...args: Parameters<DeliveryLog['event']>): Promise<Answer<DeliveryLog['event']>> {
    const seq = await this.#writer.call('findEvent', args);
    return this.#reader.call('event', [...args, seq]);
  }

  async ownerOf(deliveryId: string): Promise<Answer<DeliveryLog['ownerOf']>> {
    const seq = await this.#writer.call('findDelivery', [deliveryId]);
    return this.#reader.call('ownerOf', [deliveryId, seq]);
  }

  async endpointOf(merchantId: string, deliveryId: string): Promise<string | undefined> {
    const owner = await this.ownerOf(deliveryId);
    return owner?.merchantId === merchantId ? owner.endpointId : undefined;
  }

  async eventsOf(eventId: string): Promise<Answer<DeliveryLog['eventsOf']>> {
    const seqs = await this.#writer.call('findEvents', [eventId]);
    return this.#reader.call('eventsOf', [eventId, seqs]);
  }

  async isRecorded(deliveryId: string): Promise<boolean> {
    const seq = await this.#writer.call('findDelivery', [deliveryId]);
    return seq !== undefined || this.#reader.call('isRecorded', [deliveryId]);
  }

  async waitForAttempt(deliveryId: string, signal: AbortSignal): Promise<boolean> {
    // Listening starts before the read: an attempt recorded between the two is noticed.
    let done = (_isTried: boolean) => {};
    const heard = new Promise<boolean>((resolve) => {
      done = resolve;
    });
    const stop = () => done(false);
    const waiting = this.#waiting.get(deliveryId) ?? new Set();
    this.#waiting.set(deliveryId, waiting.add(done));
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) return false;
      const isTried = async () => {
        const seq = await this.#writer.call('findDelivery', [deliveryId]);
        if (await this.#reader.call('isTried', [deliveryId, seq])) done(true);
      };
      const looked = isTried();
      // A failed read ends the wait; a successful one that found nothing does not.
      return await Promise.race([heard, looked.then(() => heard)]);
    } finally {
      signal.removeEventListener('abort', stop);
      waiting.delete(done);
      if (waiting.size === 0 && this.#waiting.get(deliveryId) === waiting) this.#waiting.delete(deliveryId);
    }
  }

  async retain(before: number, limit: number): Promise<number> {
    const olderThan = Math.floor(before);
    let deleted = 0;
    // Deliveries first: while one is left, its event must be kept.
    for (let isDone = false; !isDone && deleted < limit; ) {
      const old = await this.#reader.call('oldDeliveries', [olderThan, limit - deleted]);
      if (old.seqs.length > 0) deleted += await this.#delete('deleteDeliveries', old.seqs, olderThan);
      isDone = old.isDone;
    }
    for (let isDone = deleted >= limit; !isDone && deleted < limit; ) {
      const old = await this.#reader.call('oldEvents', [olderThan, limit - deleted]);
      if (old.seqs.length > 0) deleted += await this.#delete('deleteEvents', old.seqs, olderThan);
      isDone = old.isDone;
    }
    deleted += await this.#retainTallies(olderThan, limit - deleted);
    if (deleted === 0) await this.#watched(this.#writer.call('forgetErasures', [olderThan]));
    return deleted;
  }

  /** Deletes tallies whose hour ended by then. Every hour there are others. */
  async #retainTallies(before: number, limit: number): Promise<number> {
    const last = tallyOf(before) - TALLY_MS;
    if (this.#talliesGoneTo >= last || limit <= 0) return 0;
    await this.#watched(this.#writer.call('mergeTallies', []));
    let deleted = 0;
    while (this.#talliesGoneTo < last && deleted < limit) {
      const { seqs, isDone } = await this.#reader.call('oldTallies', [last, limit - deleted]);
      deleted += await this.#watched(this.#writer.call('deleteTallies', [seqs, last, limit - deleted]));
      if (isDone) this.#talliesGoneTo = last;
    }
    return deleted;
  }

  async removeBodies(before: number, limit: number): Promise<number> {
    const olderThan = Math.floor(before);
    let walked = 0;
    // Events first: an attempt recorded from then on is stored without its body.
    for (const table of ['event', 'delivery'] as const) {
      if (walked >= limit) break;
      const { seqs, reached } = await this.#reader.call('agedBodies', [table, olderThan, limit - walked]);
      if (seqs.length === 0) continue;
      await this.#watched(this.#writer.call('removeBodies', [table, seqs, olderThan, reached]));
      walked += seqs.length;
    }
    return walked;
  }

  /** Ends all waits. */
  close(): void {
    for (const waiting of this.#waiting.values()) for (const done of waiting) done(false);
  }

  #delete(op: 'deleteDeliveries' | 'deleteEvents', seqs: readonly number[], before: number): Promise<number> {
    return this.#watched(this.#writer.call(op, [seqs, before]));
  }

  #wake(entries: JournalEntries): void {
    for (const entry of entries) {
      if (entry.kind !== 'attempted' && entry.kind !== 'cancelled') continue;
      const waiting = this.#waiting.get(entry.delivery.deliveryId);
      if (waiting) for (const done of waiting) done(true);
    }
  }
}
