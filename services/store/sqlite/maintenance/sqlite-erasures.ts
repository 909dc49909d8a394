import { unpurged } from '../../../sqlite/purge.ts';
import { CursorInvalid } from '../../change.ts';
import type { ErasureOrder, ErasureStep, Erasures } from '../../maintenance.ts';
import type { ReaderOps } from '../reader.ts';
import type { ThreadCalls } from '../thread-calls.ts';
import type { WriterOps } from '../writer.ts';
import { copiesOf, noteInCopies } from './known-copies.ts';

/** Rows changed in one transaction: few, so that no commit waits long. */
const REMOVED_AT_ONCE = 200;

/** Walks the events, then the deliveries: the reader finds an entity's, the writer removes their bodies. */
export class SqliteErasures implements Erasures {
  readonly #reader: ThreadCalls<ReaderOps>;
  readonly #writer: ThreadCalls<WriterOps>;
  readonly #watched: <T>(written: Promise<T>) => Promise<T>;

  readonly #file: string;

  constructor(
    file: string,
    reader: ThreadCalls<ReaderOps>,
    writer: ThreadCalls<WriterOps>,
    watched: <T>(written: Promise<T>) => Promise<T>,
  ) {
    this.#file = file;
    this.#reader = reader;
    this.#writer = writer;
    this.#watched = watched;
  }

  order(...args: Parameters<Erasures['order']>): Promise<number> {
    return this.#watched(this.#writer.call('orderErasure', args));
  }

  finish(...args: Parameters<Erasures['finish']>): Promise<void> {
    return this.#watched(this.#writer.call('finishErasure', args));
  }

  async noteInBackups(erasureId: number): Promise<readonly string[]> {
    const erased = await this.#reader.call('erasureOrder', [erasureId]);
    if (erased === undefined) return [];
    return noteInCopies(copiesOf(this.#file, await this.#reader.call('backups', [])), erased);
  }

  async purge(): Promise<readonly string[]> {
    const isWhole = await this.#watched(this.#writer.call('purge', []));
    return isWhole ? [] : [unpurged('store.db')];
  }

  unfinished(): Promise<readonly ErasureOrder[]> {
    return this.#reader.call('unfinishedErasures', []);
  }

  async step(erasureId: number, after = 'event:0'): Promise<ErasureStep> {
    const [, table, from] = /^(event|delivery):(\d{1,15})$/.exec(after) ?? [];
    if (table !== 'event' && table !== 'delivery')
      throw new CursorInvalid('the cursor does not belong to an erasure');
    const found = await this.#reader.call('erasedBodies', [erasureId, table, Number(from)]);
    let removed = 0;
    for (let first = 0; first < found.seqs.length; first += REMOVED_AT_ONCE) {
      const seqs = found.seqs.slice(first, first + REMOVED_AT_ONCE);
      removed += await this.#watched(this.#writer.call('removeBodies', [table, seqs, found.at, null]));
    }
    const counts = { events: 0, deliveries: 0, [table === 'event' ? 'events' : 'deliveries']: removed };
    if (!found.isDone) return { ...counts, next: `${table}:${found.reached}` };
    return { ...counts, next: table === 'event' ? 'delivery:0' : null };
  }
}
