import { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';

/** Of Kafka's protocol: a request is its length (4 bytes), then what is asked for (2 bytes). */
const API_KEY_AT = 4;
const PRODUCE = 0;

/**
 * The line between a Kafka client and its brokers, for kafkajs's `socketFactory`, that can lose the answer to a produce
 * request: the broker has written, and the client sees nothing but a connection that ends.
 */
export class ForgetfulLine {
  #losesNext = false;
  /** Answers lost so far. */
  lost = 0;

  readonly socketFactory: ISocketFactory = ({ host, port, onConnect }) =>
    new ForgetfulSocket(() => this.#takeLoss()).connect(port, host, onConnect);

  /** The answer to the produce request that is written next is lost. */
  loseNextAnswer(): void {
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
  #losesAnswer = false;

  constructor(takeLoss: () => boolean) {
    super();
    this.#takeLoss = takeLoss;
  }

  // Not `write`: `connect` puts its own in place of it.
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
    if (isProduce && this.#takeLoss()) this.#losesAnswer = true;
  }

  /** What arrives comes by here. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (!this.#losesAnswer || chunk === null) return super.push(chunk, encoding);
    // kafkajs does not look at `close`: without an error it would wait for its answer.
    this.destroy(new Error('the answer was lost'));
    return false;
  }
}
