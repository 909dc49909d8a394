import { isIP } from 'node:net';
import { Client } from 'undici';
import type { Connector, ConnectTarget } from './connector.ts';
import type { HttpExchange } from './http-exchange.ts';

/** One connection, or the place for one: undici's client for one request at a time. */
export interface Carrier {
  readonly client: Client;
  readonly origin: Origin;
  isConnected: boolean;
  isBusy: boolean;
}

interface Origin {
  readonly url: string;
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
}

/**
 * Keep-alive connections per origin. Not undici's Pool: that one looks through all its connections for a free one at
 * every request, and cannot end a request that is still waiting for its connection.
 */
export class ConnectionPool {
  readonly #connector: Connector;
  readonly #limits: PoolLimits;
  readonly #isTimely: (exchange: HttpExchange) => boolean;
  readonly #origins = new Map<string, Origin>();
  #idle = 0;

  /** `isTimely`: what has waited for a connection still has time enough to be sent. */
  constructor(connector: Connector, limits: PoolLimits, isTimely: (exchange: HttpExchange) => boolean) {
    this.#connector = connector;
    this.#limits = limits;
    this.#isTimely = isTimely;
  }

  /** Sends on a free connection, on a new one, or, when exchanges of its kind have their most, as soon as one is over. */
  send(exchange: HttpExchange): void {
    const url = exchange.request.origin;
    const origin = this.#origins.get(url) ?? this.#remember(url);
    const share = shareOf(origin, exchange);
    if (share.busy < share.most) this.#carry(origin, share, exchange);
    else share.waiting.push(exchange);
  }

  /** The exchange has ended. `isReusable`: its connection can carry another. */
  done(exchange: HttpExchange, isReusable: boolean): void {
    const { carrier } = exchange;
    if (!carrier) return;
    exchange.carrier = null;
    carrier.isBusy = false;
    const { origin } = carrier;
    shareOf(origin, exchange).busy -= 1;
    if (isReusable && carrier.isConnected) this.#rest(carrier);
    else this.#drop(carrier);
    this.#sendWaiting(origin, origin.quick);
    this.#sendWaiting(origin, origin.slow);
    if (this.#idle > this.#limits.idleMax) this.#dropFree(origin);
  }

  /** The exchange takes long: it counts among the slow ones from now on. */
  outlasted(exchange: HttpExchange): void {
    if (exchange.isSlow || !exchange.carrier) return;
    exchange.isSlow = true;
    const { origin } = exchange.carrier;
    origin.quick.busy -= 1;
    origin.slow.busy += 1;
    this.#sendWaiting(origin, origin.quick);
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
      this.#idle -= origin.free.length;
      for (const carrier of origin.free.splice(0)) this.#drop(carrier);
    }
    this.#origins.clear();
  }

  #carry(origin: Origin, share: Share, exchange: HttpExchange): void {
    const carrier = this.#takeFree(origin) ?? this.#openCarrier(origin);
    share.busy += 1;
    carrier.isBusy = true;
    exchange.carrier = carrier;
    const { path, headers, body } = exchange.request;
    carrier.client.dispatch({ path, method: 'POST', headers, body }, exchange);
  }

  #openCarrier(origin: Origin): Carrier {
    origin.open += 1;
    const client = new Client(origin.url, {
      pipelining: 1,
      allowH2: false,
      // These would not end a response that drips; the transport's own deadline ends everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: this.#limits.idleMs,
      keepAliveMaxTimeout: this.#limits.idleMs,
      maxHeaderSize: this.#limits.responseHeaderBytesMax,
      connect: (_, callback) => {
        this.#connector.connect(origin.target).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
    });
    const carrier: Carrier = { client, origin, isConnected: false, isBusy: false };
    client.on('connect', () => {
      carrier.isConnected = true;
    });
    client.on('disconnect', () => {
      carrier.isConnected = false;
      if (!carrier.isBusy) this.#forget(carrier);
    });
    return carrier;
  }

  #rest(carrier: Carrier): void {
    this.#idle += 1;
    carrier.origin.free.push(carrier);
  }

  #takeFree(origin: Origin): Carrier | undefined {
    const free = origin.free.pop();
    if (free) this.#idle -= 1;
    return free;
  }

  #dropFree(origin: Origin): void {
    const free = this.#takeFree(origin);
    if (free) this.#drop(free);
  }

  /** An idle connection was closed, by the receiver or by age. */
  #forget(carrier: Carrier): void {
    const { free } = carrier.origin;
    const place = free.indexOf(carrier);
    if (place < 0) return;
    free.splice(place, 1);
    this.#idle -= 1;
    this.#drop(carrier);
  }

  #drop(carrier: Carrier): void {
    carrier.origin.open -= 1;
    carrier.client.destroy(null, () => {});
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
    const origin: Origin = { url, target, free: [], open: 0, quick, slow };
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
