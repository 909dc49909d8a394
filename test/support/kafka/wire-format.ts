import { expect } from 'vitest';

/** Returns the record with another schema id in its prefix. */
export function under(id: number, bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt32BE(id, 1);
  return changed;
}

/** Returns the schema id in the record's prefix. */
export const idOf = (bytes: Buffer) => bytes.readUInt32BE(1);
/** Returns a signal that never fires. */
export const never = () => new AbortController().signal;

/** Returns the message that a promise rejects with, and expects it to be one line. */
export async function lineOf(rejecting: Promise<unknown>): Promise<string> {
  const error: unknown = await rejecting.then(
    () => new Error('it did not reject'),
    (reason: unknown) => reason,
  );
  const { message } = error as Error;
  expect(message).not.toContain('\n');
  return message;
}
