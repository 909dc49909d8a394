import net, { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import type { Clock } from '../../process/clock.ts';
import type { AddressGuard } from './address-guard.ts';
import { type Dial, Race } from './address-race.ts';
import { ConnectFailure, connectFailureOf } from './connect-failure.ts';
import type { Tunnel, Tunnels } from './egress-proxy.ts';
import { nameMissingIssuer } from './tls/missing-issuer.ts';
import { certificateEnd, type KeptSession, keepSession, TlsSessions } from './tls/tls-session.ts';

/** Where to connect, with the TLS sessions of earlier connections there, whose certificates were verified. */
export interface ConnectTarget {
  /** Lower-case name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly sessions: TlsSessions;
}

/** Returns where the URL of an endpoint leads, without sessions. */
export function targetOf({ hostname, port }: URL): ConnectTarget {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return {
    host: isIP(bare) ? bare : hostname,
    port: port === '' ? 443 : Number(port),
    sessions: new TlsSessions(),
  };
}

/** A connection whose TLS is established and verified. */
export interface Established {
  readonly socket: tls.TLSSocket;
  /** No further request is sent after this time: the end of its certificate, by the system's time. */
  readonly certificateUntil: number;
  /** The session of an earlier connection that it resumes: to be forgotten when it fails, refused when it alone does. */
  readonly resumed: { forget(): void; refuse(): void } | null;
  /** To be called when the receiver answers on it: later connections may resume its sessions. */
  answered(): void;
}

/** A connection being opened. `stage` names the step that a time-out interrupted. */
export interface Connecting {
  readonly host: string;
  stage: 'resolving' | 'connecting' | 'handshaking';
  /** One of the addresses refused: the network works. */
  isReached: boolean;
  /** Our name servers have used up so much of the time that its end says nothing about the receiver. */
  isHeldUp: boolean;
  /** TLS handshakes begun. */
  handshakes: number;
  /** Returns the failure of the egress proxy's silence; null where it was not asked. */
  proxyFailure: (() => ConnectFailure) | null;
  /** Closes everything opened for it so far. */
  giveUp(): void;
  isOver: boolean;
  stepped(): void;
  end(result: Established | ConnectFailure): void;
}

interface Dialling {
  readonly connecting: Connecting;
  /** Called once the address has answered. */
  readonly onConnected: () => void;
}

export interface DiallerDeps {
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly secureContext: tls.SecureContext;
  readonly connectTimeoutMs: number;
  /** Null without an egress proxy. */
  readonly tunnels: Tunnels | null;
}

/** The share of the time-out after which a silent handshake that resumes a session is tried without it. */
const RESUMING_SHARE = 0.25;
const SPOKE_FIRST = 'the receiver sent data before the request';

/** Opens verified TLS connections to addresses that were checked. */
export class Dialler {
  readonly #deps: DiallerDeps;

  constructor(deps: DiallerDeps) {
    this.#deps = deps;
  }

  /**
   * Connects to one address, resuming the last session if there is one. Some receivers cannot resume, and reset, refuse or
   * drop a connection that tries to: then it is opened once more without.
   */
  dial(target: ConnectTarget, address: string, { connecting, onConnected }: Dialling): Dial<Established> {
    const { clock, connectTimeoutMs } = this.#deps;
    const { sessions } = target;
    const session = sessions.offered(clock);
    if (!session) return this.#dialWith(null, target, address, { connecting, onConnected });
    let hasConnected = false;
    const dial = (offered: KeptSession | null, isAlive: () => void): Dial<Established> => {
      if (!offered) sessions.forget();
      const connected = () => {
        hasConnected = true;
        isAlive();
        onConnected();
      };
      const opened = this.#dialWith(offered, target, address, { connecting, onConnected: connected });
      if (offered) return opened;
      const result = opened.result.then((established) => {
        sessions.refuse(clock);
        return established;
      });
      return { result, cancel: () => opened.cancel() };
    };
    return new Race([session, null], dial, {
      clock,
      staggerMs: () => Number.POSITIVE_INFINITY,
      connectedMs: connectTimeoutMs * RESUMING_SHARE,
      mayGoOn: (error) => hasConnected && connectFailureOf(error).failureCode !== 'blocked_address',
    });
  }

  #dialWith(
    session: KeptSession | null,
    target: ConnectTarget,
    address: string,
    { connecting, onConnected }: Dialling,
  ): Dial<Established> {
    const reached = this.#reach(target, address, connecting);
    let isCancelled = false;
    let close = () => reached.cancel();
    const result = reached.opened.then((socket) => {
      if (isCancelled || connecting.isOver) {
        socket.destroy();
        throw new ConnectFailure('connection_reset', 'closed');
      }
      connecting.stage = 'handshaking';
      connecting.handshakes += 1;
      connecting.stepped();
      onConnected();
      const { secured, established } = this.#handshake(target, socket, session);
      close = () => void secured.destroy();
      return established;
    });
    const cancel = () => {
      isCancelled = true;
      close();
    };
    return { result, cancel };
  }

  /** Opens a TCP connection to an address, through the egress proxy if there is one. */
  #reach(target: ConnectTarget, address: string, connecting: Connecting): Tunnel {
    const { clock, guard, tunnels } = this.#deps;
    if (tunnels !== null && !guard.isExempt(target.host)) {
      const askedAt = clock.now();
      connecting.proxyFailure ??= () => tunnels.unanswered(askedAt);
      return tunnels.open(address, target.port);
    }
    // An address, never a name: nothing is resolved after the check.
    const socket = net.connect({ host: address, port: target.port, noDelay: true });
    const opened = new Promise<Socket>((resolve, reject) => {
      socket.on('error', reject);
      socket.once('close', () => reject(new ConnectFailure('connection_reset', 'closed')));
      socket.once('connect', () => {
        this.#checkPeer(target, socket);
        if (!socket.destroyed) resolve(socket);
      });
    });
    return { opened, cancel: () => void socket.destroy() };
  }

  #handshake(
    target: ConnectTarget,
    socket: Socket,
    session: KeptSession | null,
  ): { readonly secured: tls.TLSSocket; readonly established: Promise<Established> } {
    const { clock } = this.#deps;
    const { sessions } = target;
    const secured = tls.connect({
      socket,
      // Server name indication is for names only (RFC 6066); literals are checked against the certificate's addresses.
      servername: isIP(target.host) ? '' : target.host,
      secureContext: this.#deps.secureContext,
      ...(session ? { session: session.bytes } : {}),
      ALPNProtocols: ['http/1.1'],
      // Set explicitly, because an environment variable could switch it off otherwise.
      rejectUnauthorized: true,
      checkServerIdentity: (_, certificate) => tls.checkServerIdentity(target.host, certificate),
    });
    secured.setNoDelay(true);
    nameMissingIssuer(secured);
    const answered = keepSession(secured, session, clock, (kept) => sessions.keep(kept, clock));
    const established = new Promise<Established>((resolve, reject) => {
      const closed = () => reject(new ConnectFailure('connection_reset', 'closed during the TLS handshake'));
      secured.on('error', reject).on('close', closed);
      secured.once('secureConnect', () => {
        // Data of the same turn is read first: a response sent before the request must not be taken for its response.
        setImmediate(() => {
          if (secured.readableLength > 0) secured.destroy(new ConnectFailure('protocol_error', SPOKE_FIRST));
          if (secured.destroyed) return;
          secured.off('error', reject).off('close', closed);
          const isResumed = session !== null && secured.isSessionReused();
          const resumed = isResumed
            ? { forget: () => sessions.forget(), refuse: () => sessions.refuse(clock) }
            : null;
          resolve({ socket: secured, certificateUntil: certificateEnd(secured, session), resumed, answered });
        });
      });
    });
    return { secured, established };
  }

  /** Checks the address that the kernel connected to, whatever was requested. */
  #checkPeer({ host }: ConnectTarget, socket: Socket): void {
    const { remoteAddress } = socket;
    // Undefined: the connection has already closed, and nothing can be sent on it.
    if (remoteAddress === undefined || this.#deps.guard.permits(host, remoteAddress)) return;
    const detail = `${host} resolved to an address that is not public`;
    socket.destroy(
      new ConnectFailure('blocked_address', detail, { blockedBy: 'remote_address', sign: 'unknown' }),
    );
  }
}
