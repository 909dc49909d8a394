import { constants } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import type { EgressProxy } from '../../egress/egress-proxy.ts';
import type { Clock } from '../../process/clock.ts';
import { Deadlines } from '../../process/deadlines.ts';
import type { DescriptorWatch } from '../../process/descriptors.ts';
import type { AddressGuard } from './address-guard.ts';
import { type Dial, raceAddresses } from './address-race.ts';
import { ConnectFailure, connectFailureOf, machineLimit } from './connect-failure.ts';
import { Tunnels } from './egress-proxy.ts';
import { certificateEnd, type KeptSession, keepSession, mayBeResumed } from './tls-session.ts';

export interface ConnectorDeps {
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly secureContext: tls.SecureContext;
  /** DNS, TCP and TLS together, milliseconds. */
  readonly connectTimeoutMs: number;
  /** Connects for us, except to hosts exempt from the guard; null: we connect ourselves. */
  readonly proxy: EgressProxy | null;
  readonly descriptors: DescriptorWatch;
}

/** Where to connect, with the TLS session of an earlier connection there, whose certificate was verified. */
export interface ConnectTarget {
  /** Lower-case name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  session: KeptSession | undefined;
}

/** A connection whose TLS is established and verified. */
export interface Established {
  readonly socket: tls.TLSSocket;
  /** No further request is sent after this time: the end of its certificate, by the system's time. */
  readonly certificateUntil: number;
}

/** Addresses tried for one connection. */
const ADDRESSES_TRIED_MAX = 2;
/** The second address is tried after the first has been silent for this long (RFC 8305, section 5). */
const STAGGER_MS = 300;

/** Returns one context for all connections: parsing the authorities again takes 26 ms of the event loop each time. */
export function secureContext(extraCa: string | null): tls.SecureContext {
  const options = {
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    // A receiver that renegotiates endlessly would use up our CPU. TLSSocket.disableRenegotiation is for servers only.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const;
  if (extraCa === null) return tls.createSecureContext(options);
  return tls.createSecureContext({ ...options, ca: [...tls.rootCertificates, extraCa] });
}

/** Opens verified TLS connections to checked addresses, and to nothing else. */
export class Connector {
  readonly #deps: ConnectorDeps;
  /** Null without an egress proxy. */
  readonly #tunnels: Tunnels | null;
  readonly #opening = new Set<Connecting>();
  readonly #deadlines: Deadlines<Connecting>;

  constructor(deps: ConnectorDeps) {
    this.#deps = deps;
    this.#tunnels = deps.proxy && new Tunnels(deps.proxy, deps.clock, deps.connectTimeoutMs);
    const deadline = { aheadMs: deps.connectTimeoutMs, whenLate: 'extend' } as const;
    this.#deadlines = new Deadlines(deps.clock, deadline, (connecting) =>
      connecting.end(timedOut(connecting)),
    );
  }

  /**
   * Resolves once TLS is established and verified; rejects with a ConnectFailure within the time-out. `stepped`: called
   * when the name is resolved, and when the TCP connection is established.
   */
  connect(target: ConnectTarget, stepped: () => void = () => {}): Promise<Established> {
    return new Promise((resolve, reject) => {
      const connecting: Connecting = {
        host: target.host,
        stage: 'resolving',
        isReached: false,
        proxyFailure: null,
        giveUp: () => {},
        isOver: false,
        stepped,
        end: () => {},
      };
      const deadline = this.#deadlines.add(connecting, this.#deps.clock.now());
      connecting.end = (result) => {
        if (connecting.isOver) return;
        connecting.isOver = true;
        this.#deadlines.remove(deadline);
        this.#opening.delete(connecting);
        if (result instanceof ConnectFailure) {
          connecting.giveUp();
          reject(result);
        } else resolve(result);
      };
      this.#opening.add(connecting);
      this.#open(target, connecting).then(connecting.end, (error: Error) => {
        const failure = connectFailureOf(error);
        // Noticed at once: requests to the API need the reserve.
        if (failure.facts.ownFault === 'machine_limit') this.#deps.descriptors.isLeft();
        connecting.end(failure);
      });
    });
  }

  /** Gives up all connections being opened. */
  close(): void {
    for (const connecting of [...this.#opening])
      connecting.end(new ConnectFailure('connection_reset', 'closed'));
    this.#deadlines.clear();
  }

  async #open(target: ConnectTarget, connecting: Connecting): Promise<Established> {
    const { clock, guard, descriptors } = this.#deps;
    if (descriptors.isShort) throw machineLimit('EMFILE');
    const addresses = await guard.addressesOf(target.host, target.port).catch((error: unknown) => {
      // Without one, resolvers can neither read the hosts file nor ask a server, and say that the name does not exist.
      // Whoever noticed the shortage first has freed the reserve: then there are some again.
      throw descriptors.isShort || !descriptors.isLeft() ? machineLimit('EMFILE') : error;
    });
    if (connecting.isOver) throw new ConnectFailure('connection_reset', 'closed');
    if (descriptors.isShort) throw machineLimit('EMFILE');
    connecting.stage = 'connecting';
    connecting.stepped();
    const race = raceAddresses(
      addresses.slice(0, ADDRESSES_TRIED_MAX),
      (address, onConnected) => this.#dial(target, address, connecting, onConnected),
      { clock, staggerMs: STAGGER_MS, mayGoOn: (error) => mayTryAnother(connecting, error) },
    );
    connecting.giveUp = () => race.cancel();
    return race.result;
  }

  /** Connects to one address, through the egress proxy if there is one. */
  #dial(
    target: ConnectTarget,
    address: string,
    connecting: Connecting,
    onConnected: () => void,
  ): Dial<Established> {
    const { clock, guard } = this.#deps;
    const tunnels = this.#tunnels;
    const connected = () => {
      connecting.stage = 'handshaking';
      connecting.stepped();
      onConnected();
    };
    if (tunnels === null || guard.isExempt(target.host)) {
      const handshake = this.#handshake(target, { host: address, port: target.port }, connected);
      return { result: handshake.established, cancel: () => void handshake.socket.destroy() };
    }
    const askedAt = clock.now();
    connecting.proxyFailure ??= () => tunnels.unanswered(askedAt);
    const tunnel = tunnels.open(address, target.port);
    let cancel = () => tunnel.cancel();
    const result = tunnel.opened.then((socket) => {
      cancel = () => void socket.destroy();
      connected();
      if (connecting.isOver) socket.destroy();
      return this.#handshake(target, { socket }, () => {}).established;
    });
    return { result, cancel: () => cancel() };
  }

  #handshake(
    target: ConnectTarget,
    to: { readonly socket: Socket } | { readonly host: string; readonly port: number },
    onConnected: () => void,
  ): { readonly socket: tls.TLSSocket; readonly established: Promise<Established> } {
    const { clock } = this.#deps;
    const offered = target.session && mayBeResumed(target.session, clock) ? target.session : undefined;
    const socket = tls.connect({
      // An address, never a name: nothing is resolved after the check.
      ...to,
      // Server name indication is for names only (RFC 6066); literals are checked against the certificate's addresses.
      servername: isIP(target.host) ? '' : target.host,
      secureContext: this.#deps.secureContext,
      session: offered?.bytes,
      ALPNProtocols: ['http/1.1'],
      // Set explicitly, because an environment variable could switch it off otherwise.
      rejectUnauthorized: true,
      checkServerIdentity: (_, certificate) => tls.checkServerIdentity(target.host, certificate),
    });
    socket.setNoDelay(true);
    // Through a proxy, the peer is the proxy, which was given the address.
    if (!('socket' in to)) {
      socket.once('connect', () => {
        this.#checkPeer(target, socket);
        onConnected();
      });
    }
    keepSession(socket, offered, clock, (session) => {
      target.session = session;
    });
    const established = new Promise<Established>((resolve, reject) => {
      const closed = () => reject(new ConnectFailure('connection_reset', 'closed during the TLS handshake'));
      socket.on('error', reject).on('close', closed);
      socket.once('secureConnect', () => {
        // Data of the same turn is read first: a response sent before the request must not be taken for its response.
        setImmediate(() => {
          if (socket.readableLength > 0) socket.destroy(new ConnectFailure('protocol_error', SPOKE_FIRST));
          if (socket.destroyed) return;
          socket.off('error', reject).off('close', closed);
          resolve({ socket, certificateUntil: certificateEnd(socket, offered) });
        });
      });
    });
    return { socket, established };
  }

  /** Checks the address that the kernel connected to, whatever was requested. */
  #checkPeer({ host }: ConnectTarget, socket: tls.TLSSocket): void {
    const { remoteAddress } = socket;
    // Undefined: the connection has already closed, and nothing can be sent on it.
    if (remoteAddress === undefined || this.#deps.guard.permits(host, remoteAddress)) return;
    const detail = `${host} resolved to an address that is not public`;
    socket.destroy(
      new ConnectFailure('blocked_address', detail, { blockedBy: 'remote_address', sign: 'unknown' }),
    );
  }
}

const SPOKE_FIRST = 'the receiver sent data before the request';

/** Returns whether another address of the name may work; one that answered in TLS counts for all of them. */
function mayTryAnother(connecting: Connecting, error: Error): boolean {
  const { failureCode, facts } = connectFailureOf(error);
  if (failureCode !== 'connect_refused') return false;
  if ((facts.sign ?? 'reached') === 'reached') connecting.isReached = true;
  return true;
}

/** A connection being opened. `stage` names the step that a time-out interrupted. */
interface Connecting {
  readonly host: string;
  stage: 'resolving' | 'connecting' | 'handshaking';
  /** One of the addresses refused: the network works. */
  isReached: boolean;
  /** Returns the failure of the egress proxy's silence; null where it was not asked. */
  proxyFailure: (() => ConnectFailure) | null;
  /** Closes everything opened for it so far. */
  giveUp(): void;
  isOver: boolean;
  stepped(): void;
  end(result: Established | ConnectFailure): void;
}

function timedOut({ host, stage, isReached, proxyFailure }: Connecting): ConnectFailure {
  const sign = isReached ? 'reached' : 'silent';
  switch (stage) {
    case 'resolving':
      return new ConnectFailure('dns_error', `${host} was not resolved in time`, { sign });
    case 'connecting':
      if (proxyFailure) return proxyFailure();
      return new ConnectFailure('connect_timeout', 'the connection was not established in time', { sign });
    case 'handshaking':
      return new ConnectFailure('connect_timeout', 'the TLS handshake did not end in time');
  }
}
