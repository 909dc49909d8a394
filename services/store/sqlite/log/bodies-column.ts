/** An event's bodies in one column: for each the code of its API version, its length (u32, little endian), and the body. */
import { ByteWriter } from '../../../codec/byte-writer.ts';
import type { Routed } from '../../../domain/journal.ts';
import { API_VERSION } from '../../log/codes.ts';

/** Code and length. */
const HEADER_BYTES = 5;
const scratch = new ByteWriter();

/** Returns the column's length in bytes. */
export function bodiesLength(bodies: Routed['bodies']): number {
  let length = 0;
  for (const { body } of bodies) length += HEADER_BYTES + body.length;
  return length;
}

export function writeBodies(bodies: Routed['bodies'], into: ByteWriter): void {
  for (const { apiVersion, body } of bodies) {
    into.u8(API_VERSION.of[apiVersion]);
    into.u32(body.length);
    into.bytes(body);
  }
}

export function bodiesColumn(bodies: Routed['bodies']): Buffer {
  scratch.truncate(0);
  writeBodies(bodies, scratch);
  return Buffer.from(scratch.written);
}

/** Returns one body from an event's bodies column. */
export function bodyOf(bodies: Buffer, apiVersion: number): Buffer | undefined {
  for (let at = 0; at < bodies.length; ) {
    const start = at + HEADER_BYTES;
    const end = start + bodies.readUInt32LE(at + 1);
    if (bodies[at] === apiVersion) return bodies.subarray(start, end);
    at = end;
  }
  return undefined;
}

/** Returns the first column with the bodies of the second that it does not have. */
export function mergedBodies(first: Buffer, second: Buffer): Buffer {
  const parts = [first];
  for (let at = 0; at < second.length; ) {
    const end = at + HEADER_BYTES + second.readUInt32LE(at + 1);
    if (bodyOf(first, second[at] ?? 0) === undefined) parts.push(second.subarray(at, end));
    at = end;
  }
  return Buffer.concat(parts);
}
