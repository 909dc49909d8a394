import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { ANSWERS, type Behaviour } from './behaviours.ts';
import { type Verdict, verifyRequest } from './verification.ts';

/** A receiver's record of one request. */
export interface Arrival {
  /** 1, 2, … in the order of arrival. */
  readonly number: number;
  /** Milliseconds since the epoch, when the whole body was there. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** null when the receiver has no secret for the endpoint. */
  readonly verdict: Verdict | null;
  /** `refused`: it was not authentic, and got 401. */
  readonly answered: Behaviour | 'refused';
}

export type SecretSource = string | ((endpointId: string) => string | undefined);

export interface ReceiverOptions {
  /** 0 = any free port. */
  readonly port: number;
  /** Address to listen on. Default 127.0.0.1: only this machine. */
  readonly host?: string;
  readonly cert: string;
  readonly key: string;
  /** One secret for all, or by the webhook-endpoint-id header. Without one nothing is verified. */
  readonly secret?: SecretSource;
  /** Answers 401 to a request that is not authentic, as a merchant must. Default false: it is only noted. */
  readonly refuses?: boolean;
  /** Default ok. */
  readonly behaviour?: Behaviour;
  /** Milliseconds before the response begins. */
  readonly delayMs?: number;
  /** 0 … 1: this share of the attempts gets a 500, chosen by the seed, the delivery and the attempt. */
  readonly failRate?: number;
  readonly seed?: string;
  /** This many first attempts of each delivery get a 500. */
  readonly failFirst?: number;
  /** The number of arrivals kept in `arrivals`, the newest. Default 10,000. */
  readonly keepMax?: number;
  /** Called after the body was read and before the response begins. */
  readonly onArrival?: (arrival: Arrival) => void;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** The newest, oldest first. */
  readonly arrivals: readonly Arrival[];
  setSecret(secret: SecretSource | undefined): void;
  setBehaviour(behaviour: Behaviour): void;
  /** Cuts every connection; complete when it resolves. */
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 1024 * 1024;
const KEEP_MAX_DEFAULT = 10_000;
const DELIVERIES_COUNTED_MAX = 100_000;

/**
 * Starts an HTTPS receiver that checks every webhook as a merchant should, and responds as configured. Rejects with the
 * system's error when it cannot listen (EADDRINUSE and the like).
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const state = new ReceiverState(options);
  const server = createServer({ cert: options.cert, key: options.key, minVersion: 'TLSv1.2' });
  server.on('request', (request, response) => state.take(request, response));
  // A client that hangs up or does not speak TLS is not a fault of the receiver, which continues.
  server.on('tlsClientError', () => {});
  server.on('clientError', (_, socket) => socket.destroy());
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return {
    url: `https://${shown}:${port}/`,
    port,
    arrivals: state.arrivals,
    setSecret: (secret) => {
      state.secret = secret;
    },
    setBehaviour: (behaviour) => {
      state.behaviour = behaviour;
    },
    close: () =>
      new Promise((resolve) => {
        state.cancelDelays();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class ReceiverState {
  readonly arrivals: Arrival[] = [];
  secret: SecretSource | undefined;
  behaviour: Behaviour;
  readonly #options: ReceiverOptions;
  readonly #delays = new Set<NodeJS.Timeout>();
  /** Requests seen per delivery, counted for --fail-first. The oldest deliveries are forgotten. */
  readonly #seen = new Map<string, number>();
  #count = 0;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.secret = options.secret;
    this.behaviour = options.behaviour ?? 'ok';
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    let size = 0;
    // Without listeners a broken connection would end the process.
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_BYTES_MAX) chunks.push(chunk);
    });
    request.on('end', () => {
      if (size > BODY_BYTES_MAX) response.writeHead(413).end();
      else this.#answer(request, response, Buffer.concat(chunks));
    });
  }

  cancelDelays(): void {
    for (const timer of this.#delays) clearTimeout(timer);
    this.#delays.clear();
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const arrival = this.#note(request, body);
    this.#options.onArrival?.(arrival);
    const answer = () => {
      if (arrival.answered === 'refused') response.writeHead(401, { 'content-length': 0 }).end();
      else ANSWERS[arrival.answered](request, response);
    };
    const delayMs = this.#options.delayMs ?? 0;
    if (delayMs === 0) {
      answer();
      return;
    }
    const timer = setTimeout(() => {
      this.#delays.delete(timer);
      if (!request.socket.destroyed) answer();
    }, delayMs);
    this.#delays.add(timer);
  }

  #note(request: IncomingMessage, body: Buffer): Arrival {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    const at = Date.now();
    this.#count += 1;
    const verdict = this.#verdict(headers, body, at);
    const refused = this.#options.refuses === true && verdict?.authentic === false;
    const arrival: Arrival = {
      number: this.#count,
      at,
      method: request.method ?? '',
      path: request.url ?? '/',
      headers,
      body,
      verdict,
      answered: refused ? 'refused' : this.#choose(headers),
    };
    this.arrivals.push(arrival);
    const keepMax = this.#options.keepMax ?? KEEP_MAX_DEFAULT;
    // Dropped by halves, so that a long run does not move the whole array for every request.
    if (this.arrivals.length > 2 * keepMax) this.arrivals.splice(0, this.arrivals.length - keepMax);
    return arrival;
  }

  #verdict(headers: Record<string, string>, body: Buffer, at: number): Verdict | null {
    const { secret } = this;
    const known = typeof secret === 'function' ? secret(headers['webhook-endpoint-id'] ?? '') : secret;
    return known === undefined ? null : verifyRequest({ headers, body }, known, at / 1000);
  }

  #choose(headers: Record<string, string>): Behaviour {
    const delivery = headers['webhook-delivery-id'] ?? headers['webhook-id'] ?? '';
    const { failFirst = 0, failRate = 0, seed = '' } = this.#options;
    if (failFirst > 0 && this.#countOf(delivery) <= failFirst) return '500';
    const attempt = headers['webhook-attempt'] ?? String(this.#count);
    if (failRate > 0 && fraction(`${seed}/${delivery}/${attempt}`) < failRate) return '500';
    return this.behaviour;
  }

  #countOf(delivery: string): number {
    const count = (this.#seen.get(delivery) ?? 0) + 1;
    this.#seen.delete(delivery);
    this.#seen.set(delivery, count);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > DELIVERIES_COUNTED_MAX && oldest !== undefined) this.#seen.delete(oldest);
    return count;
  }
}

/** Returns a number in [0, 1) derived from the text alone: the same run fails the same attempts. */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
