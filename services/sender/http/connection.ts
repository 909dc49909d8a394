import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import type { Clock } from '../../process/clock.ts';
import { ListNode } from '../../process/linked-list.ts';
import type { Established } from './dialler.ts';
import { isBroken } from './failure-names.ts';
import type { Carrier, HttpExchange } from './http-exchange.ts';
import { tellStatusLines } from './status-line.ts';

export interface ConnectionLimits {
  /** Header names and values of one response, bytes. */
  readonly responseHeaderBytesMax: number;
  /** An idle connection is closed after this many milliseconds. */
  readonly idleMs: number;
}

/**
 * Stops the use of an idle connection this long before the receiver's announced time-out: a request takes that long to
 * arrive.
 */
const KEEP_ALIVE_MARGIN_MS = 1000;

/**
 * One TLS connection of one merchant to one origin, with undici's HTTP/1.1 client on it. Carries one exchange at a
 * time. It is a node of the origin's list of idle connections.
 */
export class Connection<Route extends { readonly origin: { readonly url: string } }>
  extends ListNode<Connection<Route>>
  implements Carrier
{
  /** Where it leads, as the pool keeps it. */
  readonly route: Route;
  /** When opening began, milliseconds since the epoch. */
  readonly openedAt: number;
  readonly #client: Client;
  #socket: TLSSocket | null = null;
  #hasConnected = false;
  #tlsError: Error | null = null;
  /** The TLS session that it resumes. */
  #resumed: Established['resumed'] = null;
  /** The end of its age, by the monotonic clock. */
  readonly #until: number;
  #certificateUntil = Number.NEGATIVE_INFINITY;
  #exchange: Pick<HttpExchange, 'received' | 'statusLine' | 'stepped'> | null = null;
  /** Requests sent on it so far. */
  #requests = 0;
  /** Bytes received before the current exchange. */
  #bytesBefore = 0;
  /** Reads during the current exchange. */
  #pieces = 0;

  /** `open` is called once, for the first request, and calls back when the receiver has answered a step. `onClosed` is called when the established connection has closed. */
  constructor(
    route: Route,
    limits: ConnectionLimits,
    life: { readonly from: number; readonly until: number },
    open: (stepped: () => void) => Promise<Established>,
    onClosed: (connection: Connection<Route>) => void,
  ) {
    super();
    this.route = route;
    this.openedAt = life.from;
    this.#until = life.until;
    this.#client = new Client(route.origin.url, {
      pipelining: 1,
      allowH2: false,
      // The transport's own deadline covers the whole exchange; these two would not stop a slowly dripping response.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: limits.idleMs,
      keepAliveMaxTimeout: limits.idleMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      maxHeaderSize: limits.responseHeaderBytesMax,
      connect: (_, callback) => this.#connect(open, callback),
    });
    this.#client.on('disconnect', () => onClosed(this));
  }

  /**
   * Sends the request as soon as the connection is established. `isLast`: asks the receiver to close the connection
   * after it.
   */
  carry(exchange: HttpExchange<Connection<Route>>, isLast: boolean): void {
    this.#exchange = exchange;
    this.#requests += 1;
    this.#pieces = 0;
    this.#bytesBefore = this.#socket?.bytesRead ?? 0;
    const { path, headers, body } = exchange.request;
    this.#client.dispatch({ path, method: 'POST', headers, body, reset: isLast }, exchange);
  }

  /** Its exchange has ended. */
  rest(): void {
    this.#exchange = null;
  }

  /** Returns whether it can carry another request: it is open, and neither it nor its certificate is too old. */
  isUsable(clock: Clock): boolean {
    if (this.#socket === null || this.#socket.destroyed) return false;
    return clock.now() < this.#until && clock.system(clock.wall()) < this.#certificateUntil;
  }

  get tlsError(): Error | null {
    return this.#tlsError;
  }

  endedUnanswered(isSent: boolean, error: Error): boolean {
    const isFirst = this.#requests === 1;
    // TLS may break after it was established, too, when a receiver cannot go on with a session.
    if (isFirst ? this.#resumed === null : !isBroken(error)) return false;
    const isUnanswered = !isSent || (this.#socket?.bytesRead ?? 0) === this.#bytesBefore;
    if (isFirst && isUnanswered) this.#resumed?.refuse();
    return isUnanswered;
  }

  /** Closes at once. A running exchange receives an error. */
  close(): void {
    // A session with which no first request was answered is doubted.
    if (this.#requests === 1 && this.#socket?.bytesRead === 0) this.#resumed?.forget();
    this.#client.destroy(null, () => {});
  }

  /**
   * undici reconnects when a connection closed before a request was written: refused, because the pool opens a new
   * one.
   */
  #connect(
    open: (stepped: () => void) => Promise<Established>,
    callback: (...result: [null, Socket] | [Error, null]) => void,
  ): void {
    if (this.#hasConnected) {
      callback(new ClosedBeforeSending(), null);
      return;
    }
    this.#hasConnected = true;
    const stepped = () => this.#exchange?.stepped();
    open(stepped).then(
      ({ socket, certificateUntil, resumed, answered }) => {
        stepped();
        this.#socket = socket;
        socket.on('error', (error: Error & { code?: string }) => {
          if (error.code?.startsWith('ERR_SSL')) this.#tlsError ??= error;
        });
        this.#resumed = resumed;
        this.#certificateUntil = certificateUntil;
        callback(null, socket);
        if (!socket.destroyed) tellStatusLines(socket, (status) => this.#exchange?.statusLine(status));
        // Registered after undici's own listener: a piece is counted once it is parsed.
        socket.on('readable', () => {
          if (socket.bytesRead > 0) answered();
          this.#counted(socket);
        });
      },
      (error: Error) => callback(error, null),
    );
  }

  #counted(socket: TLSSocket): void {
    this.#pieces += 1;
    this.#exchange?.received(this.#pieces, socket.bytesRead - this.#bytesBefore);
  }
}

/** The receiver closed the connection before any of the request was written to it. */
class ClosedBeforeSending extends Error {
  override readonly name = 'ClosedBeforeSending';
  readonly code = 'ECONNRESET';

  constructor() {
    super('the receiver closed the connection before the request was sent');
  }
}
