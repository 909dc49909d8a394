import type { Dispatcher } from 'undici';
import {
  type Exchange,
  type FailureCode,
  RESPONSE_BODY_KEPT_BYTES,
  type ResponseKept,
} from '../../domain/attempt.ts';
import type { Deadline } from '../../process/deadlines.ts';
import type { Activity } from '../../watchdog/activity.ts';
import { ConnectFailure, type ConnectFailureFacts } from './connect-failure.ts';
import { brokenExchange, failureCodeOf, isBroken, NEVER_SENT, ORIGIN_BUSY } from './failure-names.ts';
import type { Pace } from './pace.ts';
import { ReceiverTime, type Times } from './receiver-time.ts';
import { MASKED_BYTES_MAX } from './secret-mask.ts';
import type { Posted, WebhookRequest } from './webhook-request.ts';

/** A body is read up to here so that the connection can be reused; a longer one ends the connection. */
const BODY_READ_BYTES_MAX = 64 * 1024;
/** The secret is searched for in this much of a body: more than is kept, to find one that spans the cut. */
const BODY_MASKED_BYTES = RESPONSE_BODY_KEPT_BYTES + MASKED_BYTES_MAX;
/** At most this much of the response's headers is kept for the log. */
const HEADERS_KEPT_BYTES_MAX = 8 * 1024;
/** More header lines than this are an attack, whatever their size. Names and values in turn: two entries each. */
const HEADER_LINES_MAX = 256;
/** Interim responses (1xx) before the final one. Endless ones would use up the time-out. */
const INTERIM_MAX = 16;
/**
 * The most pieces (TLS records) of a response, and the most chunks of a body: each costs about ten microseconds of the
 * only event loop, however small it is.
 */
const PIECES_MAX = 1024;
/**
 * Bytes before the head is complete, including those that no header limit counts, such as spaces and interim heads.
 */
const HEAD_WIRE_BYTES_MAX = 64 * 1024;
/** Bytes of a whole response, framing included. */
const WIRE_BYTES_MAX = 512 * 1024;

/** The connection of an exchange. */
export interface Carrier {
  /** Whether an earlier exchange used it and it closed before this one's response. `isSent`: the request was written. */
  endedUnanswered(isSent: boolean): boolean;
}

/** Notified when an exchange is over, before its promise is resolved. */
export interface ExchangeOwner<On extends Carrier> extends Times {
  readonly activity: Activity;
  /** `isReusable`: the response was complete, so the connection may carry the next request. */
  ended(exchange: HttpExchange<On>, isReusable: boolean): void;
  /** Its connection, used before, closed before the first byte of a response: send it once more, on a fresh one. */
  sendAgain(exchange: HttpExchange<On>): void;
}

/**
 * One request and its response, as undici's handler: no streams, no promise and no AbortSignal per request. Ends
 * exactly once. The final status line and headers decide; a body that is cut off, too long or slow changes nothing.
 */
export class HttpExchange<On extends Carrier = Carrier> implements Dispatcher.DispatchHandler {
  readonly request: WebhookRequest;
  /** The connection that carries it, if any; set by the pool. */
  connection: On | null = null;
  /** Counted by the pool among the slow ones. */
  isSlow: boolean;
  /** When its total time ends; set by the transport. */
  deadline: Deadline<HttpExchange<On>> | null = null;
  readonly #owner: ExchangeOwner<On>;
  readonly #pace: Pace | undefined;
  readonly #resolve: (posted: Posted) => void;
  #status = 0;
  #headers: [string, string][] = [];
  #retryAfterSeconds: number | null = null;
  #chunks: Buffer[] | null = null;
  #bodyBytes = 0;
  #bodyPieces = 0;
  #interim = 0;
  readonly #receiver = new ReceiverTime();
  #isHeld = false;
  #isSent = false;
  #isOver = false;

  constructor(
    request: WebhookRequest,
    pace: Pace | undefined,
    owner: ExchangeOwner<On>,
    resolve: (posted: Posted) => void,
  ) {
    this.request = request;
    this.isSlow = pace?.isSlow ?? false;
    this.#pace = pace;
    this.#owner = owner;
    this.#resolve = resolve;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The total time has ended: anything not received counts as missing. */
  timeOut(): void {
    if (!this.connection) this.#finish(NEVER_SENT, false, ORIGIN_BUSY);
    else if (this.#interim > 0) this.#end('http_1xx', 'only interim responses came in time');
    else if (this.#isSent) this.#end('response_timeout', 'no complete response in time');
    else this.#end('connect_timeout', 'no connection in time');
  }

  /** Our own shutdown. Received headers still count. */
  interrupt(): void {
    if (this.#status >= 200) this.#endByStatus(false);
    else this.#finish({ kind: 'interrupted' }, false);
  }

  /** It has to wait for a connection, because its origin has reached its limit. */
  held(): void {
    this.#isHeld = true;
    this.#pace?.held();
  }

  /** The pool has given it a connection, which may have to be opened first. */
  carried(): void {
    this.#receiver.waits(this.#owner);
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#pace?.stepped();
  }

  /** The receiver has answered a step of a new connection, and the next one is sent. */
  stepped(): void {
    if (this.#isOver) return;
    this.#receiver.add(this.#owner);
    this.#receiver.waits(this.#owner);
    this.#pace?.stepped();
  }

  /** Its connection is established. */
  onRequestStart(): void {
    this.#isSent = true;
  }

  onResponseStart({ rawHeaders }: Dispatcher.DispatchController, status: number): void {
    if (this.#isOver) return;
    this.#labelled(() => this.#started(Array.isArray(rawHeaders) ? rawHeaders : [], status));
  }

  #started(raw: readonly (Buffer | string)[], status: number): void {
    if (raw.length > 2 * HEADER_LINES_MAX) {
      this.#end('headers_too_large', `more than ${HEADER_LINES_MAX} header lines`);
    } else if (status < 200) {
      this.#interim += 1;
      if (this.#interim > INTERIM_MAX) this.#end('http_1xx', `more than ${INTERIM_MAX} interim responses`);
    } else {
      this.#status = status;
      this.#keepHeaders(raw);
    }
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    this.#labelled(() => this.#keepBody(bytes));
  }

  #keepBody(bytes: Buffer): void {
    const room = BODY_MASKED_BYTES - this.#bodyBytes;
    this.#bodyBytes += bytes.length;
    this.#bodyPieces += 1;
    if (room > 0) {
      // A copy: the bytes are a window into the socket's buffer, which the log must not keep alive.
      const kept = Buffer.from(bytes.subarray(0, room));
      if (this.#chunks) this.#chunks.push(kept);
      else this.#chunks = [kept];
    }
    if (this.#bodyBytes > BODY_READ_BYTES_MAX || this.#bodyPieces > PIECES_MAX) this.#endByStatus(false);
  }

  onResponseEnd(): void {
    this.#endByStatus(true);
  }

  /** Ends the exchange when its response has become too expensive. Takes the pieces and bytes received so far. */
  received(pieces: number, bytes: number): void {
    if (this.#isOver) return;
    if (pieces > PIECES_MAX)
      this.#end('protocol_error', `the response head came in more than ${PIECES_MAX} pieces`);
    else if (this.#status < 200 && bytes > HEAD_WIRE_BYTES_MAX)
      this.#end('headers_too_large', 'the response head is too large');
    else if (bytes > WIRE_BYTES_MAX) this.#endByStatus(false);
  }

  /** Its connection could not be established, or broke. */
  onResponseError(_: unknown, error: Error & { code?: string }): void {
    if (this.#isOver) return;
    if (error instanceof ConnectFailure && this.#status < 200) {
      const { failureCode, message, facts } = error;
      this.#finish({ kind: 'failed', failureCode, detail: message, response: null }, false, facts);
    } else if (this.connection?.endedUnanswered(this.#isSent) && isBroken(error)) {
      // Only once: the fresh connection has carried nothing before.
      this.#isSent = false;
      this.#owner.sendAgain(this);
    } else {
      const { failureCode, detail } = brokenExchange(error, this.#interim > 0);
      this.#end(failureCode, detail);
    }
  }

  /** The exchange broke off: a failure, unless the final status was received. */
  #end(failureCode: FailureCode, detail: string): void {
    if (this.#status >= 200) this.#endByStatus(false);
    else this.#finish({ kind: 'failed', failureCode, detail, response: null }, false);
  }

  #endByStatus(isReusable: boolean): void {
    if (this.#isOver) return;
    this.#labelled(() => this.#decide(isReusable));
  }

  #decide(isReusable: boolean): void {
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
    this.#receiver.add(this.#owner);
    this.#owner.ended(this, isReusable);
    this.#resolve({
      exchange,
      retryAfterSeconds: this.#retryAfterSeconds,
      blockedBy: facts.blockedBy ?? null,
      sign: facts.sign ?? 'reached',
      ownFault: facts.ownFault ?? null,
      endedAt: this.#owner.now(),
      receiverMs: this.#receiver.total,
    });
  }

  /** Foreign bytes are only looked at under the attempt's label. */
  #labelled(work: () => void): void {
    const { label } = this.request;
    if (label === undefined) work();
    else this.#owner.activity.within(label, work);
  }

  #keepHeaders(raw: readonly (Buffer | string)[]): void {
    const { mask } = this.request;
    let room = HEADERS_KEPT_BYTES_MAX;
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = textOf(raw[i]).toLowerCase();
      const value = textOf(raw[i + 1]);
      if (name === 'retry-after' && /^\d{1,9}$/.test(value)) this.#retryAfterSeconds = Number(value);
      room -= name.length + value.length;
      if (room < 0) return;
      this.#headers.push(mask ? [mask.inText(name), mask.inText(value)] : [name, value]);
    }
  }

  #response(): ResponseKept {
    const chunks = this.#chunks;
    let read: Buffer = NO_BYTES;
    if (chunks) read = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    const masked = this.request.mask?.inBody(read) ?? read;
    return {
      status: this.#status,
      headers: this.#headers,
      body: masked.subarray(0, RESPONSE_BODY_KEPT_BYTES),
      bodyTruncated: this.#bodyBytes > read.length || masked.length > RESPONSE_BODY_KEPT_BYTES,
    };
  }
}

const NO_BYTES = Buffer.alloc(0);
const NO_FACTS: ConnectFailureFacts = {};

function textOf(raw: Buffer | string | undefined): string {
  return typeof raw === 'string' ? raw : (raw?.toString('latin1') ?? '');
}
