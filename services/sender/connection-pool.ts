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
  readonly waiting: HttpExchange[];
  open: number;
  /** Of the open ones, those whose exchange takes long. */
  slow: number;
}

export interface PoolLimits {
  /** Those whose exchange takes long do not count. */
  readonly connectionsPerOriginMax: number;
  /** All of them. */
  readonly connectionsPerOriginSlowMax: number;
  /** An exchange takes long from so many milliseconds on. */
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
  readonly #origins = new Map<string, Origin>();
  #idle = 0;

  constructor(connector: Connector, limits: PoolLimits) {
    this.#connector = connector;
    this.#limits = limits;
  }

  /** Sends on a free connection, on a new one, or, when the origin has its most, as soon as one is free. */
  send(exchange: HttpExchange): void {
    const url = exchange.request.origin;
    const origin = this.#origins.get(url) ?? this.#remember(url);
    const free = origin.free.pop();
    if (free) {
      this.#idle -= 1;
      this.#carry(free, exchange);
    } else if (this.#hasPlace(origin)) {
      this.#carry(this.#openCarrier(origin), exchange);
    } else {
      origin.waiting.push(exchange);
    }
  }

  /** The exchange has ended. `isReusable`: its connection can carry another. */
  done(exchange: HttpExchange, isReusable: boolean): void {
    const { carrier } = exchange;
    if (!carrier) return;
    exchange.carrier = null;
    carrier.isBusy = false;
    const { origin } = carrier;
    if (exchange.isSlow) origin.slow -= 1;
    const isKept = isReusable && carrier.isConnected;
    if (!isKept) this.#drop(carrier);
    const next = isKept || this.#hasPlace(origin) ? nextWaiting(origin) : undefined;
    if (next) this.#carry(isKept ? carrier : this.#openCarrier(origin), next);
    else if (isKept) this.#rest(carrier);
  }

  /** The exchange takes long: its connection no longer keeps others of its origin from having one. */
  outlasted(exchange: HttpExchange): void {
    if (!exchange.carrier) return;
    exchange.isSlow = true;
    const { origin } = exchange.carrier;
    origin.slow += 1;
    const next = this.#hasPlace(origin) ? nextWaiting(origin) : undefined;
    if (next) this.#carry(this.#openCarrier(origin), next);
  }

  #hasPlace({ open, slow }: Origin): boolean {
    const { connectionsPerOriginMax, connectionsPerOriginSlowMax } = this.#limits;
    return open - slow < connectionsPerOriginMax && open < connectionsPerOriginSlowMax;
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

  #carry(carrier: Carrier, exchange: HttpExchange): void {
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
    if (this.#idle >= this.#limits.idleMax) {
      this.#drop(carrier);
    } else {
      this.#idle += 1;
      carrier.origin.free.push(carrier);
    }
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
    const origin: Origin = { url, target, free: [], waiting: [], open: 0, slow: 0 };
    this.#origins.set(url, origin);
    return origin;
  }

  /** The origin known longest among those without a connection. */
  #forgetOneOrigin(): void {
    for (const [url, origin] of this.#origins) {
      if (origin.open === 0 && origin.waiting.length === 0) {
        this.#origins.delete(url);
        return;
      }
    }
  }
}

/** The next request whose time is not over yet. */
function nextWaiting(origin: Origin): HttpExchange | undefined {
  for (;;) {
    const next = origin.waiting.shift();
    if (!next?.isOver) return next;
  }
}
