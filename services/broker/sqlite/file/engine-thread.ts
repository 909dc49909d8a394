import { randomUUID } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { encodedDecoder, type RecordCodec, type RecordDecoder } from '../../../codec/record-codec.ts';
import {
  deadLetterCodec,
  directoryCodec,
  eventCodec,
  journalCodec,
  quarantinedCodec,
  taskCodec,
} from '../../../codec/records.ts';
import { errorLine } from '../../../messages/error-message.ts';
import { spawnWorker } from '../../../process/worker-thread.ts';
import type { EngineThreadData, OpenedFile, RecordKind, Reply, Request } from './wire.ts';

export const CODECS: Readonly<Record<RecordKind, RecordCodec<unknown>>> = {
  event: eventCodec,
  task: taskCodec,
  journal: journalCodec,
  directory: directoryCodec,
  quarantined: quarantinedCodec,
  deadLetter: deadLetterCodec,
};

/** The file as it was opened, with the readers of its records. */
export interface OpenedBroker extends OpenedFile {
  /** By the number of the schema that a record was written with. */
  readonly decoders: ReadonlyMap<number, RecordDecoder<unknown>>;
}

type Read = Exclude<Request, { kind: 'commit' }>;

interface Waiting {
  readonly answer: (reply: Reply) => void;
  readonly gone: (error: Error) => void;
}

/** The main thread's end of the thread that owns the data file. Every request gets one reply, in order. */
export class EngineThread {
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  #gone: Error | null = null;
  /** Called once when the thread ends without having been asked to. */
  onGone: (error: Error) => void = () => {};

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (reply: Reply) => this.#waiting.shift()?.answer(reply));
    worker.on('error', (error) => this.#end(error));
    worker.on('exit', () => this.#end(new Error('the SQLite thread has ended')));
  }

  /** Opens the file in a thread of its own. Rejects with one line for an operator when it cannot be opened. */
  static async open(file: string): Promise<{ readonly thread: EngineThread; readonly opened: OpenedBroker }> {
    const schemas = Object.entries(CODECS).map(([record, { schema }]) => ({
      record: record as RecordKind,
      schema,
    }));
    const data: EngineThreadData = { file, instance: randomUUID(), schemas };
    const thread = new EngineThread(spawnWorker(new URL('./worker.ts', import.meta.url), data));
    const reply = await new Promise<Reply>((answer, gone) => thread.#waiting.push({ answer, gone }));
    try {
      if (reply.kind !== 'opened')
        throw new Error(reply.kind === 'refused' ? reply.message : `unexpected answer ${reply.kind}`);
      const decoders = reply.schemas.map(({ id, record, schema }) => {
        return [id, decoderFor(file, record as RecordKind, schema)] as const;
      });
      return { thread, opened: { ...reply, decoders: new Map(decoders) } };
    } catch (error) {
      await thread.terminate();
      throw error;
    }
  }

  /**
   * Sends a request; the buffers in `transfer` are transferred. `answer` is called with the reply, in the order of the
   * requests, before any later message of the thread is read; it is not called when the thread has ended.
   */
  send(
    request: Request,
    transfer: ArrayBuffer[],
    answer: (reply: Reply) => void,
    gone = (_: Error) => {},
  ): void {
    if (this.#gone) {
      gone(this.#gone);
      return;
    }
    this.#waiting.push({ answer, gone });
    this.#worker.postMessage(request, transfer);
  }

  /** Rejects when the thread has ended or could not read. */
  read(request: Read): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const answer = (reply: Reply) =>
        reply.kind === 'unreadable' ? reject(new Error(reply.message)) : resolve(reply);
      this.send(request, [], answer, reject);
    });
  }

  /** Closes the file after everything sent before, and waits until the thread has ended. */
  async close(): Promise<void> {
    if (this.#gone) return;
    this.onGone = () => {};
    const ended = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.send({ kind: 'close' }, [], () => {});
    await ended;
  }

  /** Ends the thread as it is; the file's lock is released. */
  async terminate(): Promise<void> {
    this.onGone = () => {};
    this.#end(new Error('the broker is closed'));
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    if (this.#gone) return;
    this.#gone = error;
    for (const { gone } of this.#waiting.splice(0)) gone(error);
    this.onGone(error);
  }
}

/** Throws one line when records with this schema cannot be read: another build has written them. */
function decoderFor(file: string, record: RecordKind, schema: string): RecordDecoder<unknown> {
  const codec = CODECS[record];
  try {
    // Journal entries are passed on encoded.
    return record === 'journal' ? encodedDecoder(codec, schema) : codec.decoder(schema);
  } catch (error) {
    throw new Error(
      `the ${record} records in ${file} are of another build, and this one cannot read them ` +
        `(${errorLine(error).slice(0, 200)}): run that build, or move the file away and begin anew`,
    );
  }
}
