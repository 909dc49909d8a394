import type { Dispatcher } from 'undici';
import type { Exchange, FailureCode } from '../../domain/attempt.ts';
import type { Activity } from '../../watchdog/activity.ts';
import type { Deadline, Deadlines, ReceiverTime } from '../blame/blame.ts';
import { ConnectFailure, type ConnectFailureFacts } from './connect-failure.ts';
import { brokenExchange, decidedBy, NEVER_SENT, ORIGIN_BUSY } from './failure-names.ts';
import type { SearchAllowance } from './masking/secret-search.ts';
import type { Pace } from './pace.ts';
import {
  BODY_READ_BYTES_MAX,
  HEAD_WIRE_BYTES_MAX,
  HEADER_LINES_MAX,
  INTERIM_MAX,
  PIECES_MAX,
  READ_ON_MS_MAX,
  WIRE_BYTES_MAX,
} from './response-limits.ts';
import { ResponseLog } from './response-log.ts';
import type { Posted, WebhookRequest } from './webhook-request.ts';

/** The connection of an exchange. */
export interface Carrier {
  /** Whether it closed before this exchange's response because of what was kept of earlier ones. `isSent`: the request was written. */
  endedUnanswered(isSent: boolean, error: Error): boolean;
  /** The TLS error that ended it. undici reports only that the connection closed, where a close follows an alert. */
  readonly tlsError: Error | null;
}

/** Notified when an exchange is over, before its caller is. */
export interface ExchangeOwner<On extends Carrier> {
  readonly activity: Activity;
  /** The total time of each exchange. */
  readonly timeOuts: Deadlines<HttpExchange<On>>;
  /** The end of reading a decided response, unless more arrives. */
  readonly pauses: Deadlines<HttpExchange<On>>;
  now(): number;
  /** Returns the time of an exchange that no lane has started. */
  ownTime(): ReceiverTime;
  /** `isReusable`: the response was complete, so the connection may carry the next request. */
  ended(exchange: HttpExchange<On>, isReusable: boolean): void;
  /** Its connection, used before, closed before the first byte of a response: send it once more, on a fresh one. */
  sendAgain(exchange: HttpExchange<On>): void;
  /** Searches a long response for the secret, now or in a later turn of the event loop. */
  searchInTurn(search: () => void): void;
  /** Returns how much of a response to this merchant may be searched for the secret. */
  searchAllowanceOf(merchantId: string): SearchAllowance;
}

/**
 * One request and its response, as undici's handler: no streams, no promise and no AbortSignal per request. Ends
 * exactly once. The final status line decides. The rest is read for the log: while it arrives, the attempt holds neither
 * its endpoint's window nor time of its receiver.
 *
 *     new ─ no connection left ──► held ─ its turn ──► carried ─ connected ──► sent
 *     new ─ a connection, free or new ───────────────► carried
 *     sent ─ the connection closed without a byte, used before ──► carried: once more, on a new one
 *     sent ─ interim status ──► sent; the 17th ends it
 *     sent ─ final status ──► decided ─ its end, nothing for 100 ms, a second, too much of it ──► over
 *     any ─ time-out, broken connection, our stop ──► over; one that is decided, by its status
 */
export class HttpExchange<On extends Carrier = Carrier> implements Dispatcher.DispatchHandler {
  readonly request: WebhookRequest;
  readonly time: ReceiverTime;
  /** When its total time ends. */
  readonly deadline: Deadline<HttpExchange<On>>;
  /** When reading the rest of a decided response ends, unless more arrives. */
  #pause: Deadline<HttpExchange<On>> | null = null;
  readonly #owner: ExchangeOwner<On>;
  readonly #pace: Pace | undefined;
  readonly #done: (posted: Posted) => void;
  #connection: On | null = null;
  #isSlow: boolean;
  /** Of the final response, from its status line on. */
  #log: ResponseLog | null = null;
  #isHeadRead = false;
  /** When the status had arrived, and not the whole response; null = not so. */
  #decidedAt: number | null = null;
  #bodyPieces = 0;
  #interim = 0;
  #isSent = false;
  #hasAnswered = false;
  /** The response is complete, and is searched for the secret. */
  #isDeciding = false;
  #isOver = false;

  constructor(
    request: WebhookRequest,
    pace: Pace | undefined,
    owner: ExchangeOwner<On>,
    done: (posted: Posted) => void,
  ) {
    this.request = request;
    this.#isSlow = pace?.isSlow ?? false;
    this.time = pace?.time ?? owner.ownTime();
    this.#pace = pace;
    this.#owner = owner;
    this.#done = done;
    this.deadline = owner.timeOuts.add(this, owner.now());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The connection that carries it, if any. */
  get connection(): On | null {
    return this.#connection;
  }

  /** It counts among the slow ones of its origin. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  turnSlow(): void {
    this.#isSlow = true;
  }

  /** The pool has given it a connection, which may have to be opened first. */
  carriedBy(connection: On): void {
    this.#connection = connection;
    this.time.carried();
  }

  /** Returns the connection that carried it, which is free now. */
  putDown(): On | null {
    const connection = this.#connection;
    this.#connection = null;
    return connection;
  }

  /** The total time has ended: anything not received counts as missing. */
  timeOut(): void {
    if (!this.#connection) this.#finish(NEVER_SENT, false, ORIGIN_BUSY);
    else if (this.#interim > 0) this.#end('http_1xx', 'only interim responses came in time');
    else if (this.#isSent) this.#end('response_timeout', 'no complete response in time');
    else this.#end('connect_timeout', 'no connection in time');
  }

  /** Our own shutdown. Received headers still count. */
  interrupt(): void {
    if (this.#log) this.#endByStatus('hookrail was stopped while it was read');
    else this.#finish({ kind: 'interrupted' }, false);
  }

  /** The receiver has answered a step of a new connection, and the next one is sent. */
  stepped(): void {
    if (!this.#isOver) this.time.stepped();
  }

  /** Its connection is established. */
  onRequestStart(): void {
    this.#isSent = true;
  }

  /** A status line has arrived. The final one decides, whatever follows it. */
  statusLine(status: number): void {
    if (!this.#isOver && status >= 200) this.#logOf(status);
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
      this.#isHeadRead = true;
      this.#logOf(status).addHeaders(raw);
    }
  }

  #logOf(status: number): ResponseLog {
    const { mask, merchantId } = this.request;
    this.#log ??= new ResponseLog(status, mask, this.#owner.searchAllowanceOf(merchantId));
    return this.#log;
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    this.#labelled(() => this.#keepBody(bytes));
  }

  #keepBody(bytes: Buffer): void {
    this.#bodyPieces += 1;
    this.#log?.addBody(bytes);
    const bodyBytes = this.#log?.bodyBytes ?? 0;
    if (bodyBytes > BODY_READ_BYTES_MAX || this.#bodyPieces > PIECES_MAX)
      this.#endByStatus('the body is too long to be read whole');
  }

  onResponseEnd(): void {
    this.#endByStatus(null);
  }

  /** Takes the pieces and bytes received so far. Ends the exchange when its response has become too expensive. */
  received(pieces: number, bytes: number): void {
    if (this.#isOver) return;
    if (pieces > PIECES_MAX)
      this.#end('protocol_error', `the response head came in more than ${PIECES_MAX} pieces`);
    else if (!this.#isHeadRead && bytes > HEAD_WIRE_BYTES_MAX)
      this.#end('headers_too_large', 'the response head is too large');
    else if (bytes > WIRE_BYTES_MAX) this.#endByStatus('the response is too long to be read whole');
    else if (this.#log) this.#readOn(this.#log);
  }

  #readOn(log: ResponseLog): void {
    const now = this.#owner.now();
    this.#decidedAt ??= now;
    this.time.answered();
    if (this.#isHeadRead) this.#answered(log);
    if (this.#pause) this.#owner.pauses.remove(this.#pause);
    this.#pause = this.#owner.pauses.add(this, now);
    if (now - this.#decidedAt >= READ_ON_MS_MAX) this.readEnough();
  }

  /** The lanes go on without the rest. Later, because they may start attempts, and undici is reading this connection. */
  #answered({ status, retryAfterSeconds }: ResponseLog): void {
    const pace = this.#pace;
    if (!pace || this.#hasAnswered) return;
    this.#hasAnswered = true;
    const receiverMs = this.time.receiverMs;
    queueMicrotask(() => pace.answered({ status, retryAfterSeconds, receiverMs }));
  }

  /** The rest of the response takes too long: it is only for the log. */
  readEnough(): void {
    this.#endByStatus('the response did not end in time');
  }

  /** Its connection could not be established, or broke. */
  onResponseError(_: unknown, error: Error & { code?: string }): void {
    if (this.#isOver) return;
    if (error instanceof ConnectFailure && !this.#log) {
      const { failureCode, message, facts } = error;
      this.#finish({ kind: 'failed', failureCode, detail: message, response: null }, false, facts);
    } else if (this.#connection?.endedUnanswered(this.#isSent, error)) {
      // Only once: the fresh connection has carried nothing before.
      this.#isSent = false;
      this.#owner.sendAgain(this);
    } else {
      const { failureCode, detail } = brokenExchange(this.#connection?.tlsError ?? error, this.#interim > 0);
      this.#end(failureCode, detail);
    }
  }

  /** The exchange broke off: a failure, unless the final status was received. */
  #end(failureCode: FailureCode, detail: string): void {
    if (this.#log) this.#endByStatus(detail);
    else this.#finish({ kind: 'failed', failureCode, detail, response: null }, false);
  }

  /** `fault`: why the connection cannot carry another request; null = it can. */
  #endByStatus(fault: string | null): void {
    const log = this.#log;
    if (this.#isOver || this.#isDeciding || !log) return;
    this.#isDeciding = true;
    this.#decidedAt ??= this.#owner.now();
    // What follows is our own time.
    this.time.answered();
    const decide = () => this.#labelled(() => this.#finish(decidedBy(log.kept(), fault), fault === null));
    if (log.isLong) {
      this.#answered(log);
      this.#owner.searchInTurn(decide);
    } else decide();
  }

  #finish(exchange: Exchange, isReusable: boolean, facts: ConnectFailureFacts = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.time.answered();
    this.#owner.timeOuts.remove(this.deadline);
    if (this.#pause) this.#owner.pauses.remove(this.#pause);
    this.#owner.ended(this, isReusable);
    const posted: Posted = {
      exchange,
      retryAfterSeconds: this.#log?.retryAfterSeconds ?? null,
      blockedBy: facts.blockedBy ?? null,
      sign: facts.sign ?? 'reached',
      ownFault: facts.ownFault ?? null,
      endedAt: this.#decidedAt ?? this.#owner.now(),
      receiverMs: this.time.receiverMs,
    };
    // Later, because undici is reading this connection, and its owner may send on it.
    queueMicrotask(() => this.#done(posted));
  }

  /** Foreign bytes are only looked at under the attempt's label. */
  #labelled(work: () => void): void {
    const { label } = this.request;
    if (label === undefined) work();
    else this.#owner.activity.within(label, work);
  }
}
