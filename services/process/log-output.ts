import { constants, fstatSync, openSync, type Stats, write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { growingPause } from './growing-pause.ts';

/** Lines are written together: a system call for each would cost more than making the line. */
const WRITTEN_TOGETHER_LENGTH = 16 * 1024;
const WRITTEN_AT_LATEST_MS = 100;
/** Lines beyond this length are dropped until earlier ones are written. As much again may be in the current write. */
const HELD_LENGTH_MAX = 4 * 1024 * 1024;
/** A failed write is retried after this pause, which doubles up to the limit. */
const PAUSE_MS_MIN = 10;
const PAUSE_MS_MAX = 1000;

/** Writes a piece; `written`: how many of its bytes were accepted. Never blocks the event loop. */
type WritePiece = (piece: Buffer, done: (error: Error | null, written: number) => void) => void;

/**
 * Writes lines to standard output (1) or standard error (2) without ever blocking, throwing or growing, even on a pipe
 * that nobody reads, a full disk or a closed terminal. Lines that do not fit into a bounded buffer are dropped and
 * counted; `onDropped` is called with their number as soon as the lines before them have been written.
 */
export class LogOutput implements DestinationStream {
  readonly #fd: 1 | 2;
  #write: WritePiece | null = null;
  #lines = '';
  #piece: Buffer | null = null;
  #isWriting = false;
  #isFailing = false;
  /** Failed writes in a row. */
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;
  #flushing: (() => void)[] = [];
  #unreported = 0;
  /** Lines that were dropped since the start. */
  dropped = 0;
  onDropped: (lines: number) => void = () => {};

  constructor(fd: 1 | 2) {
    this.#fd = fd;
  }

  write(line: string): void {
    this.#write ??= this.#open();
    if (this.#lines.length + line.length > HELD_LENGTH_MAX) {
      this.dropped += 1;
      this.#unreported += 1;
      return;
    }
    this.#lines += line;
    if (!this.#isBusy) this.#passSoon();
  }

  /** Calls back when every line so far is written, or when a write failed and the rest may never be. */
  flush(done: () => void): void {
    this.#flushing.push(done);
    if ((!this.#isBusy && this.#lines === '') || this.#isFailing) this.#flushed();
    else if (!this.#isBusy) this.#passSoon();
  }

  get #isBusy(): boolean {
    return this.#piece !== null;
  }

  #open(): WritePiece {
    // The last lines name the reason why the process ended.
    process.prependListener('exit', () => this.#writeOut());
    return openPieces(this.#fd);
  }

  #passSoon(): void {
    if (this.#lines.length >= WRITTEN_TOGETHER_LENGTH || this.#flushing.length > 0) this.#pass();
    else this.#timer ??= setTimeout(() => this.#pass(), WRITTEN_AT_LATEST_MS).unref();
  }

  #pass(): void {
    this.#stopTimer();
    this.#piece = Buffer.from(this.#lines);
    this.#lines = '';
    const dropped = this.#unreported;
    this.#unreported = 0;
    if (dropped > 0) this.onDropped(dropped);
    this.#writePiece();
  }

  #writePiece(): void {
    this.#stopTimer();
    const piece = this.#piece;
    if (!piece || this.#isWriting) return;
    this.#isWriting = true;
    this.#write?.(piece, (error, written) => {
      this.#isWriting = false;
      if (error) this.#failed(error);
      else this.#written(piece.subarray(written));
    });
  }

  #written(rest: Buffer): void {
    this.#isFailing = false;
    this.#failures = 0;
    this.#piece = rest.length > 0 ? rest : null;
    if (this.#piece) this.#writePiece();
    else if (this.#lines === '') this.#flushed();
    else this.#passSoon();
  }

  /** Keeps the piece for a retry: the disk may have room later, or the pipe a reader. */
  #failed(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EAGAIN') {
      this.#isFailing = true;
      this.#flushed();
    }
    this.#failures += 1;
    const pause = growingPause(this.#failures, PAUSE_MS_MIN, PAUSE_MS_MAX);
    this.#timer = setTimeout(() => this.#writePiece(), pause).unref();
  }

  #flushed(): void {
    for (const done of this.#flushing.splice(0)) done();
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Writes the buffered lines at once, as far as possible without waiting. */
  #writeOut(): void {
    if (this.#isFailing) return;
    const waiting = this.#isWriting ? null : this.#piece;
    let rest = Buffer.concat([waiting ?? Buffer.alloc(0), Buffer.from(this.#lines)]);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#fd, rest));
    } catch {
      // It cannot be written now, and the process is ending.
    }
  }
}

function openPieces(fd: 1 | 2): WritePiece {
  const kind = kindOf(fd);
  if (kind?.isFIFO() || kind?.isSocket()) {
    // Node's stream of a pipe or socket does not block, and no error closes it.
    const stream = fd === 1 ? process.stdout : process.stderr;
    stream.on('error', () => {});
    return (piece, done) => void stream.write(piece, (error) => done(error ?? null, piece.length));
  }
  // A stopped terminal would hold a thread, and with it the end of the process.
  const target = kind?.isCharacterDevice() ? withoutBlocking(fd) : fd;
  return (piece, done) => write(target, piece, 0, piece.length, null, done);
}

function kindOf(fd: number): Stats | null {
  try {
    return fstatSync(fd);
  } catch {
    return null;
  }
}

function withoutBlocking(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}
