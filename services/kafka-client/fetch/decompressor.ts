import type { Worker } from 'node:worker_threads';
import { spawnWorker } from '../../process/worker-thread.ts';
import { decompressNow, TooLarge } from './decompress.ts';
import type { Answer, Request } from './decompress-thread.ts';

/** Up to this size a result is made at once: that takes less time than a round trip to another thread. */
const AT_ONCE_BYTES_MAX = 512 * 1024;
/** A compressed batch up to this size is fetched again until its result is there; a larger one is waited for. */
const FETCHED_AGAIN_BYTES_MAX = 256 * 1024;
/** Results that are waited for by fetching again. Each may have as many bytes as a batch may have. */
const AHEAD_MAX = 2;

/** The result is not there yet: fetch the batch again. */
export const LATER = Symbol('later');

type Result = { readonly records: Buffer } | { readonly error: Error };

interface Waiting {
  readonly request: Omit<Request, 'id'>;
  readonly settle: (result: Result) => void;
}

/** A batch that is being decompressed, or was and has not been fetched again. */
interface Ahead {
  readonly bytes: Buffer;
  result: Result | null;
}

/**
 * Decompresses batches. A large result is made in a worker thread: 16 MiB take up to 0.2 s, in which the main thread
 * would send nothing. Nor does the fetch response wait for it, because it has the records of other partitions too: a
 * batch that is small until it is decompressed is fetched again. The thread starts with the first large batch, and does
 * not keep the process alive.
 */
class Decompressor {
  readonly #waiting = new Map<number, Waiting>();
  readonly #ahead: Ahead[] = [];
  #worker: Worker | null = null;
  #lastId = 0;

  decompress(codec: number, bytes: Buffer, maxBytes: number): Buffer | typeof LATER | Promise<Buffer> {
    const known = this.#ahead.findIndex((each) => each.bytes.equals(bytes));
    const { result } = this.#ahead[known] ?? {};
    if (result === null) return LATER;
    if (result) {
      this.#ahead.splice(known, 1);
      return recordsOf(result);
    }
    try {
      return decompressNow(codec, bytes, Math.min(maxBytes, AT_ONCE_BYTES_MAX));
    } catch (error) {
      if (!(error instanceof TooLarge) || maxBytes <= AT_ONCE_BYTES_MAX) throw error;
    }
    const request = { codec, bytes, maxBytes };
    if (bytes.length <= FETCHED_AGAIN_BYTES_MAX && this.#hasRoom()) {
      const ahead: Ahead = { bytes: Buffer.from(bytes), result: null };
      this.#ahead.push(ahead);
      this.#ask(request, (made) => {
        ahead.result = made;
      });
      return LATER;
    }
    return new Promise<Result>((resolve) => this.#ask(request, resolve)).then(recordsOf);
  }

  /** Makes room where a result was not fetched again: its partition has another reader now. */
  #hasRoom(): boolean {
    if (this.#ahead.length < AHEAD_MAX) return true;
    const oldest = this.#ahead.findIndex(({ result }) => result !== null);
    if (oldest >= 0) this.#ahead.splice(oldest, 1);
    return oldest >= 0;
  }

  #ask(request: Omit<Request, 'id'>, settle: (result: Result) => void): void {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#waiting.set(id, { request, settle });
    // A copy: the batch is a window into the whole response, which the main thread continues to read.
    const bytes = Uint8Array.from(request.bytes);
    this.#thread().postMessage({ ...request, bytes, id } satisfies Request, [bytes.buffer as ArrayBuffer]);
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const worker = spawnWorker(new URL('./decompress-thread.ts', import.meta.url), null);
    worker.unref();
    worker.on('message', (answer: Answer) => this.#answered(answer));
    worker.on('error', () => this.#failed(worker));
    worker.on('exit', () => this.#failed(worker));
    this.#worker = worker;
    return worker;
  }

  #answered(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('error' in answer) {
      const { error, isTooLarge } = answer;
      waiting?.settle({ error: isTooLarge ? new TooLarge(error) : new Error(error) });
    } else {
      const { buffer, byteOffset, byteLength } = answer.result;
      waiting?.settle({ records: Buffer.from(buffer, byteOffset, byteLength) });
    }
  }

  /** The thread is gone (out of memory): what it had is made here, and the next large batch starts another one. */
  #failed(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const left = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { request, settle } of left) settle(resultOf(request));
  }
}

function resultOf({ codec, bytes, maxBytes }: Omit<Request, 'id'>): Result {
  try {
    return { records: decompressNow(codec, Buffer.from(bytes), maxBytes) };
  } catch (error) {
    return { error: error as Error };
  }
}

function recordsOf(result: Result): Buffer {
  if ('error' in result) throw result.error;
  return result.records;
}

const decompressor = new Decompressor();

/**
 * Returns the decompressed records of a batch, a promise of them, or LATER. Throws or rejects with the reason when the
 * bytes are not of that codec, or the result would exceed `maxBytes`.
 */
export const decompress = (
  codec: number,
  bytes: Buffer,
  maxBytes: number,
): Buffer | typeof LATER | Promise<Buffer> => decompressor.decompress(codec, bytes, maxBytes);
