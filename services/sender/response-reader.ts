import type { FailureCode } from '../domain/attempt.ts';

/** What came is not a response (RFC 9112), or not one that is read on. Its message is shown to merchants. */
export class ResponseFault extends Error {
  override readonly name = 'ResponseFault';
  readonly failureCode: FailureCode;

  constructor(failureCode: FailureCode, detail: string) {
    super(detail);
    this.failureCode = failureCode;
  }
}

/** Who is told what came. */
export interface ResponseListener {
  /** A response before the real one: a status from 100 to 199. */
  onInterim(status: number): void;
  /** The final status; names in lower case. */
  onHead(status: number, headers: [name: string, value: string][]): void;
  /** A part of the body; a view, valid until this returns. */
  onBody(bytes: Buffer): void;
}

export interface ResponseLimits {
  /** Status line and headers, and the trailers of a chunked body, bytes. */
  readonly headBytesMax: number;
  /** More header lines than this are an attack, whatever their size. */
  readonly headerLinesMax: number;
}

/** `more`: it is not whole yet. `whole`: it is, and `isReusable` tells whether the connection can carry another. */
export type Read = 'more' | 'whole';

type State = 'head' | 'sized' | 'chunk size' | 'chunk' | 'chunk end' | 'trailers' | 'until closed' | 'whole';

const HEAD_END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** What every response begins with: anything else is known after its first bytes. */
const BEGINNING = 'HTTP/1.';
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** What the value of a header, sent or received, must not have (RFC 9110 section 5.5). */
export const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const LENGTH = /^\d{1,15}$/;
const CHUNK_SIZE = /^([\da-fA-F]{1,13})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
/** A chunk's size with its extensions, which nobody sends. */
const CHUNK_LINE_BYTES_MAX = 1024;

/**
 * Reads the responses of one connection, one after the other, as they come in pieces (RFC 9112 sections 2 to 7 for a client
 * that only posts). Strict where leniency is how responses are smuggled: lines end with CRLF, a header is not folded, a length
 * is not given twice nor beside chunks. `read` throws ResponseFault; the connection is of no use then.
 */
export class ResponseReader {
  readonly #limits: ResponseLimits;
  #state: State = 'whole';
  /** The beginning of a head or line whose end has not come. */
  #rest = '';
  /** Bytes of the body, or of its chunk, that are still to come. */
  #left = 0;
  #trailerBytes = 0;
  #closes = false;
  #keepAliveSeconds: number | null = null;

  constructor(limits: ResponseLimits) {
    this.#limits = limits;
  }

  /** A request was sent: a response is expected. */
  expect(): void {
    this.#state = 'head';
    this.#rest = '';
  }

  /** Nothing more is read: what still comes is not the response's. */
  stop(): void {
    this.#state = 'whole';
  }

  /** The response is whole and neither side has said that the connection ends with it. */
  get isReusable(): boolean {
    return this.#state === 'whole' && !this.#closes;
  }

  /** For how long the receiver keeps an idle connection, as far as it has said so (Keep-Alive: timeout), else null. */
  get keepAliveSeconds(): number | null {
    return this.#keepAliveSeconds;
  }

  /** Takes what came. Bytes beyond the response's end make the connection unusable for another. */
  read(bytes: Buffer, listener: ResponseListener): Read {
    let at = 0;
    while (at < bytes.length && this.#state !== 'whole') at = this.#step(bytes, at, listener);
    if (at < bytes.length) this.#closes = true;
    return this.#state === 'whole' ? 'whole' : 'more';
  }

  /** The receiver has closed its side. Whether that was the response's end. */
  endsHere(): boolean {
    if (this.#state !== 'until closed') return false;
    this.#state = 'whole';
    return true;
  }

  /** Reads on from `at`; answers where it has come to. */
  #step(bytes: Buffer, at: number, listener: ResponseListener): number {
    switch (this.#state) {
      case 'head':
        return this.#head(bytes, at, listener);
      case 'sized':
      case 'chunk':
        return this.#counted(bytes, at, listener);
      case 'until closed':
        listener.onBody(bytes.subarray(at));
        return bytes.length;
      default:
        return this.#line(bytes, at);
    }
  }

  #head(bytes: Buffer, at: number, listener: ResponseListener): number {
    const before = this.#rest.length;
    const text = this.#rest + bytes.toString('latin1', at, at + this.#limits.headBytesMax + HEAD_END.length);
    const end = text.indexOf(HEAD_END);
    if (end < 0 || end > this.#limits.headBytesMax) {
      const isOther = !text.startsWith(BEGINNING.slice(0, text.length));
      if (isOther || /[^\r]\n/.test(text)) throw new ResponseFault('protocol_error', NOT_HTTP);
      if (text.length > this.#limits.headBytesMax) throw tooLarge();
      this.#rest = text;
      return bytes.length;
    }
    this.#rest = '';
    this.#response(text.slice(0, end), listener);
    return at + end + HEAD_END.length - before;
  }

  #response(head: string, listener: ResponseListener): void {
    const lines = head.split('\r\n');
    const [, minor, code] = STATUS_LINE.exec(lines[0] ?? '') ?? [];
    if (code === undefined) throw new ResponseFault('protocol_error', NOT_HTTP);
    if (lines.length > this.#limits.headerLinesMax + 1) {
      throw new ResponseFault('headers_too_large', `more than ${this.#limits.headerLinesMax} header lines`);
    }
    const status = Number(code);
    const headers: [string, string][] = [];
    for (let i = 1; i < lines.length; i += 1) headers.push(header(lines[i] as string));
    if (status < 200) {
      listener.onInterim(status);
      return;
    }
    this.#frame(status, headers, minor === '0');
    listener.onHead(status, headers);
  }

  /** How the body ends (RFC 9112 section 6.3), and whether the connection goes on after it (section 9.3). */
  #frame(status: number, headers: readonly [string, string][], isOld: boolean): void {
    let length: number | null = null;
    let codings: string | null = null;
    this.#closes = isOld;
    this.#keepAliveSeconds = null;
    for (const [name, value] of headers) {
      if (name === 'content-length') {
        if (length !== null || !LENGTH.test(value))
          throw unclear('its length is given twice or is no number');
        length = Number(value);
      } else if (name === 'transfer-encoding') {
        codings = codings === null ? value : `${codings},${value}`;
      } else if (name === 'connection') this.#closes = closesAfter(value, this.#closes);
      else if (name === 'keep-alive') this.#keepAliveSeconds = secondsOf(value);
    }
    if (codings !== null && length !== null) throw unclear('it has both a length and chunks');
    // HTTP/1.0 has no chunks: read all the same, but never trusted to have ended (section 6.1).
    if (codings !== null && isOld) this.#closes = true;
    if (status === 204 || status === 304) {
      this.#state = 'whole';
      // It has no body, and yet says that one follows.
      if (codings !== null || (length ?? 0) > 0) this.#closes = true;
    } else if (codings !== null) this.#state = isChunked(codings) ? 'chunk size' : 'until closed';
    else if (length !== null) this.#sized(length);
    else this.#state = 'until closed';
    this.#trailerBytes = 0;
    if (this.#state === 'until closed') this.#closes = true;
  }

  #sized(length: number): void {
    this.#left = length;
    this.#state = length === 0 ? 'whole' : 'sized';
  }

  #counted(bytes: Buffer, at: number, listener: ResponseListener): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#state = this.#state === 'sized' ? 'whole' : 'chunk end';
    listener.onBody(bytes.subarray(at, end));
    return end;
  }

  /** A line between chunks or of the trailers. */
  #line(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline + 1;
    const max = this.#state === 'trailers' ? this.#limits.headBytesMax : CHUNK_LINE_BYTES_MAX;
    if (this.#rest.length + end - at > max) throw tooLarge();
    this.#rest += bytes.toString('latin1', at, end);
    if (newline < 0) return end;
    const line = this.#rest;
    this.#rest = '';
    if (!line.endsWith('\r\n')) throw unclear('a line of its chunks does not end with CRLF');
    this.#ended(line.slice(0, -2));
    return end;
  }

  #ended(line: string): void {
    if (this.#state === 'chunk end') {
      if (line !== '') throw unclear('a chunk is longer than its size');
      this.#state = 'chunk size';
    } else if (this.#state === 'chunk size') {
      const size = CHUNK_SIZE.exec(line)?.[1];
      if (size === undefined) throw unclear('the size of a chunk is no number');
      this.#left = Number.parseInt(size, 16);
      this.#state = this.#left === 0 ? 'trailers' : 'chunk';
    } else {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > this.#limits.headBytesMax) throw tooLarge();
      if (line === '') this.#state = 'whole';
    }
  }
}

const NEWLINE = 0x0a;
const NOT_HTTP = 'the answer is not an HTTP/1.1 response';

function tooLarge(): ResponseFault {
  return new ResponseFault('headers_too_large', 'the response headers are too large');
}

function unclear(why: string): ResponseFault {
  return new ResponseFault('protocol_error', `where the response ends is not clear: ${why}`);
}

/** A header line (RFC 9112 section 5): no space before the colon, no folding. */
function header(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon)).toLowerCase();
  const value = line.slice(colon + 1).trim();
  if (TOKEN.test(name) && !NOT_IN_VALUE.test(value)) return [name, value];
  throw new ResponseFault('protocol_error', 'a header of the response is malformed');
}

/** What Connection says; `otherwise`: what holds when it says nothing of it. */
function closesAfter(value: string, otherwise: boolean): boolean {
  const options = value.toLowerCase().split(',');
  if (options.some((option) => option.trim() === 'close')) return true;
  return otherwise && !options.some((option) => option.trim() === 'keep-alive');
}

function isChunked(codings: string): boolean {
  const list = codings.toLowerCase().split(',');
  if (list.slice(0, -1).some((coding) => coding.trim() === 'chunked')) throw unclear('it is chunked twice');
  return list.at(-1)?.trim() === 'chunked';
}

function secondsOf(keepAlive: string): number | null {
  const seconds = /(?:^|[\s,;])timeout\s*=\s*(\d{1,9})/i.exec(keepAlive)?.[1];
  return seconds === undefined ? null : Number(seconds);
}
