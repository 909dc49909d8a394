/**
 * Tells of the status line of each response as soon as undici's parser has read it. undici tells of a response only when
 * its whole head is there and faultless, and takes an unasked 100 Continue for the end of the connection. Its parser
 * hangs on the socket under a symbol; see docs/library-internals.md.
 */
import type { TLSSocket } from 'node:tls';

/** undici's Parser, of which each connection has one. */
interface Parser {
  readonly ptr: number | null;
  readonly llhttp: { llhttp_get_status_code(ptr: number): number };
  execute(chunk: Buffer): void;
  onMessageBegin(): number;
  onStatus(reason: Buffer): number;
  onHeaderField(name: Buffer): number;
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number;
  createError(code: number, data: Buffer): Error;
}

const CONTINUE = 100;
/** An interim status that undici skips. */
const SKIPPED = 103;
/** llhttp's errors of the status line itself: INVALID_CONSTANT, INVALID_VERSION, INVALID_STATUS. */
const STATUS_LINE_ERRORS: readonly number[] = [8, 9, 13];

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/**
 * Calls back with the status of each status line, informational ones included, once it is complete: before the headers,
 * and also when they turn out to be faulty. `socket`: one that undici has taken over.
 */
export function tellStatusLines(socket: TLSSocket, told: (status: number) => void): void {
  const parser = parserOf(socket);
  const { createError, execute, onHeaderField, onHeadersComplete, onMessageBegin, onStatus } = parser;
  let isTold = true;
  let isInReason = false;
  let chunk: Buffer | null = null;
  const tell = () => {
    if (isTold || parser.ptr === null) return;
    isTold = true;
    told(parser.llhttp.llhttp_get_status_code(parser.ptr));
  };
  parser.onMessageBegin = () => {
    const refused = onMessageBegin.call(parser);
    // undici refuses a response to which there is no request: it is nobody's.
    isTold = refused !== 0;
    isInReason = false;
    return refused;
  };
  parser.execute = (given) => {
    if (isInReason && (given[0] === CARRIAGE_RETURN || given[0] === LINE_FEED)) tell();
    chunk = given;
    execute.call(parser, given);
    chunk = null;
  };
  parser.onStatus = (reason) => {
    // What follows the reason ends the line; the reason may go on in the next chunk.
    const end = chunk ? reason.byteOffset - chunk.byteOffset + reason.length : 0;
    if (chunk && end < chunk.length) tell();
    else isInReason = true;
    return onStatus.call(parser, reason);
  };
  parser.onHeaderField = (name) => {
    tell();
    return onHeaderField.call(parser, name);
  };
  parser.onHeadersComplete = (status, upgrade, shouldKeepAlive) => {
    tell();
    // Legal at any time: RFC 9110, section 15.2.
    const known = status === CONTINUE ? SKIPPED : status;
    return onHeadersComplete.call(parser, known, upgrade, shouldKeepAlive);
  };
  parser.createError = (code, data) => {
    if (!STATUS_LINE_ERRORS.includes(code)) tell();
    return createError.call(parser, code, data);
  };
}

function parserOf(socket: TLSSocket): Parser {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  const parser = symbol && (socket as unknown as Record<symbol, Parser | undefined>)[symbol];
  if (!parser) throw new Error('this version of undici keeps its parser elsewhere: use the pinned version');
  return parser;
}
