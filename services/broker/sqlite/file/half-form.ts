/** The form in which half of a commit is sent to the thread of the file: all of it in one buffer, which is transferred. */
import { ByteWriter } from '../../../codec/byte-writer.ts';
import { OperationReader } from './operation-reader.ts';

/** How many rows and lengths there are, and the lengths of the other two parts. */
const COUNTS_BYTES = 5 * 4;
const ROW_HEAD_BYTES = 2 + 4 + 4;

/** Consecutive records of one stream. */
export interface HalfRow {
  readonly stream: number;
  /** Its events are to be checked for repeats. */
  readonly checked: boolean;
  readonly count: number;
  readonly bytes: Uint8Array;
}

export interface HalfParts {
  readonly rows: readonly HalfRow[];
  /** Of each event of the checked rows, the length of its content, and of all of it. */
  readonly eventLengths: readonly number[];
  /** The contents of events whose results are in this half: when one of them is known, nothing of it is written. */
  readonly routed: Uint8Array;
  readonly routedLengths: readonly number[];
  /** Everything else, as consecutive operations (see OPERATION). */
  readonly operations: Uint8Array;
}

/** Writes a half into the buffer that `take` returns for the bytes it needs. */
export function sealHalf(parts: HalfParts, take: (bytes: number) => ArrayBuffer): ArrayBuffer {
  const writer = new ByteWriter(take(bytesOf(parts)));
  writer.u32(parts.rows.length);
  for (const { stream, checked, count, bytes } of parts.rows) {
    writer.u8(stream);
    writer.u8(checked ? 1 : 0);
    writer.u32(count);
    writeBytes(writer, bytes);
  }
  writeLengths(writer, parts.eventLengths);
  writeBytes(writer, parts.routed);
  writeLengths(writer, parts.routedLengths);
  writeBytes(writer, parts.operations);
  return writer.buffer;
}

function bytesOf({ rows, eventLengths, routed, routedLengths, operations }: HalfParts): number {
  const ofRows = rows.reduce((sum, { bytes }) => sum + ROW_HEAD_BYTES + bytes.length, 0);
  const lengths = 4 * (eventLengths.length + routedLengths.length);
  return COUNTS_BYTES + ofRows + lengths + routed.length + operations.length;
}

/** Reads a half. The bytes in it are views of the buffer. */
export function openHalf(buffer: ArrayBuffer) {
  const reader = new OperationReader(Buffer.from(buffer));
  const rows = Array.from({ length: reader.u32() }, () => ({
    stream: reader.u8(),
    checked: reader.u8() === 1,
    count: reader.u32(),
    bytes: reader.bytes(),
  }));
  const eventLengths = readLengths(reader);
  const routed = reader.bytes();
  return { rows, eventLengths, routed, routedLengths: readLengths(reader), operations: reader.bytes() };
}

export function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writer.u32(bytes.length);
  writer.bytes(bytes);
}

function writeLengths(writer: ByteWriter, lengths: readonly number[]): void {
  writer.u32(lengths.length);
  for (const length of lengths) writer.u32(length);
}

function readLengths(reader: OperationReader): number[] {
  return Array.from({ length: reader.u32() }, () => reader.u32());
}
