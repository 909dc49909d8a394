import type { Clock } from '../../process/clock.ts';
import { type DescriptorWatch, ENOUGH_DESCRIPTORS } from '../../process/descriptors.ts';
import { type Activity, NOT_WATCHED } from '../../watchdog/activity.ts';
import { Blame, Deadlines, type ReceiverTime } from '../blame/blame.ts';
import { AddressGuard, type EgressPolicy } from './address-guard.ts';
import { ConnectionPool, type PoolLimits } from './connection-pool.ts';
import { Connector, secureContext } from './connector.ts';
import type { Tunnels } from './egress-proxy.ts';
import { type ExchangeOwner, HttpExchange } from './http-exchange.ts';
import { SearchBudget } from './masking/search-budget.ts';
import { SearchTurns } from './masking/search-turns.ts';
import type { SearchAllowance } from './masking/secret-search.ts';
import { hostsResolver, type Resolve } from './names/addresses.ts';
import { NameServers } from './names/name-servers.ts';
import type { PooledConnection, PooledExchange } from './origins.ts';
import type { Pace } from './pace.ts';
import type { Posted, WebhookRequest } from './webhook-request.ts';

export type { Pace, Posted, WebhookRequest };

/** Sends webhooks. Never throws or rejects because of the network or the receiver. */
export interface Transport {
  /**
   * Makes one exchange, within the total time-out, and calls back with what came of it, in a later turn. Without a pace it
   * is never slow. When it returns, the connection that the exchange needs is counted. No promise: every attempt makes one
   * exchange, and each promise on its way costs a microtask and garbage.
   */
  post(request: WebhookRequest, pace: Pace | undefined, done: (posted: Posted) => void): void;
  /** Tells receivers' time from ours; absent where it is not measured. */
  readonly blame?: Blame;
  /** Connections opened so far. */
  readonly connectionsOpened: number;
  /** Ends every exchange in flight as interrupted, for our shutdown. */
  interrupt(): void;
  /** Interrupts, and closes every connection. May be called twice. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly clock: Clock;
  /** Everything from the call to the end of the response, milliseconds. */
  readonly totalTimeoutMs: number;
  /** DNS, TCP and TLS together, milliseconds. */
  readonly connectTimeoutMs: number;
  /** The allowed destinations; the same policy as at create and update. */
  readonly egress: EgressPolicy;
  /** Connects for us; see Connector. */
  readonly tunnels?: Tunnels | null;
  /** PEM of authorities trusted besides the system's, or null. */
  readonly extraCa: string | null;
  readonly limits?: Partial<TransportLimits>;
  /** Resolves merchants' names; by default it asks the name servers. */
  readonly resolve?: Resolve;
  /** By default the system's. */
  readonly nameServers?: NameServers;
  /** By default there are always enough. */
  readonly descriptors?: DescriptorWatch;
  /** Tells the watchdog what this process is busy with; absent: there is none. */
  readonly activity?: Activity;
}

/** A response whose status has arrived is read on until nothing arrives for so long, milliseconds. */
const READ_ON_PAUSE_MS = 100;

const TRANSPORT_LIMITS = {
  /** Many merchants share a gateway, so this is well above one endpoint's window. */
  connectionsPerOriginMax: 256,
  /** Behind one gateway some merchants' systems may hang: their exchanges must not use up the others' connections. */
  connectionsPerOriginSlowMax: 768,
  idleMax: 4096,
  /** Each merchant behind a shared gateway has its own: with fewer of these than merchants, every request would open one. */
  idlePerOriginMax: 2048,
  originsMax: 10_000,
  /** Shorter than the 5 s after which common servers close: a request must not meet a closing connection. */
  idleMs: 4000,
  /** The longest time until a moved name or a renewed certificate is noticed. */
  ageMsMax: 5 * 60_000,
  responseHeaderBytesMax: 16 * 1024,
} as const satisfies TransportLimits;

export type TransportLimits = PoolLimits;

/** Opens the transport over HTTPS/1.1, on undici. Throws when the extra authority cannot be parsed. */
export function openTransport(options: TransportOptions): HttpTransport {
  return new HttpTransport(options);
}

export class HttpTransport implements Transport, ExchangeOwner<PooledConnection> {
  readonly activity: Activity;
  readonly blame: Blame;
  readonly timeOuts: Deadlines<PooledExchange>;
  readonly pauses: Deadlines<PooledExchange>;
  readonly #clock: Clock;
  readonly #connector: Connector;
  readonly #pool: ConnectionPool;
  readonly #searchBudget: SearchBudget;
  readonly #searchTurns: SearchTurns;
  #isClosed = false;

  constructor(options: TransportOptions) {
    const { clock, totalTimeoutMs, connectTimeoutMs } = options;
    const nameServers = options.nameServers ?? new NameServers({ clock, connectTimeoutMs });
    const guard = new AddressGuard(options.egress, {
      resolve: options.resolve ?? ((hostname) => nameServers.resolve(hostname)),
      resolveExempt: hostsResolver,
      nameServers,
    });
    this.activity = options.activity ?? NOT_WATCHED;
    this.#clock = clock;
    this.blame = new Blame(clock);
    this.#searchBudget = new SearchBudget(() => clock.now());
    this.#searchTurns = new SearchTurns(() => clock.now());
    this.#connector = new Connector({
      clock,
      guard,
      secureContext: secureContext(options.extraCa),
      connectTimeoutMs: Math.min(connectTimeoutMs, totalTimeoutMs),
      tunnels: options.tunnels ?? null,
      descriptors: options.descriptors ?? ENOUGH_DESCRIPTORS,
    });
    const limits = { ...TRANSPORT_LIMITS, ...options.limits };
    // With less than half of its time left, the receiver would be blamed for a time-out that is ours.
    const isTimely = ({ deadline }: PooledExchange) => deadline.dueAt - clock.now() > totalTimeoutMs / 2;
    this.#pool = new ConnectionPool(clock, this.#connector, limits, isTimely);
    const deadline = { aheadMs: totalTimeoutMs, whenLate: 'extend' } as const;
    this.timeOuts = new Deadlines(clock, deadline, (exchange) => exchange.timeOut());
    const readOn = { aheadMs: READ_ON_PAUSE_MS, whenLate: 'extend' } as const;
    this.pauses = new Deadlines(clock, readOn, (exchange) => exchange.readEnough());
  }

  post(request: WebhookRequest, pace: Pace | undefined, done: (posted: Posted) => void): void {
    const exchange = new HttpExchange<PooledConnection>(request, pace, this, done);
    exchange.time.whenSlow(() => this.#pool.turnSlow(exchange));
    if (this.#isClosed) exchange.interrupt();
    else this.#pool.send(exchange);
  }

  now(): number {
    return this.#clock.now();
  }

  ownTime(): ReceiverTime {
    return this.blame.timeOf(null);
  }

  /** An exchange has ended: its connection is free for another, or closed. */
  ended(exchange: PooledExchange, isReusable: boolean): void {
    this.#pool.done(exchange, isReusable);
  }

  sendAgain(exchange: PooledExchange): void {
    this.#pool.sendAgain(exchange);
  }

  searchInTurn(search: () => void): void {
    this.#searchTurns.run(search);
  }

  searchAllowanceOf(merchantId: string): SearchAllowance {
    return this.#searchBudget.allowanceOf(merchantId);
  }

  interrupt(): void {
    for (const exchange of this.timeOuts.items()) exchange.interrupt();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.interrupt();
    this.#connector.close();
    this.#pool.close();
    this.timeOuts.clear();
    this.pauses.clear();
  }

  get connectionsOpened(): number {
    return this.#pool.opened;
  }

  /** Connections open or being opened: shown in metrics, and limited. */
  get openConnections(): number {
    return this.#pool.open;
  }
}
