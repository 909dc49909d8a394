import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { freePort } from '../../../scripts/free-ports.ts';

/** How an endpoint fails: it accepts requests and never responds, refuses connections, or responds with 503. */
export const FAILURES = ['hang', 'refuse', '503'] as const;
export type Failure = (typeof FAILURES)[number];

/** A request that got a 200. */
export interface Delivered {
  readonly eventId: string;
  readonly attempt: number;
  /** Milliseconds since the epoch when the request was complete. */
  readonly at: number;
}

/** An HTTPS receiver that fails on demand, and recovers. Requests that hang when it recovers never get a response. */
export class FailingReceiver {
  readonly delivered: Delivered[] = [];
  /** Requests that got a 503 or no response; refused connections are not counted. */
  failed = 0;
  inFlightMost = 0;
  #inFlight = 0;
  readonly #sockets = new Set<Duplex>();
  #failure: Failure | null = null;
  readonly #certificate: { readonly certPem: string; readonly keyPem: string };
  readonly #answerMs: number;
  #server: Server;
  #port: number | null = null;

  constructor(certificate: { readonly certPem: string; readonly keyPem: string }, answerMs = 0) {
    this.#certificate = certificate;
    this.#answerMs = answerMs;
    this.#server = this.#make();
  }

  get url(): string {
    return `https://localhost:${this.#port}`;
  }

  async start(): Promise<this> {
    this.#port ??= await freePort();
    const port = this.#port;
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return this;
  }

  async fail(failure: Failure): Promise<void> {
    this.#failure = failure;
    if (failure === 'refuse') await this.close();
  }

  async recover(): Promise<void> {
    const wasRefusing = this.#failure === 'refuse';
    this.#failure = null;
    if (!wasRefusing) return;
    this.#server = this.#make();
    await this.start();
  }

  close(): Promise<void> {
    return new Promise((closed) => {
      this.#server.close(() => closed());
      // Also connections in the middle of a TLS handshake, which the server does not count.
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  #make(): Server {
    const { certPem: cert, keyPem: key } = this.#certificate;
    const server = createServer({ cert, key }, (request, response) => {
      this.#inFlight += 1;
      this.inFlightMost = Math.max(this.inFlightMost, this.#inFlight);
      response.once('close', () => {
        this.#inFlight -= 1;
      });
      request.resume();
      request.once('end', () => {
        const header = (name: string) => String(request.headers[name] ?? '');
        this.#answer(response, {
          eventId: header('webhook-id'),
          attempt: Number(header('webhook-attempt')),
          at: Date.now(),
        });
      });
    });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    return server;
  }

  #answer(response: ServerResponse, request: Delivered): void {
    if (this.#failure !== null) this.failed += 1;
    if (this.#failure === 'hang') return;
    if (this.#failure === '503') {
      response.writeHead(503).end();
      return;
    }
    this.delivered.push(request);
    if (this.#answerMs === 0) response.writeHead(200).end();
    else setTimeout(() => response.writeHead(200).end(), this.#answerMs);
  }
}
