import type { Clock } from '../../process/clock.ts';
import { Connection, type ConnectionLimits } from './connection.ts';
import type { Connector } from './connector.ts';
import {
  type Origin,
  type OriginLimits,
  Origins,
  type PooledConnection,
  type PooledExchange,
  type Route,
  type Share,
} from './origins.ts';

export interface PoolLimits extends ConnectionLimits, OriginLimits {
  /** Idle connections kept open over all origins. */
  readonly idleMax: number;
  /** Idle connections kept open to one origin, over all merchants. */
  readonly idlePerOriginMax: number;
  /** A connection carries no further request after this many milliseconds. */
  readonly ageMsMax: number;
}

/** Ages are spread over this part of the limit, so that connections opened together do not end together. */
const AGE_SPREAD = 0.25;
/** The golden ratio's fraction: its multiples are spread evenly over 0 to 1. */
const SPREAD_STEP = 0.618_034;

/** Keep-alive connections per merchant and origin. */
export class ConnectionPool {
  readonly #clock: Clock;
  readonly #connector: Connector;
  readonly #limits: PoolLimits;
  readonly #isTimely: (exchange: PooledExchange) => boolean;
  readonly #origins: Origins;
  #idle = 0;
  #opened = 0;
  #spread = 0;

  /** `isTimely`: whether an exchange that waited for a connection still has time to be sent. */
  constructor(
    clock: Clock,
    connector: Connector,
    limits: PoolLimits,
    isTimely: (exchange: PooledExchange) => boolean,
  ) {
    this.#clock = clock;
    this.#connector = connector;
    this.#limits = limits;
    this.#origins = new Origins(limits);
    this.#isTimely = isTimely;
  }

  /**
   * Sends on a free connection of the merchant, or on a new one. While exchanges of its kind have reached their limit,
   * it waits for a new connection. A free one may turn out to be closed, or to have received more than was asked for:
   * undici writes the request only after everything received in this turn of the event loop has been read.
   */
  send(exchange: PooledExchange): void {
    const { origin: url, merchantId } = exchange.request;
    const route = this.#origins.routeTo(url, merchantId);
    const queue = exchange.isSlow ? route.slow : route.quick;
    const share = shareOf(route.origin, exchange);
    const free = queue.exchanges.length === 0 ? this.#takeFree(route) : undefined;
    if (free) {
      share.busy += 1;
      this.#carry(free, exchange);
      return;
    }
    queue.exchanges.push(exchange);
    share.waiting.append(queue);
    this.#sendWaiting(route.origin);
    if (!exchange.connection && !exchange.isOver) exchange.time.held();
  }

  /** The exchange has ended. `isReusable`: its connection can carry another. */
  done(exchange: PooledExchange, isReusable: boolean): void {
    const connection = exchange.putDown();
    if (!connection) return;
    const { origin } = connection.route;
    shareOf(origin, exchange).busy -= 1;
    if (isReusable) this.#rest(connection);
    else this.#drop(connection);
    this.#sendWaiting(origin);
  }

  /** Sends the exchange again on a fresh connection, after its reused one closed without a response. */
  sendAgain(exchange: PooledExchange): void {
    const { connection } = exchange;
    if (!connection) return;
    const { openedAt, route } = connection;
    route.closings.note(openedAt, this.#clock);
    // What was kept of its receiver is doubted: the connection, and so the session.
    route.origin.target.sessions.forget();
    const fresh = this.#open(route);
    this.#drop(connection);
    this.#carry(fresh, exchange);
  }

  /** Counts an exchange in flight among the slow ones from now on. One that waits for a connection is never slow. */
  turnSlow(exchange: PooledExchange): void {
    const origin = exchange.connection?.route.origin;
    if (!origin || exchange.isSlow || exchange.isOver) return;
    exchange.turnSlow();
    origin.quick.busy -= 1;
    origin.slow.busy += 1;
    this.#sendWaiting(origin);
  }

  #sendWaiting(origin: Origin): void {
    this.#sendShare(origin.quick);
    this.#sendShare(origin.slow);
    this.#dropSurplus(origin);
  }

  #sendShare(share: Share): void {
    while (share.busy < share.most) {
      const queue = share.waiting.first;
      if (!queue) return;
      share.waiting.remove(queue);
      const next = queue.exchanges.shift();
      if (queue.exchanges.length > 0) share.waiting.append(queue);
      if (!next) continue;
      if (next.isOver || !this.#isTimely(next)) next.timeOut();
      else {
        share.busy += 1;
        this.#carry(this.#takeFree(queue.route) ?? this.#open(queue.route), next);
      }
    }
  }

  /** Connections open or being opened, idle ones included. */
  get open(): number {
    let open = 0;
    for (const origin of this.#origins.all()) open += origin.open;
    return open;
  }

  /** Connections opened so far, counted when opening begins. */
  get opened(): number {
    return this.#opened;
  }

  /** Closes every idle connection. All requests must have ended. */
  close(): void {
    for (const { idle } of this.#origins.all()) {
      for (const connection of idle.nodes()) this.#forget(connection);
    }
    this.#origins.clear();
  }

  #carry(connection: PooledConnection, exchange: PooledExchange): void {
    exchange.carriedBy(connection);
    connection.carry(exchange, connection.route.closings.isSingleUse(this.#clock));
  }

  #open(route: Route): PooledConnection {
    const { origin } = route;
    const from = this.#clock.now();
    this.#spread = (this.#spread + SPREAD_STEP) % 1;
    const life = { from, until: from + this.#limits.ageMsMax * (1 - AGE_SPREAD * this.#spread) };
    origin.open += 1;
    route.open += 1;
    this.#opened += 1;
    const open = (stepped: () => void) => this.#connector.connect(origin.target, stepped);
    return new Connection(route, this.#limits, life, open, (closed) => this.#forget(closed));
  }

  #rest(connection: PooledConnection): void {
    const { route } = connection;
    if (route.closings.isSingleUse(this.#clock)) {
      this.#drop(connection);
      return;
    }
    connection.rest();
    route.free.push(connection);
    route.origin.idle.append(connection);
    this.#idle += 1;
  }

  #takeFree(route: Route): PooledConnection | undefined {
    if (route.closings.isSingleUse(this.#clock)) return undefined;
    for (;;) {
      const free = route.free.pop();
      if (!free) return undefined;
      route.origin.idle.remove(free);
      this.#idle -= 1;
      if (free.isUsable(this.#clock)) return free;
      this.#drop(free);
    }
  }

  #dropSurplus({ idle }: Origin): void {
    const { idleMax, idlePerOriginMax } = this.#limits;
    while (this.#idle > idleMax || idle.size > idlePerOriginMax) {
      if (!idle.first) return;
      this.#forget(idle.first);
    }
  }

  /** Removes an idle connection that was closed by the receiver or by age, or that is surplus. */
  #forget(connection: PooledConnection): void {
    const { free, origin } = connection.route;
    const place = free.indexOf(connection);
    if (place < 0) return;
    free.splice(place, 1);
    origin.idle.remove(connection);
    this.#idle -= 1;
    this.#drop(connection);
  }

  #drop(connection: PooledConnection): void {
    const { route } = connection;
    route.origin.open -= 1;
    route.open -= 1;
    connection.close();
    if (route.open === 0 && !route.closings.isKnown(this.#clock)) this.#origins.forget(route);
  }
}

function shareOf(origin: Origin, { isSlow }: PooledExchange): Share {
  return isSlow ? origin.slow : origin.quick;
}
