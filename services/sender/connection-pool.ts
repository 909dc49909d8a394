import { isIP } from 'node:net';
import type { Clock } from '../runtime/clock.ts';
import { Connection } from './connection.ts';
import type { Connector, ConnectTarget } from './connector.ts';
import { type Deadline, Deadlines } from './deadlines.ts';
import type { HttpExchange } from './http-exchange.ts';

/** A connection, established or on its way. */
export interface Carrier {
  readonly connection: Connection;
  readonly origin: Origin;
  /** Since it was free last: when it will have been so long enough. Null before. */
  idle: Deadline<Carrier> | null;
  /** Until then the receiver keeps it open, milliseconds since the epoch, as far as it has said. */
  usableUntil: number;
}

interface Origin {
  readonly target: ConnectTarget;
  /** Connections open and free; the last used first, so that surplus ones fall idle and close. */
  readonly free: Carrier[];
  open: number;
  readonly quick: Share;
  readonly slow: Share;
}

/** Slow exchanges have connections of their own: they must not keep quick ones from having one. */
interface Share {
  readonly most: number;
  /** Exchanges that have a connection. */
  busy: number;
  readonly waiting: HttpExchange[];
}

export interface PoolLimits {
  /** In use for quick exchanges. */
  readonly connectionsPerOriginMax: number;
  /** In use for slow ones. What began as quick is not stopped by it. */
  readonly connectionsPerOriginSlowMax: number;
  /** From so many milliseconds on, an exchange is slow. */
  readonly slowAfterMs: number;
  /** Idle connections kept open over all origins. */
  readonly idleMax: number;
  /** Origins remembered (their TLS sessions); those with open connections always are. */
  readonly originsMax: number;
  readonly idleMs: number;
  readonly responseHeaderBytesMax: number;
  readonly responseHeaderLinesMax: number;
}

/** Keep-alive connections per origin. */
export class ConnectionPool {
  readonly #clock: Clock;
  readonly #connector: Connector;
  readonly #limits: PoolLimits;
  readonly #isTimely: (exchange: HttpExchange) => boolean;
  readonly #origins = new Map<string, Origin>();
  readonly #idles: Deadlines<Carrier>;
  readonly #slownesses: Deadlines<HttpExchange>;
  /** Origins for which something waits, or came free, in this turn of the event loop. */
  readonly #sendable = new Set<Origin>();

  /** `isTimely`: what has waited for a connection still has time enough to be sent. */
  constructor(
    clock: Clock,
    connector: Connector,
    limits: PoolLimits,
    isTimely: (exchange: HttpExchange) => boolean,
  ) {
    this.#clock = clock;
    this.#idles = new Deadlines(clock, limits.idleMs, (carrier) => this.#forget(carrier));
    this.#slownesses = new Deadlines(clock, limits.slowAfterMs, (exchange) => this.#outlasted(exchange));
    this.#connector = connector;
    this.#limits = limits;
    this.#isTimely = isTimely;
  }

  /** Sends on a free connection, on a new one, or, when exchanges of its kind have their most, as soon as one is over. */
  send(exchange: HttpExchange): void {
    const url = exchange.request.origin;
    const origin = this.#origins.get(url) ?? this.#remember(url);
    shareOf(origin, exchange).waiting.push(exchange);
    this.#sendSoon(origin);
  }

  /** The exchange has ended. `isReusable`: its connection can carry another. */
  done(exchange: HttpExchange, isReusable: boolean): void {
    const { carrier } = exchange;
    if (!carrier) return;
    exchange.carrier = null;
    if (exchange.slowness) this.#slownesses.remove(exchange.slowness);
    const { origin } = carrier;
    shareOf(origin, exchange).busy -= 1;
    if (isReusable) this.#rest(carrier);
    else this.#drop(carrier);
    this.#sendSoon(origin);
  }

  /** The exchange takes long: it counts among the slow ones from now on. */
  #outlasted(exchange: HttpExchange): void {
    if (exchange.isSlow || !exchange.carrier) return;
    exchange.isSlow = true;
    const { origin } = exchange.carrier;
    origin.quick.busy -= 1;
    origin.slow.busy += 1;
    this.#sendSoon(origin);
  }

  /**
   * Not before what has come in this turn of the event loop is read: a receiver that closes right after its response, or
   * says more than it was asked, has made its connection useless, and a request must not be lost on it.
   */
  #sendSoon(origin: Origin): void {
    if (this.#sendable.size === 0) setImmediate(() => this.#sendAll());
    this.#sendable.add(origin);
  }

  #sendAll(): void {
    const origins = [...this.#sendable];
    this.#sendable.clear();
    for (const origin of origins) {
      this.#sendWaiting(origin, origin.quick);
      this.#sendWaiting(origin, origin.slow);
      this.#dropSurplus(origin);
    }
  }

  #sendWaiting(origin: Origin, share: Share): void {
    while (share.busy < share.most) {
      const next = share.waiting.shift();
      if (!next) return;
      if (!next.isOver && this.#isTimely(next)) this.#carry(origin, share, next);
      else next.timeOut();
    }
  }

  /** Connections open or being opened, idle ones included. */
  get open(): number {
    let open = 0;
    for (const origin of this.#origins.values()) open += origin.open;
    return open;
  }

  /** Closes every idle connection. Requests must have ended. */
  close(): void {
    for (const origin of this.#origins.values()) {
      for (const carrier of origin.free.splice(0)) this.#drop(carrier);
    }
    this.#idles.clear();
    this.#slownesses.clear();
    this.#origins.clear();
  }

  #carry(origin: Origin, share: Share, exchange: HttpExchange): void {
    const carrier = this.#takeFree(origin) ?? this.#open(origin);
    share.busy += 1;
    exchange.carrier = carrier;
    if (!exchange.isSlow) exchange.slowness = this.#slownesses.add(exchange, this.#clock.now());
    carrier.connection.carry(exchange);
  }

  #open(origin: Origin): Carrier {
    origin.open += 1;
    const limits = {
      headBytesMax: this.#limits.responseHeaderBytesMax,
      headerLinesMax: this.#limits.responseHeaderLinesMax,
    };
    const connection = new Connection(limits, () => this.#forget(carrier));
    const carrier: Carrier = { connection, origin, idle: null, usableUntil: 0 };
    this.#connector
      .connect(origin.target, (bytes) => connection.received(bytes))
      .then(
        (socket) => connection.established(socket),
        (error: Error) => connection.failed(error),
      );
    return carrier;
  }

  #rest(carrier: Carrier): void {
    const now = this.#clock.now();
    carrier.idle = this.#idles.add(carrier, now);
    carrier.usableUntil = now + (carrier.connection.idleMsMax ?? Number.POSITIVE_INFINITY);
    carrier.origin.free.push(carrier);
  }

  #takeFree(origin: Origin): Carrier | undefined {
    for (;;) {
      const free = origin.free.pop();
      if (!free) return undefined;
      if (free.idle) this.#idles.remove(free.idle);
      if (free.usableUntil > this.#clock.now()) return free;
      this.#drop(free);
    }
  }

  #dropSurplus(origin: Origin): void {
    while (this.#idles.size > this.#limits.idleMax) {
      const free = this.#takeFree(origin);
      if (!free) return;
      this.#drop(free);
    }
  }

  /** An idle connection was closed, by the receiver or by age. */
  #forget(carrier: Carrier): void {
    const { free } = carrier.origin;
    const place = free.indexOf(carrier);
    if (place < 0) return;
    free.splice(place, 1);
    if (carrier.idle) this.#idles.remove(carrier.idle);
    this.#drop(carrier);
  }

  #drop(carrier: Carrier): void {
    carrier.origin.open -= 1;
    carrier.connection.close();
  }

  #remember(url: string): Origin {
    if (this.#origins.size >= this.#limits.originsMax) this.#forgetOneOrigin();
    const { hostname, port } = new URL(url);
    const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
    const target = {
      host: isIP(bare) ? bare : hostname,
      port: port === '' ? 443 : Number(port),
      session: undefined,
    };
    const { connectionsPerOriginMax, connectionsPerOriginSlowMax } = this.#limits;
    const quick = { most: connectionsPerOriginMax, busy: 0, waiting: [] };
    const slow = { most: connectionsPerOriginSlowMax, busy: 0, waiting: [] };
    const origin: Origin = { target, free: [], open: 0, quick, slow };
    this.#origins.set(url, origin);
    return origin;
  }

  /** The origin known longest among those without a connection. */
  #forgetOneOrigin(): void {
    for (const [url, origin] of this.#origins) {
      if (origin.open === 0 && origin.quick.waiting.length + origin.slow.waiting.length === 0) {
        this.#origins.delete(url);
        return;
      }
    }
  }
}

function shareOf(origin: Origin, { isSlow }: HttpExchange): Share {
  return isSlow ? origin.slow : origin.quick;
}
