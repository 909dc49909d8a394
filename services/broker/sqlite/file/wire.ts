/**
 * The messages between the main thread and the thread that owns the file: few messages, each with a few big buffers
 * that are transferred instead of copied. No object is created per record.
 */
import { TASK_CLASSES, type TaskClass } from '../../../domain/task.ts';
import type { QuarantineWanted } from '../../quarantine-find.ts';

/** The append-only streams. A stream's index is its number in messages. */
export const STREAMS = ['events', ...TASK_CLASSES, 'journal'] as const;
export const EVENTS = 0;
export const JOURNAL = STREAMS.length - 1;

/** Returns the number of a class of tasks: as a stream of first attempts, and in the table of delayed tasks. */
export function streamOf(taskClass: TaskClass): number {
  return STREAMS.indexOf(taskClass);
}

/** Record kinds whose writer schemas are kept in the file. */
export const RECORD_KINDS = ['event', 'task', 'journal', 'directory', 'quarantined', 'deadLetter'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Returns the kind of a stream's records. */
export function kindOf(stream: number): RecordKind {
  if (stream === EVENTS) return 'event';
  return stream === JOURNAL ? 'journal' : 'task';
}

/** Operations: one byte of kind, then the fields named here (f64 little-endian; `bytes` = u32 length + bytes). */
export const OPERATION = {
  /** stream f64, first f64: every record of the batch row is done. */
  rowDelete: 1,
  /** stream f64, first f64, bytes: bit i = record i of the batch row is done. */
  rowDone: 2,
  /** stream f64, last f64: every batch row that ends at or before `last` is done. */
  rowsDeleteUpTo: 3,
  /** class f64, due f64, bytes: the task. */
  delayedInsert: 4,
  /** id f64. */
  delayedDelete: 5,
  /** version f64, bytes: the key, bytes: the change. */
  directoryPut: 6,
  /** bytes. */
  deadLetterInsert: 7,
  /** Each bytes: the ids of event, merchant, subject and entity, or nothing; bytes. */
  quarantineInsert: 8,
  /** id f64. */
  quarantineDelete: 9,
  /** at f64: writes something small, to find out whether the disk accepts writes again. */
  probe: 10,
  /** id f64. */
  deadLetterDelete: 11,
  /** ms f64: every delayed task is due so much earlier. */
  bringForward: 12,
} as const;

export type Request =
  | {
      readonly kind: 'commit';
      /** The system's time. */
      readonly at: number;
      /** How far the system's time is ahead of the clock that due times are written by, milliseconds. */
      readonly setBy: number;
      /** The highest sequence of an event so far. */
      readonly sequence: number;
      /** Settlements: retried until they are durable. */
      readonly settlements: ArrayBuffer;
      /** Publications: rejected when the commit fails. Both as `sealHalf` writes them. */
      readonly publications: ArrayBuffer;
    }
  | { readonly kind: 'readRows'; readonly stream: number; readonly from: number; readonly bytesMax: number }
  | {
      readonly kind: 'readDelayed';
      readonly taskClass: number;
      readonly due: number;
      readonly id: number;
      readonly limit: number;
      readonly bytesMax: number;
    }
  | { readonly kind: 'readDelayedIds'; readonly taskClass: number; readonly ids: readonly number[] }
  | { readonly kind: 'readDirectory'; readonly after: string; readonly limit: number }
  | {
      readonly kind: 'readRecordStore';
      readonly table: RecordStoreTable;
      readonly after: number;
      readonly limit: number;
    }
  | { readonly kind: 'readQuarantined'; readonly ids: readonly number[] }
  /** The newest that are wanted. */
  | { readonly kind: 'findQuarantined'; readonly wanted: QuarantineWanted; readonly limit: number }
  /** Events one after the other, as commits name them; remembers none. */
  | { readonly kind: 'knownEvents'; readonly events: Uint8Array; readonly lengths: readonly number[] }
  | { readonly kind: 'forgetEvents'; readonly before: number; readonly limit: number }
  /** Overwrites what deleted records have left in the file, if no more of it is in use than this. */
  | { readonly kind: 'purge'; readonly bytesMax: number }
  | { readonly kind: 'close' };

export type RecordStoreTable = 'quarantine' | 'dead_letter';

export interface CommitReply {
  readonly kind: 'committed';
  /** Per batch row, those of settlements first: the position of its first record, or −1 when all were repeated. */
  readonly firsts: readonly number[];
  /** The id of the first delayed task inserted; the others are consecutive, those of settlements first. */
  readonly delayedFirst: number;
  /** Pairs: index among the checked events, 1 = known with the same content, 2 = with another. */
  readonly repeats: readonly number[];
  /**
   * The publications were not written, because events routed in them are known: pairs as in `repeats`, with the index
   * among those events. Empty: they were written.
   */
  readonly refused: readonly number[];
  /** Directory changes (by order) that were not newer than the known ones. */
  readonly stale: readonly number[];
  /** Buffers to reuse. */
  readonly spare: readonly ArrayBuffer[];
}

export interface FailReply {
  readonly kind: 'failed';
  readonly code: string;
  readonly message: string;
  /** Whether trying again may help: the disk was full, for example. */
  readonly passing: boolean;
  /** Returned for the next try. */
  readonly settlements: ArrayBuffer;
}

/** Records in their stored form, to be decoded with the schema they were written with. */
export interface StoredRow {
  readonly first: number;
  readonly count: number;
  readonly at: number;
  readonly schema: number;
  readonly blob: Uint8Array;
  /** Bit i = record i is done. */
  readonly done: Uint8Array | null;
}

export interface StoredDelayed {
  readonly id: number;
  readonly due: number;
  readonly schema: number;
  readonly blob: Uint8Array;
}

export interface StoredRecord {
  /** Its key or id. */
  readonly key: string;
  readonly schema: number;
  readonly blob: Uint8Array;
}

/** The state of the file when it was opened. */
export interface OpenedFile {
  readonly kind: 'opened';
  readonly instance: string;
  /** Unfinished records per stream, and where each continues. */
  readonly pending: readonly number[];
  readonly oldest: readonly number[];
  readonly delayed: readonly number[];
  /** The highest sequence of an event. */
  readonly sequence: number;
  /** Every schema that records in the file were written with. */
  readonly schemas: readonly { readonly id: number; readonly record: string; readonly schema: string }[];
}

export type Reply =
  | OpenedFile
  | CommitReply
  | FailReply
  | { readonly kind: 'refused'; readonly message: string }
  | {
      readonly kind: 'rows';
      readonly stream: number;
      readonly rows: readonly StoredRow[];
      readonly more: boolean;
    }
  | {
      readonly kind: 'delayed';
      readonly taskClass: number;
      readonly rows: readonly StoredDelayed[];
      readonly more: boolean;
    }
  | { readonly kind: 'records'; readonly records: readonly StoredRecord[]; readonly more: boolean }
  | { readonly kind: 'forgotten'; readonly more: boolean }
  /** Pairs as in CommitReply.repeats. */
  | { readonly kind: 'known'; readonly repeats: readonly number[] }
  | { readonly kind: 'purged'; readonly isWhole: boolean }
  /** A read failed; the thread continues. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly fatal: boolean }
  | { readonly kind: 'closed' };

/** The data with which the thread is started. */
export interface EngineThreadData {
  readonly file: string;
  readonly instance: string;
  /** The current writer schemas by record kind. */
  readonly schemas: readonly { readonly record: RecordKind; readonly schema: string }[];
}
