import { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';

/** A request of Kafka's protocol starts with its length (4 bytes) and the API key (2 bytes). */
const API_KEY_AT = 4;
const PRODUCE = 0;

/**
 * The network between a Kafka client and its brokers, for kafkajs's `socketFactory`. It can lose the response to a produce
 * request: the broker has written the records, and the client only sees the connection close.
 */
export class ForgetfulLine {
  #losesNext = false;
  /** Responses lost so far. */
  lost = 0;

  readonly socketFactory: ISocketFactory = ({ host, port, onConnect }) =>
    new ForgetfulSocket(() => this.#takeLoss()).connect(port, host, onConnect);

  /** Loses the response to the next produce request. */
  loseNextResponse(): void {
    this.#losesNext = true;
  }

  #takeLoss(): boolean {
    if (!this.#losesNext) return false;
    this.#losesNext = false;
    this.lost += 1;
    return true;
  }
}

type WriteDone = (error?: Error | null) => void;

class ForgetfulSocket extends Socket {
  readonly #takeLoss: () => boolean;
  #losesResponse = false;

  constructor(takeLoss: () => boolean) {
    super();
    this.#takeLoss = takeLoss;
  }

  // Not `write`: `connect` replaces it.
  override _write(bytes: unknown, encoding: BufferEncoding, done: WriteDone): void {
    this.#look(bytes);
    super._write(bytes, encoding, done);
  }

  override _writev(pieces: { chunk: unknown; encoding: BufferEncoding }[], done: WriteDone): void {
    for (const { chunk } of pieces) this.#look(chunk);
    super._writev?.(pieces, done);
  }

  #look(bytes: unknown): void {
    const isProduce = Buffer.isBuffer(bytes) && bytes.readInt16BE(API_KEY_AT) === PRODUCE;
    if (isProduce && this.#takeLoss()) this.#losesResponse = true;
  }

  /** Receives all incoming data. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (!this.#losesResponse || chunk === null) return super.push(chunk, encoding);
    // kafkajs ignores `close`: without an error it would wait for its response.
    this.destroy(new Error('the response was lost'));
    return false;
  }
}
