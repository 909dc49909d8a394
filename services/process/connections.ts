import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The share of all connections that a single address may have. */
const SHARE_OF_AN_ADDRESS = 1 / 4;
const OF_AN_ADDRESS_MIN = 16;
/** The time a connection has to send its next request before it may be closed for another one of its address. */
const GRACE_MS = 500;
/** The time a connection that will be refused has to send its request. */
const REFUSED_MS_MAX = 2000;

/** Returns how many of a server's connections a single address may have. */
export function shareOfAddress(connectionsMax: number): number {
  return Math.min(
    connectionsMax,
    Math.max(OF_AN_ADDRESS_MIN, Math.floor(connectionsMax * SHARE_OF_AN_ADDRESS)),
  );
}

export interface ConnectionsOptions {
  /** The limit. As many more are accepted only to be refused with a response. */
  readonly connectionsMax: number;
  /** File descriptors are scarce: connections are closed after their request, and when they are idle. */
  readonly isShort: () => boolean;
  /** Whether many clients share an address, which is exempt from the share of one: that of a proxy. */
  readonly isShared?: (address: string) => boolean;
  /** Responds to a request for which there is no room. The connection is closed afterwards. */
  readonly refuse: (response: ServerResponse) => void;
}

/**
 * Serves the requests of an HTTP server and limits its connections, per address and in all, so that nobody can shut
 * others out by holding connections open. When there is no room for a new connection, one that is not being served (it
 * is idle, or its request is incomplete) is closed: the one idle for longest, of the address with the most
 * connections. When there is none, the new one is refused.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #perAddressMax: number;
  /** The connections of each address with the time since they are idle, the longest first. */
  readonly #ofAddress = new Map<string, Map<Socket, number>>();
  readonly #requests = new WeakMap<Socket, IncomingMessage>();
  readonly #refused = new Set<Socket>();
  #size = 0;

  constructor(server: Server, app: RequestListener, options: ConnectionsOptions) {
    this.#options = options;
    this.#perAddressMax = shareOfAddress(options.connectionsMax);
    // A connection that could not be accepted is no reason to end the process.
    server.on('error', () => {});
    server.on('connection', (socket) => this.#opened(socket));
    server.on('request', (request, response) => {
      const { socket } = request;
      this.#requests.set(socket, request);
      response.once('close', () => this.#answered(socket, request));
      const isRefused = this.#refused.has(socket);
      if (isRefused || options.isShort()) response.shouldKeepAlive = false;
      if (isRefused) options.refuse(response);
      else app(request, response);
    });
  }

  #opened(socket: Socket): void {
    if (this.#options.isShort()) this.#closeIdle();
    const address = socket.remoteAddress ?? '';
    if (!this.#makeRoom(address)) {
      this.#refuse(socket);
      return;
    }
    const sockets = this.#ofAddress.get(address) ?? new Map();
    this.#ofAddress.set(address, sockets.set(socket, performance.now()));
    this.#size += 1;
    socket.once('close', () => this.#remove(address, socket));
  }

  #refuse(socket: Socket): void {
    if (this.#refused.size >= this.#options.connectionsMax) {
      socket.destroy();
      return;
    }
    this.#refused.add(socket);
    socket.setTimeout(REFUSED_MS_MAX, () => socket.destroy());
    socket.once('close', () => this.#refused.delete(socket));
  }

  #answered(socket: Socket, request: IncomingMessage): void {
    // Of requests that were sent without waiting for answers, the last one counts: until then the connection is busy.
    if (this.#requests.get(socket) === request) this.#requests.delete(socket);
    const sockets = this.#ofAddress.get(socket.remoteAddress ?? '');
    if (sockets?.delete(socket)) sockets.set(socket, performance.now());
  }

  #remove(address: string, socket: Socket): void {
    const sockets = this.#ofAddress.get(address);
    if (!sockets?.delete(socket)) return;
    this.#size -= 1;
    if (sockets.size === 0) this.#ofAddress.delete(address);
  }

  /** Closes idle connections, except those opened or answered just now: their next request may be on its way. */
  #closeIdle(): void {
    for (const address of [...this.#ofAddress.keys()]) while (this.#closeOne(address, GRACE_MS));
  }

  #makeRoom(address: string): boolean {
    const countOf = (each: string) => this.#ofAddress.get(each)?.size ?? 0;
    const own = countOf(address);
    const isShared = this.#options.isShared?.(address) ?? false;
    if (own >= this.#perAddressMax && !isShared) return this.#closeOne(address, GRACE_MS);
    if (this.#size < this.#options.connectionsMax) return true;
    const crowded = [...this.#ofAddress.keys()]
      .filter((each) => countOf(each) > own)
      .sort((one, other) => countOf(other) - countOf(one));
    return crowded.some((each) => this.#closeOne(each, 0)) || this.#closeOne(address, GRACE_MS);
  }

  /**
   * Closes the connection of an address that has been idle for longest; returns false when none has been for so long.
   */
  #closeOne(address: string, forMs: number): boolean {
    const before = performance.now() - forMs;
    for (const [socket, since] of this.#ofAddress.get(address) ?? []) {
      if (since > before) return false;
      if (this.#requests.get(socket)?.complete) continue;
      this.#remove(address, socket);
      socket.destroy();
      return true;
    }
    return false;
  }
}
