import type { TLSSocket } from 'node:tls';
import type { HttpExchange, WebhookRequest } from './http-exchange.ts';
import { NOT_IN_VALUE, ResponseFault, type ResponseLimits, ResponseReader } from './response-reader.ts';

/** How long before the receiver would close an idle connection we stop using it, milliseconds: a request is on its way so long. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/**
 * One TLS connection that carries one exchange at a time: HTTP/1.1, POST only. Made before it is established, so that
 * nothing the receiver says is missed; bytes come without a stream between them and this.
 */
export class Connection {
  readonly #reader: ResponseReader;
  readonly #onClosed: () => void;
  #socket: TLSSocket | null = null;
  #exchange: HttpExchange | null = null;
  #isClosed = false;

  /** `onClosed` is called once. */
  constructor(limits: ResponseLimits, onClosed: () => void) {
    this.#reader = new ResponseReader(limits);
    this.#onClosed = onClosed;
  }

  /** It is established: what waits for it is sent. */
  established(socket: TLSSocket): void {
    this.#socket = socket;
    socket.on('error', (error: Error) => this.failed(error));
    socket.on('end', () => this.#ended());
    socket.on('close', () => this.failed(null));
    if (this.#isClosed) socket.destroy();
    else if (this.#exchange) this.#send(socket, this.#exchange);
  }

  /** Sends the request as soon as it can. The exchange hears of its response, or that there is none. */
  carry(exchange: HttpExchange): void {
    this.#exchange = exchange;
    if (this.#socket) this.#send(this.#socket, exchange);
  }

  /** What came from the receiver. */
  received(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Nobody asked for it: an answer to the next request would not be told from it.
    if (!exchange || !this.#socket) {
      this.failed(new ResponseFault('protocol_error', UNASKED));
      return;
    }
    try {
      if (this.#reader.read(bytes, exchange) === 'more' || exchange.isOver) return;
    } catch (error) {
      this.failed(error as Error);
      return;
    }
    this.#exchange = null;
    exchange.onComplete(this.#reader.isReusable);
  }

  /** How long it may be idle before the receiver closes it, milliseconds; null: the receiver has not said. */
  get idleMsMax(): number | null {
    const seconds = this.#reader.keepAliveSeconds;
    return seconds === null ? null : Math.max(0, seconds * 1000 - KEEP_ALIVE_MARGIN_MS);
  }

  /** It could not be established, broke, or (null) was closed by the receiver. */
  failed(error: Error | null): void {
    const exchange = this.#exchange;
    this.close();
    exchange?.onError(error);
  }

  /** Closes at once. The exchange is told nothing. */
  close(): void {
    this.#exchange = null;
    this.#reader.stop();
    this.#socket?.destroy();
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClosed();
  }

  #send(socket: TLSSocket, exchange: HttpExchange): void {
    this.#reader.expect();
    try {
      socket.write(messageOf(exchange.request));
      exchange.onSent();
    } catch (error) {
      this.failed(error as Error);
    }
  }

  #ended(): void {
    const exchange = this.#exchange;
    if (!exchange || !this.#reader.endsHere()) {
      this.failed(null);
      return;
    }
    this.#exchange = null;
    exchange.onComplete(false);
  }
}

const SCHEME = 'https://';
const UNASKED = 'the receiver spoke before it was asked';

/** The request as it is sent (RFC 9112 section 3). Throws when a header would not be one line. */
function messageOf({ origin, path, headers, body }: WebhookRequest): Buffer {
  const host = origin.slice(SCHEME.length);
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const value = headers[i + 1] as string;
    if (NOT_IN_VALUE.test(value))
      throw new Error(`the header ${headers[i]} cannot be sent: it is not one line of text`);
    head += `${headers[i]}: ${value}\r\n`;
  }
  head += `content-length: ${body.length}\r\n\r\n`;
  const message = Buffer.allocUnsafe(head.length + body.length);
  message.write(head, 0, 'latin1');
  message.set(body, head.length);
  return message;
}
