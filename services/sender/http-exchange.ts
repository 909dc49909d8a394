import type { Dispatcher } from 'undici';
import {
  type Exchange,
  type FailureCode,
  RESPONSE_BODY_KEPT_BYTES,
  type ResponseKept,
} from '../domain/attempt.ts';
import { ConnectFailure, type ConnectFailureFacts } from './connect-failure.ts';
import type { Carrier } from './connection-pool.ts';
import type { Deadline } from './deadlines.ts';

/** A body is read up to here so that the connection can be used again; a longer one ends the connection. */
const BODY_READ_BYTES_MAX = 64 * 1024;
/** At most this much of the response's headers is kept for the log. */
const HEADERS_KEPT_BYTES_MAX = 8 * 1024;
/** More header lines than this are an attack, whatever their size. Names and values in turn: two entries each. */
const HEADER_LINES_MAX = 256;
/** Interim answers (1xx) before the real one. Endless ones would otherwise use the time-out up. */
const INTERIM_MAX = 16;

/** A webhook request, ready to be sent. */
export interface WebhookRequest {
  /** `https://host[:port]`. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Uint8Array;
}

/** How a request ended. */
export interface Posted {
  readonly exchange: Exchange;
  /** Retry-After in seconds, when the receiver sent one as a number. */
  readonly retryAfterSeconds: number | null;
  /** Which rule of the address guard refused, or null. */
  readonly blockedBy: string | null;
  /** Nothing came back from the network at all. */
  readonly isSilent: boolean;
  /** This machine could not even try: not the receiver's failure. */
  readonly isOurs: boolean;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

/** Who is told that an exchange is over, before its promise is resolved. */
export interface ExchangeOwner {
  now(): number;
  /** `isReusable`: the response came whole, so the connection may carry the next request. */
  ended(exchange: HttpExchange, isReusable: boolean): void;
}

/**
 * One request and its response, as undici's own handler: no streams, no promise and no AbortSignal per request.
 * Ends exactly once. What decides is the final status line and headers; a body that is cut off,
 * too long or slow changes nothing (decisions §2: the body is ignored).
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly request: WebhookRequest;
  /** The connection that carries it, while there is one. The pool writes it. */
  carrier: Carrier | null = null;
  /** It takes long, or its endpoint did of late. The pool writes it. */
  isSlow: boolean;
  /** When its total time is over. The transport writes it, and the next. */
  deadline: Deadline<HttpExchange> | null = null;
  /** When it takes long. */
  slowness: Deadline<HttpExchange> | null = null;
  readonly #owner: ExchangeOwner;
  readonly #resolve: (posted: Posted) => void;
  #status = 0;
  #headers: [string, string][] = [];
  #retryAfterSeconds: number | null = null;
  #chunks: Buffer[] | null = null;
  #bodyBytes = 0;
  #interim = 0;
  #isSent = false;
  #isOver = false;

  constructor(
    request: WebhookRequest,
    isSlow: boolean,
    owner: ExchangeOwner,
    resolve: (posted: Posted) => void,
  ) {
    this.request = request;
    this.isSlow = isSlow;
    this.#owner = owner;
    this.#resolve = resolve;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The total time is over: whatever has not come counts as missing. */
  timeOut(): void {
    if (!this.carrier) this.#finish(NEVER_SENT, false, { isOurs: true });
    else if (this.#interim > 0) this.#end('http_1xx', 'only interim responses came in time');
    else if (this.#isSent) this.#end('response_timeout', 'no complete response in time');
    else this.#end('connect_timeout', 'no connection in time');
  }

  /** Our own shutdown. A response whose headers came is a result all the same. */
  interrupt(): void {
    if (this.#status >= 200) this.#endByStatus(false);
    else this.#finish({ kind: 'interrupted' }, false);
  }

  onConnect(): void {
    this.#isSent = true;
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (this.#isOver) return true;
    if (raw.length > 2 * HEADER_LINES_MAX) {
      this.#end('headers_too_large', `more than ${HEADER_LINES_MAX} header lines`);
    } else if (status < 200) {
      this.#interim += 1;
      if (this.#interim > INTERIM_MAX) this.#end('http_1xx', `more than ${INTERIM_MAX} interim responses`);
    } else {
      this.#status = status;
      this.#keepHeaders(raw);
    }
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    const room = RESPONSE_BODY_KEPT_BYTES - this.#bodyBytes;
    this.#bodyBytes += chunk.length;
    if (room > 0) {
      // A copy: the chunk is a window into the socket's buffer, which must not be kept alive by the log.
      const kept = Buffer.from(chunk.subarray(0, room));
      if (this.#chunks) this.#chunks.push(kept);
      else this.#chunks = [kept];
    }
    if (this.#bodyBytes > BODY_READ_BYTES_MAX) this.#endByStatus(false);
    return true;
  }

  onComplete(): void {
    this.#endByStatus(true);
  }

  onError(error: Error & { code?: string }): void {
    if (this.#isOver) return;
    if (error instanceof ConnectFailure && this.#status < 200) {
      const { failureCode, message, facts } = error;
      this.#finish({ kind: 'failed', failureCode, detail: message, response: null }, false, facts);
    } else {
      const { failureCode, detail } = brokenExchange(error, this.#interim > 0);
      this.#end(failureCode, detail);
    }
  }

  /** The exchange broke off: a failure, unless the final status had come. */
  #end(failureCode: FailureCode, detail: string): void {
    if (this.#status >= 200) this.#endByStatus(false);
    else this.#finish({ kind: 'failed', failureCode, detail, response: null }, false);
  }

  #endByStatus(isReusable: boolean): void {
    if (this.#isOver) return;
    const response = this.#response();
    const failureCode = failureCodeOf(this.#status);
    const detail = `HTTP ${this.#status}`;
    const exchange: Exchange =
      failureCode === null
        ? { kind: 'acknowledged', response }
        : { kind: 'failed', failureCode, detail, response };
    this.#finish(exchange, isReusable);
  }

  #finish(exchange: Exchange, isReusable: boolean, facts: ConnectFailureFacts = NO_FACTS): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.ended(this, isReusable);
    this.#resolve({
      exchange,
      retryAfterSeconds: this.#retryAfterSeconds,
      blockedBy: facts.blockedBy ?? null,
      isSilent: facts.isSilent ?? false,
      isOurs: facts.isOurs ?? false,
      endedAt: this.#owner.now(),
    });
  }

  #keepHeaders(raw: Buffer[]): void {
    let room = HEADERS_KEPT_BYTES_MAX;
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = (raw[i] as Buffer).toString('latin1').toLowerCase();
      const value = (raw[i + 1] as Buffer).toString('latin1');
      if (name === 'retry-after' && /^\d{1,9}$/.test(value)) this.#retryAfterSeconds = Number(value);
      room -= name.length + value.length;
      if (room < 0) return;
      this.#headers.push([name, value]);
    }
  }

  #response(): ResponseKept {
    const chunks = this.#chunks;
    let body: Buffer = NO_BYTES;
    if (chunks) body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    return {
      status: this.#status,
      headers: this.#headers,
      body,
      bodyTruncated: this.#bodyBytes > body.length,
    };
  }
}

/** It waited for a connection until it was too late: others to its origin had all that there may be. */
const NEVER_SENT: Exchange = {
  kind: 'failed',
  failureCode: 'connect_timeout',
  detail: 'no connection to the origin became free in time',
  response: null,
};
const NO_BYTES = Buffer.alloc(0);
const NO_FACTS: ConnectFailureFacts = {};

/** The failure that a final status is, or null for an acknowledgement (specification 6.1: any 2xx). */
function failureCodeOf(status: number): FailureCode | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return 'http_3xx';
  if (status === 410) return 'endpoint_gone';
  if (status >= 400 && status < 500) return 'http_4xx';
  if (status >= 500 && status < 600) return 'http_5xx';
  return 'protocol_error';
}

/** Names what broke a connection whose TLS was established, before a final status had come. */
function brokenExchange(
  error: Error & { code?: string },
  isInterim: boolean,
): { failureCode: FailureCode; detail: string } {
  const code = error.code ?? '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { failureCode: 'headers_too_large', detail: 'the response headers are too large' };
  }
  // undici's words for a 100 and a 101 that nobody asked for.
  if (code === 'UND_ERR_SOCKET' && (error.message === 'bad response' || error.message === 'bad upgrade')) {
    return { failureCode: 'http_1xx', detail: 'the response is a 100 or 101 that was not asked for' };
  }
  if (code === 'UND_ERR_SOCKET' && isInterim) {
    return { failureCode: 'http_1xx', detail: 'the connection closed after interim responses' };
  }
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT') {
    return { failureCode: 'connection_reset', detail: 'the connection closed before a complete response' };
  }
  if (code.startsWith('ERR_SSL')) return { failureCode: 'tls_error', detail: `TLS failed: ${code}` };
  return { failureCode: 'protocol_error', detail: error.message.slice(0, 200) };
}
