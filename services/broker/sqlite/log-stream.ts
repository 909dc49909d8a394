import type { RecordDecoder } from '../../codec/record-codec.ts';
import type { CommitHalf } from './commit-half.ts';
import type { EngineThread } from './file/engine-thread.ts';
import { STREAMS, type StoredRow } from './file/wire.ts';
import { LogRow } from './log-row.ts';
import { type FileFeed, FileItem } from './work.ts';

/** Limits of the records read ahead, per stream: at most this many records and about this many bytes. */
const RECORDS_MAX = 4096;
const BYTES_MAX = 4 * 1024 * 1024;
const READ_BYTES = 512 * 1024;

/**
 * One append-only stream: hands records over in order, from memory as long as there is room (committed records are not
 * read back), otherwise from the file.
 */
export class LogStream<T> implements FileFeed<T> {
  readonly stream: number;
  readonly #thread: EngineThread;
  readonly #decoderOf: (schema: number) => RecordDecoder<T>;
  readonly #failed: (error: Error) => void;
  #rows: LogRow<T>[] = [];
  #head = 0;
  #records = 0;
  #bytes = 0;
  /** The file has rows from here on that are not in memory. */
  #readFrom: number | null;
  #reading = false;
  /** Records that are not done. */
  pending: number;
  onAvailable: () => void = () => {};

  constructor(options: {
    readonly stream: number;
    readonly thread: EngineThread;
    readonly decoderOf: (schema: number) => RecordDecoder<T>;
    readonly pending: number;
    /** Where reading starts, or −1 when the file is empty. */
    readonly oldest: number;
    readonly failed: (error: Error) => void;
  }) {
    this.stream = options.stream;
    this.#thread = options.thread;
    this.#decoderOf = options.decoderOf;
    this.#failed = options.failed;
    this.pending = options.pending;
    this.#readFrom = options.oldest < 0 ? null : options.oldest;
    this.#readAhead();
  }

  /**
   * Adds a batch row that was committed; call `onAvailable` after all rows of the commit. `known`: records that are done
   * from the start.
   */
  committed(first: number, at: number, bytes: number, records: T[], known: readonly number[]): void {
    this.pending += records.length - known.length;
    const room = this.#records < RECORDS_MAX && this.#bytes < BYTES_MAX;
    if (this.#readFrom !== null || !room) {
      this.#readFrom ??= first;
      return;
    }
    const row = new LogRow<T>(this.stream, first, records.length, at, bytes).withRecords(records);
    for (const index of known) row.markDone(index);
    this.#push(row);
  }

  /** Records in memory that wait to be handed over. */
  get ahead(): number {
    return this.#records;
  }

  take(): FileItem<T> | undefined {
    for (let row = this.#headRow(); row; row = this.#headRow()) {
      const index = row.cursor;
      const skipped = row.isDone(index);
      const record = this.#nextOf(row);
      if (record !== undefined && !skipped) return new FileItem(record, row as LogRow<unknown>, index, this);
    }
    return undefined;
  }

  complete(item: FileItem<T>, half: CommitHalf): void {
    const { row } = item;
    if (!row) return;
    row.markDone(item.index);
    half.rowDone(row);
  }

  completed(): void {
    this.pending -= 1;
  }

  /** When the oldest record that is not handed over was committed; undefined = there is none. */
  get oldestAt(): number | undefined {
    return this.#headRow()?.at;
  }

  /**
   * Returns consecutive records for a reader that keeps its own position: none before `from`, at most `max`. `skipped`:
   * the last position before `from` that was read, −1 = none.
   */
  takeRun(
    from: number,
    max: number,
  ): { readonly first: number; readonly records: T[]; readonly skipped: number } {
    const records: T[] = [];
    let first = -1;
    let skipped = -1;
    for (let row = this.#headRow(); row && records.length < max; row = this.#headRow()) {
      const position = row.first + row.cursor;
      if (first >= 0 && position !== first + records.length) break;
      const record = this.#nextOf(row);
      if (record === undefined) break;
      if (position < from) {
        this.pending -= 1;
        skipped = position;
        continue;
      }
      if (first < 0) first = position;
      records.push(record);
    }
    return { first, records, skipped };
  }

  #headRow(): LogRow<T> | undefined {
    return this.#rows[this.#head];
  }

  /** Returns undefined for a record that cannot be decoded: then the file is damaged, and the engine ends. */
  #nextOf(row: LogRow<T>): T | undefined {
    let record: T | undefined;
    try {
      record = row.next();
    } catch (error) {
      row.skipRest();
      this.#failed(
        new Error(`batch row ${row.first} of stream ${STREAMS[this.stream]} is damaged: ${error}`),
      );
    }
    this.#records -= 1;
    if (row.exhausted) {
      this.#bytes -= row.bytes;
      this.#head += 1;
      // Compacts the list now and then instead of at every row.
      if (this.#head >= 64 || this.#head === this.#rows.length) {
        this.#rows.splice(0, this.#head);
        this.#head = 0;
      }
      this.#readAhead();
    }
    return record;
  }

  #push(row: LogRow<T>): void {
    this.#rows.push(row);
    this.#records += row.count;
    this.#bytes += row.bytes;
  }

  #readAhead(): void {
    if (this.#readFrom === null || this.#reading) return;
    if (this.#records > RECORDS_MAX / 2 || this.#bytes > BYTES_MAX / 2) return;
    this.#reading = true;
    const request = {
      kind: 'readRows',
      stream: this.stream,
      from: this.#readFrom,
      bytesMax: READ_BYTES,
    } as const;
    // Replies come in the order of the commits: rows committed after the read are not in it, and arrive separately.
    this.#thread.send(request, [], (reply) => {
      this.#reading = false;
      if (reply.kind === 'rows') this.#loaded(reply.rows, reply.more);
      else if (reply.kind === 'unreadable') this.#failed(new Error(reply.message));
    });
  }

  #loaded(rows: readonly StoredRow[], more: boolean): void {
    for (const { first, count, at, schema, blob, done } of rows) {
      this.#readFrom = first + count;
      const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
      const row = new LogRow<T>(this.stream, first, count, at, bytes.length);
      this.#push(row.withBytes(bytes, this.#decoderOf(schema), done));
    }
    if (!more) this.#readFrom = null;
    this.#readAhead();
    this.onAvailable();
  }
}
