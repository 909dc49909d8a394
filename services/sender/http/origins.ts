import { LinkedList, ListNode } from '../../process/linked-list.ts';
import { Closings } from './closings.ts';
import type { Connection } from './connection.ts';
import { type ConnectTarget, targetOf } from './dialler.ts';
import type { HttpExchange } from './http-exchange.ts';

export type PooledConnection = Connection<Route>;
export type PooledExchange = HttpExchange<PooledConnection>;

/** One origin, with the connections that all merchants share the limit of. */
export interface Origin {
  readonly url: string;
  readonly target: ConnectTarget;
  readonly routes: Map<string, Route>;
  /** Connections open or being opened. */
  open: number;
  /** Free connections of all merchants, the longest free first. */
  readonly idle: LinkedList<PooledConnection>;
  readonly quick: Share;
  readonly slow: Share;
}

/** Slow exchanges have a limit of their own, so that they never keep quick ones from a connection. */
export interface Share {
  readonly most: number;
  /** Exchanges that have a connection. */
  busy: number;
  /** Waiting merchants take turns, so that one merchant's backlog does not hold up the others. */
  readonly waiting: LinkedList<Queue>;
}

/** One merchant's exchanges that wait for a connection to one origin. */
class Queue extends ListNode<Queue> {
  readonly route: Route;
  readonly exchanges: PooledExchange[] = [];

  constructor(route: Route) {
    super();
    this.route = route;
  }
}

/**
 * One merchant's connections to one origin. Merchants never share a connection: over HTTP/1.1 a late response cannot
 * be distinguished from the response to the next request.
 */
export class Route {
  readonly origin: Origin;
  readonly merchantId: string;
  /** Connections open and free; the last used last, so that surplus ones fall idle and close. */
  readonly free: PooledConnection[] = [];
  open = 0;
  readonly quick = new Queue(this);
  readonly slow = new Queue(this);
  readonly closings = new Closings();

  constructor(origin: Origin, merchantId: string) {
    this.origin = origin;
    this.merchantId = merchantId;
  }
}

export interface OriginLimits {
  /** With this many quick exchanges in flight, no other opens a connection. Those on free connections may exceed it. */
  readonly connectionsPerOriginMax: number;
  /** The same for slow ones. An exchange that becomes slow in flight may exceed it. */
  readonly connectionsPerOriginSlowMax: number;
  /**
   * Origins remembered (their TLS sessions), and merchants per origin; those with open connections are always kept.
   */
  readonly originsMax: number;
}

/** The origins of requests, and the merchants that use each. */
export class Origins {
  readonly #limits: OriginLimits;
  readonly #origins = new Map<string, Origin>();

  constructor(limits: OriginLimits) {
    this.#limits = limits;
  }

  routeTo(url: string, merchantId: string): Route {
    const origin = this.#origins.get(url) ?? this.#remember(url);
    return origin.routes.get(merchantId) ?? this.#rememberRoute(origin, merchantId);
  }

  all(): IterableIterator<Origin> {
    return this.#origins.values();
  }

  /** Forgets a route, unless it is in use. */
  forget(route: Route): void {
    if (isUnused(route)) route.origin.routes.delete(route.merchantId);
  }

  clear(): void {
    this.#origins.clear();
  }

  #remember(url: string): Origin {
    const { originsMax, connectionsPerOriginMax, connectionsPerOriginSlowMax } = this.#limits;
    forgetOne(this.#origins, originsMax, isUnusedOrigin);
    const origin: Origin = {
      url,
      target: targetOf(new URL(url)),
      routes: new Map(),
      open: 0,
      idle: new LinkedList(),
      quick: { most: connectionsPerOriginMax, busy: 0, waiting: new LinkedList() },
      slow: { most: connectionsPerOriginSlowMax, busy: 0, waiting: new LinkedList() },
    };
    this.#origins.set(url, origin);
    return origin;
  }

  #rememberRoute(origin: Origin, merchantId: string): Route {
    forgetOne(origin.routes, this.#limits.originsMax, isUnused);
    const route = new Route(origin, merchantId);
    origin.routes.set(merchantId, route);
    return route;
  }
}

/** Makes room for one more: forgets the oldest one that is not in use. */
function forgetOne<Value>(
  known: Map<string, Value>,
  most: number,
  mayBeForgotten: (value: Value) => boolean,
): void {
  if (known.size < most) return;
  for (const [key, value] of known) {
    if (!mayBeForgotten(value)) continue;
    known.delete(key);
    return;
  }
}

function isUnused({ open, quick, slow }: Route): boolean {
  return open === 0 && quick.exchanges.length + slow.exchanges.length === 0;
}

function isUnusedOrigin({ open, quick, slow }: Origin): boolean {
  return open === 0 && quick.waiting.size + slow.waiting.size === 0;
}
