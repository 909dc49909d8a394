import { createHash } from 'node:crypto';
import type { Verdict } from '../../services/domain/verification/verification.ts';
import { ANSWERS, type Behaviour } from './behaviours.ts';
import { type CapturedExchange, type HttpsServerOptions, startHttpsServer } from './https-server.ts';
import { verifyRequest } from './verification.ts';

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

/** One behaviour for all, or chosen by the request's headers. */
export type BehaviourSource = Behaviour | ((headers: Arrival['headers']) => Behaviour);

export interface ReceiverOptions extends Omit<HttpsServerOptions, 'onRequest'> {
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
  setBehaviour(behaviour: BehaviourSource): void;
  /** Cuts every connection; complete when it resolves. */
  close(): Promise<void>;
}

const KEEP_MAX_DEFAULT = 10_000;
const DELIVERIES_COUNTED_MAX = 100_000;

/**
 * Starts an HTTPS receiver that checks every webhook as a merchant should, and responds as configured. Rejects with the
 * system's error when it cannot listen (EADDRINUSE and the like).
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const state = new ReceiverState(options);
  const server = await startHttpsServer({ ...options, onRequest: (exchange) => state.take(exchange) });
  return {
    url: server.url,
    port: server.port,
    arrivals: state.arrivals,
    setSecret: (secret) => {
      state.secret = secret;
    },
    setBehaviour: (behaviour) => {
      state.behaviour = behaviour;
    },
    close: () => {
      state.cancelDelays();
      return server.close();
    },
  };
}

class ReceiverState {
  readonly arrivals: Arrival[] = [];
  secret: SecretSource | undefined;
  behaviour: BehaviourSource;
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

  take(exchange: CapturedExchange): void {
    const { request, response } = exchange;
    const arrival = this.#note(exchange);
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

  cancelDelays(): void {
    for (const timer of this.#delays) clearTimeout(timer);
    this.#delays.clear();
  }

  #note({ request, headers, body, at }: CapturedExchange): Arrival {
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

  #verdict(headers: Arrival['headers'], body: Buffer, at: number): Verdict | null {
    const { secret } = this;
    const known = typeof secret === 'function' ? secret(headers['webhook-endpoint-id'] ?? '') : secret;
    return known === undefined ? null : verifyRequest({ headers, body }, known, at / 1000);
  }

  #choose(headers: Arrival['headers']): Behaviour {
    const delivery = headers['webhook-delivery-id'] ?? headers['webhook-id'] ?? '';
    const { failFirst = 0, failRate = 0, seed = '' } = this.#options;
    if (failFirst > 0 && this.#countOf(delivery) <= failFirst) return '500';
    const attempt = headers['webhook-attempt'] ?? String(this.#count);
    if (failRate > 0 && fraction(`${seed}/${delivery}/${attempt}`) < failRate) return '500';
    return typeof this.behaviour === 'function' ? this.behaviour(headers) : this.behaviour;
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
