/** A worker thread that decompresses batches too large for the main thread. It answers every request, in order. */

import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../messages/error-message.ts';
import { decompressNow, TooLarge } from './decompress.ts';

/** A batch to decompress. */
export interface Request {
  readonly id: number;
  readonly codec: number;
  readonly bytes: Uint8Array;
  readonly maxBytes: number;
}

export type Answer =
  | { readonly id: number; readonly result: Uint8Array }
  | { readonly id: number; readonly error: string; readonly isTooLarge: boolean };

function answer({ id, codec, bytes, maxBytes }: Request): Answer {
  try {
    return { id, result: decompressNow(codec, Buffer.from(bytes.buffer), maxBytes) };
  } catch (error) {
    return { id, error: messageOf(error), isTooLarge: error instanceof TooLarge };
  }
}

parentPort?.on('message', (request: Request) => {
  const made = answer(request);
  // The result's memory moves to the main thread without a copy, unless it is a part of a shared pool.
  const isWhole = 'result' in made && made.result.byteLength === made.result.buffer.byteLength;
  parentPort?.postMessage(made, isWhole ? [made.result.buffer as ArrayBuffer] : []);
});
