import type { Clock } from '../clock.ts';
import { networkOf } from './network-of.ts';

const WINDOW_MS = 60_000;
/** The most clients remembered; the one that has not failed for longest is forgotten first. */
const CLIENTS_MAX = 10_000;

/** The result of an attempt: `unknown` when it could not be judged. */
export type Outcome = 'accepted' | 'failed' | 'unknown';

export type Entry =
  | { readonly isAdmitted: true; leave(outcome: Outcome): void }
  /** The client has failed too often; `againInMs` until its window ends. */
  | { readonly isAdmitted: false; readonly againInMs: number };

interface Client {
  failures: number;
  /** When its window ends, by the clock's `now()`: a minute after the first failure. */
  endsAt: number;
  /** Attempts under way. */
  inside: number;
  readonly waiting: ((entry: Entry) => void)[];
}

export interface FailedAttemptsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The failures that a client may have in a minute. */
  readonly perMinuteMax: number;
  readonly clientsMax?: number;
}

/**
 * Counts failed attempts to get in, by client (an IPv4 address, or a /64 network), so that no client makes many. Attempts
 * that run at the same time count as failed until they end, and further ones wait for them: of any number that come at
 * once, no more than the limit fail. A client without failures takes no memory.
 */
export class FailedAttempts {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #perMinuteMax: number;
  readonly #clientsMax: number;
  /** The address that failed longest ago comes first. */
  readonly #clients = new Map<string, Client>();

  constructor({ clock, perMinuteMax, clientsMax = CLIENTS_MAX }: FailedAttemptsOptions) {
    this.#clock = clock;
    this.#perMinuteMax = perMinuteMax;
    this.#clientsMax = clientsMax;
  }

  /** Clients in memory. */
  get size(): number {
    return this.#clients.size;
  }

  /** Returns how long the client must wait because of its failures; 0: it need not. */
  refusedForMs(address: string): number {
    const client = this.#clients.get(networkOf(address));
    return client ? this.#refusedForMs(client) : 0;
  }

  /** Counts a failure that was found without an attempt under way. */
  count(address: string): void {
    this.#count(this.#remembered(networkOf(address)));
  }

  /** Resolves when the attempt may be made, which then leaves with its outcome, or when it is refused. */
  enter(address: string): Promise<Entry> {
    const network = networkOf(address);
    const client = this.#remembered(network);
    return new Promise((resolve) => {
      client.waiting.push(resolve);
      this.#admit(network, client);
    });
  }

  #remembered(network: string): Client {
    const client = this.#clients.get(network) ?? { failures: 0, endsAt: 0, inside: 0, waiting: [] };
    this.#clients.delete(network);
    this.#clients.set(network, client);
    for (const [oldest] of this.#clients) {
      if (this.#clients.size <= this.#clientsMax) break;
      this.#clients.delete(oldest);
    }
    return client;
  }

  #refusedForMs(client: Client): number {
    const leftMs = client.endsAt - this.#clock.now();
    if (leftMs <= 0) client.failures = 0;
    return client.failures < this.#perMinuteMax ? 0 : leftMs;
  }

  #count(client: Client): void {
    const now = this.#clock.now();
    if (client.endsAt <= now) {
      client.failures = 0;
      client.endsAt = now + WINDOW_MS;
    }
    client.failures += 1;
  }

  /** Lets those in that may come in, and refuses all that wait once there were too many failures. */
  #admit(network: string, client: Client): void {
    while (client.waiting.length > 0) {
      const againInMs = this.#refusedForMs(client);
      if (againInMs === 0 && client.failures + client.inside >= this.#perMinuteMax) return;
      const resolve = client.waiting.shift();
      if (againInMs > 0) resolve?.({ isAdmitted: false, againInMs });
      else resolve?.(this.#entryOf(network, client));
    }
  }

  #entryOf(network: string, client: Client): Entry {
    client.inside += 1;
    return { isAdmitted: true, leave: (outcome) => this.#leave(network, client, outcome) };
  }

  #leave(network: string, client: Client, outcome: Outcome): void {
    client.inside -= 1;
    if (outcome === 'failed') this.#count(client);
    // Nothing can be judged now, so those that wait find out for themselves, at once and not one after the other.
    if (outcome === 'unknown')
      for (const resolve of client.waiting.splice(0)) resolve(this.#entryOf(network, client));
    this.#admit(network, client);
    const isIdle = client.inside === 0 && client.failures === 0;
    if (isIdle && this.#clients.get(network) === client) this.#clients.delete(network);
  }
}
