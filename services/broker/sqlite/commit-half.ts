import { ByteWriter } from '../../codec/byte-writer.ts';
import type { RecordCodec } from '../../codec/record-codec.ts';
import {
  bytesAfterContent,
  deadLetterCodec,
  directoryCodec,
  eventTextCodec,
  quarantinedCodec,
  taskCodec,
} from '../../codec/records.ts';
import { type DirectoryChange, directoryKey } from '../../domain/directory.ts';
import type { DomainEvent, EventAsText } from '../../domain/event.ts';
import type { DeadLetter } from '../../domain/journal.ts';
import type { Quarantined } from '../../domain/quarantine.ts';
import { type DeliveryTask, taskClass } from '../../domain/task.ts';
import { CODECS } from './file/engine-thread.ts';
import { sealHalf } from './file/half-form.ts';
import { EVENTS, JOURNAL, kindOf, OPERATION, STREAMS, streamOf } from './file/wire.ts';
import type { LogRow } from './log-row.ts';

/**
 * A batch row is closed at this size: every copy of it, in SQLite and between the threads, then fits in memory that is
 * already allocated and need not be cleared by the system.
 */
const ROW_BYTES_MAX = 64 * 1024;

/** Of a buffer that is sent to the thread. */
const SEALED_BYTES_MIN = 16 * 1024;

const EMPTY = Buffer.alloc(0);

/** Buffers larger than this are not kept. */
const SPARE_BYTES_MAX = 4 * 1024 * 1024;

/** A batch row sent to the file, with its records, to be handed over without being read back. */
export interface WrittenRow {
  readonly stream: number;
  readonly offset: number;
  length: number;
  readonly checked: boolean;
  /** Of the journal, whose entries are passed on as they were encoded: the bytes of each. */
  readonly records: unknown[];
}

export interface WrittenDelayed {
  readonly stream: number;
  readonly due: number;
  readonly task: DeliveryTask;
  readonly bytes: number;
}

/** Buffers to be reused. */
export class SpareBuffers {
  readonly #spare: ArrayBuffer[] = [];

  take(): ArrayBuffer | undefined {
    return this.#spare.pop();
  }

  /** Returns a buffer of at least so many bytes. */
  takeOf(bytes: number): ArrayBuffer {
    const found = this.#spare.findIndex(({ byteLength }) => byteLength >= bytes);
    const [spare] = found < 0 ? [] : this.#spare.splice(found, 1);
    return spare ?? new ArrayBuffer(Math.max(SEALED_BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes))));
  }

  /** Keeps a few, but none that one big burst created. */
  give(buffers: readonly ArrayBuffer[]): void {
    for (const buffer of buffers) {
      if (this.#spare.length < 16 && buffer.byteLength <= SPARE_BYTES_MAX) this.#spare.push(buffer);
    }
  }
}

/** Writes what makes an event another one: all but who published it. Returns its length. */
export function writeContent(event: EventAsText, writer: ByteWriter): number {
  const start = writer.length;
  eventTextCodec.encode(event, writer);
  writer.truncate(writer.length - bytesAfterContent(event));
  return writer.length - start;
}

/** One half of a commit while it is gathered: encoded at once, so that sending it costs nothing per record. */
export class CommitHalf {
  readonly #spare: SpareBuffers;
  readonly #streams: (ByteWriter | null)[] = STREAMS.map(() => null);
  readonly #open: (WrittenRow | null)[] = STREAMS.map(() => null);
  readonly #operations: ByteWriter;
  readonly #eventLengths: number[] = [];
  #routed: ByteWriter | null = null;
  readonly #routedLengths: number[] = [];
  readonly #dirty: LogRow<unknown>[] = [];
  readonly rows: WrittenRow[] = [];
  readonly delayed: WrittenDelayed[] = [];
  /** When the first of the delayed tasks is due. */
  firstDue = Number.POSITIVE_INFINITY;
  readonly directory: DirectoryChange[] = [];
  /** Delayed tasks become due earlier with this half; `moved` is called then. */
  forward: { readonly ms: number; readonly moved: () => void } | null = null;
  #bytes = 0;

  constructor(spare: SpareBuffers) {
    this.#spare = spare;
    this.#operations = new ByteWriter(spare.take());
  }

  get empty(): boolean {
    const written = this.rows.length + this.#operations.length + this.#routedLengths.length;
    return written + this.#dirty.length === 0;
  }

  get bytes(): number {
    return this.#bytes + this.#operations.length + (this.#routed?.length ?? 0);
  }

  /** The number of appended events that are to be checked for repeats. */
  get checkedEvents(): number {
    return this.#eventLengths.length / 2;
  }

  /** The number of events whose results are in this half. */
  get routedEvents(): number {
    return this.#routedLengths.length;
  }

  /**
   * Names an event whose results are written into this half, in place of the event: when it is known, nothing of the
   * half is written.
   */
  routed(event: EventAsText): void {
    this.#routed ??= new ByteWriter(this.#spare.take());
    this.#routedLengths.push(writeContent(event, this.#routed));
  }

  /** Appends a record to a stream. Throws when it does not fit its schema; then nothing is appended. */
  append(stream: number, record: unknown, checked = false): void {
    const writer = this.#streams[stream] ?? new ByteWriter(this.#spare.take());
    this.#streams[stream] = writer;
    const start = writer.length;
    CODECS[kindOf(stream)].encode(record, writer);
    let row = this.#open[stream];
    if (!row || row.length >= ROW_BYTES_MAX || row.checked !== checked) {
      row = { stream, offset: start, length: 0, checked, records: [] };
      this.#open[stream] = row;
      this.rows.push(row);
    }
    row.length += writer.length - start;
    // A copy: the writer's buffer is used again.
    row.records.push(stream === JOURNAL ? Buffer.from(writer.written.subarray(start)) : record);
    this.#bytes += writer.length - start;
    if (stream !== EVENTS || !checked) return;
    const length = writer.length - start;
    this.#eventLengths.push(length - bytesAfterContent(record as DomainEvent), length);
  }

  /** Appends a task to its stream of first attempts, or to the delayed ones. */
  appendTask(task: DeliveryTask, now: number): void {
    if (task.dueAt > now) this.delay(task);
    else this.append(streamOf(taskClass(task)), task);
  }

  delay(task: DeliveryTask): void {
    const stream = streamOf(taskClass(task));
    this.#operations.u8(OPERATION.delayedInsert);
    this.#operations.f64(stream);
    this.#operations.f64(task.dueAt);
    const before = this.#operations.length;
    this.#record(taskCodec, task);
    this.delayed.push({ stream, due: task.dueAt, task, bytes: this.#operations.length - before });
    this.firstDue = Math.min(this.firstDue, task.dueAt);
  }

  delayedDone(id: number): void {
    this.#operations.u8(OPERATION.delayedDelete);
    this.#operations.f64(id);
  }

  /** Marks a record of the row as done. All records done by the time the half is sealed are stored with it. */
  rowDone(row: LogRow<unknown>): void {
    if (row.dirty) return;
    row.dirty = true;
    this.#dirty.push(row);
  }

  rowsDoneUpTo(stream: number, last: number): void {
    this.#operations.u8(OPERATION.rowsDeleteUpTo);
    this.#operations.f64(stream);
    this.#operations.f64(last);
  }

  deadLetter(letter: DeadLetter): void {
    this.#operations.u8(OPERATION.deadLetterInsert);
    this.#record(deadLetterCodec, letter);
  }

  quarantine(record: Quarantined): void {
    this.#operations.u8(OPERATION.quarantineInsert);
    for (const id of [record.eventId, record.merchantId, record.subjectId, record.entityId]) {
      const bytes = Buffer.from(id ?? '');
      this.#operations.u32(bytes.length);
      this.#operations.bytes(bytes);
    }
    this.#record(quarantinedCodec, record);
  }

  deadLetterDone(id: number): void {
    this.#operations.u8(OPERATION.deadLetterDelete);
    this.#operations.f64(id);
  }

  quarantineDone(id: number): void {
    this.#operations.u8(OPERATION.quarantineDelete);
    this.#operations.f64(id);
  }

  putDirectory(change: DirectoryChange): void {
    this.#operations.u8(OPERATION.directoryPut);
    this.#operations.f64(change.version);
    const key = Buffer.from(directoryKey(change));
    this.#operations.u32(key.length);
    this.#operations.bytes(key);
    this.#record(directoryCodec, change);
    this.directory.push(change);
  }

  bringForward(ms: number, moved: () => void): void {
    this.#operations.u8(OPERATION.bringForward);
    this.#operations.f64(ms);
    this.forward = { ms, moved };
  }

  probe(at: number): void {
    this.#operations.u8(OPERATION.probe);
    this.#operations.f64(at);
  }

  /** Returns the half in the form in which it is sent. It must not be written to afterwards. */
  seal(): ArrayBuffer {
    for (const row of this.#dirty) this.#writeDone(row);
    const rows = this.rows.map(({ stream, offset, length, checked, records }) => {
      const bytes = this.#streams[stream]?.written.subarray(offset, offset + length) ?? EMPTY;
      return { stream, checked, count: records.length, bytes };
    });
    const parts = {
      rows,
      eventLengths: this.#eventLengths,
      routed: this.#routed?.written ?? EMPTY,
      routedLengths: this.#routedLengths,
      operations: this.#operations.written,
    };
    const sealed = sealHalf(parts, (bytes) => this.#spare.takeOf(bytes));
    const writers = [...this.#streams, this.#routed, this.#operations];
    this.#spare.give(writers.flatMap((writer) => writer?.buffer ?? []));
    return sealed;
  }

  #writeDone(row: LogRow<unknown>): void {
    row.dirty = false;
    this.#operations.u8(row.left === 0 ? OPERATION.rowDelete : OPERATION.rowDone);
    this.#operations.f64(row.stream);
    this.#operations.f64(row.first);
    if (row.left === 0 || !row.done) return;
    this.#operations.u32(row.done.length);
    this.#operations.bytes(row.done);
  }

  /** Writes a length, then the record. When it does not fit its schema, its whole operation is undone. */
  #record<T>(codec: RecordCodec<T>, record: T): void {
    const at = this.#operations.length;
    this.#operations.u32(0);
    codec.encode(record, this.#operations);
    this.#operations.patchU32(at, this.#operations.length - at - 4);
  }
}
