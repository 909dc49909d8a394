import {
  type Exchange,
  type FailureCode,
  RESPONSE_BODY_KEPT_BYTES,
  type ResponseKept,
} from '../domain/attempt.ts';
import { ConnectFailure, type ConnectFailureFacts } from './connect-failure.ts';
import type { Carrier } from './connection-pool.ts';
import type { Deadline } from './deadlines.ts';
import { ResponseFault, type ResponseListener } from './response-reader.ts';

/** A body is read up to here so that the connection can be used again; a longer one ends the connection. */
const BODY_READ_BYTES_MAX = 64 * 1024;
/** At most this much of the response's headers is kept for the log. */
const HEADERS_KEPT_BYTES_MAX = 8 * 1024;
/** RFC 9110 section 15.2.2. */
const SWITCHING_PROTOCOLS = 101;
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
 * One request and its response, which its connection tells it: no streams and no timer per request. Ends exactly once. What decides is the final status line and headers; a body that is cut off,
 * too long or slow changes nothing (decisions §2: the body is ignored).
 */
export class HttpExchange implements ResponseListener {
  readonly request: WebhookRequest;
  /** The connection that carries it, while there is one. The pool writes it. */
  carrier: Carrier | null = null;
  /** It takes long, or its endpoint did of late. The pool writes it. */
  isSlow: boolean;
  /** When its total time is over. The transport writes it. */
  deadline: Deadline<HttpExchange> | null = null;
  /** When it takes long, from when it has a connection. The pool writes it. */
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

  /** Its connection is established, and the request on its way. */
  onSent(): void {
    this.#isSent = true;
  }

  onInterim(status: number): void {
    this.#interim += 1;
    if (status === SWITCHING_PROTOCOLS) this.#end('http_1xx', 'the receiver wants another protocol (101)');
    else if (this.#interim > INTERIM_MAX) this.#end('http_1xx', `more than ${INTERIM_MAX} interim responses`);
  }

  onHead(status: number, headers: [string, string][]): void {
    this.#status = status;
    this.#keepHeaders(headers);
  }

  onBody(bytes: Buffer): void {
    const room = RESPONSE_BODY_KEPT_BYTES - this.#bodyBytes;
    this.#bodyBytes += bytes.length;
    if (room > 0) {
      // A copy: the bytes are a window into what the next ones are read into.
      const kept = Buffer.from(bytes.subarray(0, room));
      if (this.#chunks) this.#chunks.push(kept);
      else this.#chunks = [kept];
    }
    if (this.#bodyBytes > BODY_READ_BYTES_MAX) this.#endByStatus(false);
  }

  onComplete(isReusable: boolean): void {
    this.#endByStatus(isReusable);
  }

  /** Its connection failed; null: was closed. */
  onError(error: (Error & { code?: string }) | null): void {
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

  #keepHeaders(headers: [string, string][]): void {
    let room = HEADERS_KEPT_BYTES_MAX;
    let kept = 0;
    for (const [name, value] of headers) {
      if (name === 'retry-after' && /^\d{1,9}$/.test(value)) this.#retryAfterSeconds = Number(value);
      room -= name.length + value.length;
      if (room >= 0) kept += 1;
    }
    this.#headers = kept === headers.length ? headers : headers.slice(0, kept);
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
  error: (Error & { code?: string }) | null,
  isInterim: boolean,
): { failureCode: FailureCode; detail: string } {
  if (error instanceof ResponseFault) return { failureCode: error.failureCode, detail: error.message };
  const code = error?.code ?? '';
  if (code.startsWith('ERR_SSL')) return { failureCode: 'tls_error', detail: `TLS failed: ${code}` };
  if (error && !BROKEN.has(code))
    return { failureCode: 'protocol_error', detail: error.message.slice(0, 200) };
  if (isInterim) return { failureCode: 'http_1xx', detail: 'the connection closed after interim responses' };
  return { failureCode: 'connection_reset', detail: 'the connection closed before a complete response' };
}

/** The network's ways to end a connection. */
const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
