import { isIP, type OnReadOpts, type Socket } from 'node:net';
import tls from 'node:tls';
import type { Clock } from '../runtime/clock.ts';
import type { EgressProxy } from '../runtime/egress-proxy.ts';
import type { AddressGuard } from './address-guard.ts';
import { ConnectFailure, connectFailureOf } from './connect-failure.ts';
import { openTunnel } from './egress-proxy.ts';

export interface ConnectorDeps {
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly secureContext: tls.SecureContext;
  /** DNS, TCP and TLS together, milliseconds. */
  readonly connectTimeoutMs: number;
  /** Connects for us, except to what is exempt from the guard; null: we connect ourselves. */
  readonly proxy: EgressProxy | null;
}

/** Where to connect, and the TLS session of an earlier connection there: its certificate was verified then. */
export interface ConnectTarget {
  /** Lower-case name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  session: Buffer | undefined;
}

/** Addresses tried for one connection: a second one when the first fails at once. */
const ADDRESSES_TRIED_MAX = 2;

/** One context for every connection: parsing the authorities again costs 26 ms of the event loop each time. */
export function secureContext(extraCa: string | null): tls.SecureContext {
  const versions = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' } as const;
  if (extraCa === null) return tls.createSecureContext(versions);
  return tls.createSecureContext({ ...versions, ca: [...tls.rootCertificates, extraCa] });
}

/** Opens verified TLS connections to checked addresses, and to nothing else. */
export class Connector {
  readonly #deps: ConnectorDeps;
  readonly #opening = new Set<Connecting>();

  constructor(deps: ConnectorDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves to a socket whose TLS is established and verified; rejects with a ConnectFailure within the time-out.
   * `receive` gets what the receiver sends: views, valid until it returns.
   */
  connect(target: ConnectTarget, receive: (bytes: Buffer) => void): Promise<tls.TLSSocket> {
    const { clock, connectTimeoutMs } = this.#deps;
    return new Promise((resolve, reject) => {
      const connecting: Connecting = {
        stage: 'resolving',
        receive,
        giveUp: () => {},
        isOver: false,
        end: () => {},
      };
      const disarm = clock.at(clock.now() + connectTimeoutMs, () =>
        connecting.end(timedOut(connecting, target)),
      );
      connecting.end = (result) => {
        if (connecting.isOver) return;
        connecting.isOver = true;
        disarm();
        this.#opening.delete(connecting);
        if (result instanceof ConnectFailure) {
          connecting.giveUp();
          reject(result);
        } else resolve(result);
      };
      this.#opening.add(connecting);
      this.#open(target, connecting).then(connecting.end, (error: Error) =>
        connecting.end(connectFailureOf(error)),
      );
    });
  }

  /** Gives up what is being opened. */
  close(): void {
    for (const connecting of [...this.#opening])
      connecting.end(new ConnectFailure('connection_reset', 'closed'));
  }

  async #open(target: ConnectTarget, connecting: Connecting): Promise<tls.TLSSocket> {
    const addresses = await this.#deps.guard.addressesOf(target.host, target.port);
    let failure = new ConnectFailure('dns_error', `${target.host} has no address`);
    for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
      if (connecting.isOver) break;
      try {
        connecting.stage = 'connecting';
        const tunnel = await this.#tunnel(target, address, connecting);
        return await this.#handshake(target, address, connecting, tunnel);
      } catch (error) {
        failure = connectFailureOf(error as Error);
        // Another address of the name may be up; one that answered in TLS speaks for all of them.
        if (failure.failureCode !== 'connect_refused') break;
      }
    }
    throw failure;
  }

  /** The proxy's connection to the address; null where we connect ourselves. */
  async #tunnel(
    { host, port }: ConnectTarget,
    address: string,
    connecting: Connecting,
  ): Promise<Socket | null> {
    const { guard, proxy } = this.#deps;
    if (proxy === null || guard.isExempt(host)) return null;
    const tunnel = openTunnel(proxy, address, port);
    connecting.giveUp = () => tunnel.cancel();
    const socket = await tunnel.opened;
    if (connecting.isOver) socket.destroy();
    connecting.giveUp = () => void socket.destroy();
    connecting.stage = 'handshaking';
    return socket;
  }

  #handshake(
    target: ConnectTarget,
    address: string,
    connecting: Connecting,
    tunnel: Socket | null,
  ): Promise<tls.TLSSocket> {
    const { guard } = this.#deps;
    return new Promise((resolve, reject) => {
      const socket = tls.connect({
        // An address, never a name: nothing is resolved after the check.
        ...(tunnel
          ? { socket: tunnel }
          : { host: address, port: target.port, onread: readInto(connecting.receive) }),
        // Server name indication is for names only (RFC 6066); literals are checked against the certificate's addresses.
        servername: isIP(target.host) ? '' : target.host,
        secureContext: this.#deps.secureContext,
        session: target.session,
        ALPNProtocols: ['http/1.1'],
        // Said out loud, because an environment variable could switch it off otherwise.
        rejectUnauthorized: true,
        checkServerIdentity: (_, certificate) => tls.checkServerIdentity(target.host, certificate),
      });
      connecting.giveUp = () => void socket.destroy();
      socket.setNoDelay(true);
      if (tunnel) socket.on('data', connecting.receive);
      // Through a proxy, the peer is the proxy, which was told the address.
      if (!tunnel)
        socket.once('connect', () => {
          connecting.stage = 'handshaking';
          // What the kernel connected to is what counts, whatever was asked for.
          // (Undefined: the connection is gone again already, and nothing can be sent on it.)
          const { remoteAddress } = socket;
          if (remoteAddress === undefined || guard.permits(target.host, remoteAddress)) return;
          const detail = `${target.host} led to an address that is not public`;
          socket.destroy(new ConnectFailure('blocked_address', detail, { blockedBy: 'remote_address' }));
        });
      const closed = () => reject(new ConnectFailure('connection_reset', 'closed during the TLS handshake'));
      socket.on('error', reject).on('close', closed);
      socket.once('secureConnect', () => {
        socket.off('error', reject).off('close', closed);
        resolve(socket);
      });
      // Kept only once the certificate was verified: a resumed session is not verified again.
      socket.on('session', (session) => {
        if (socket.authorized) target.session = session;
      });
    });
  }
}

/** All connections read into this, one after the other: what is kept of it is copied. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** Reading without a stream: a stream's bookkeeping costs several times what a response does. */
function readInto(receive: (bytes: Buffer) => void): OnReadOpts {
  return {
    buffer: READ_BUFFER,
    callback(count) {
      receive(READ_BUFFER.subarray(0, count));
      return true;
    },
  };
}

/** A connection on its way. `stage` says where a time-out caught it. */
interface Connecting {
  stage: 'resolving' | 'connecting' | 'handshaking';
  /** Gets what the receiver sends. */
  readonly receive: (bytes: Buffer) => void;
  /** Ends what is open for it so far. */
  giveUp(): void;
  isOver: boolean;
  end(result: tls.TLSSocket | ConnectFailure): void;
}

function timedOut({ stage }: Connecting, { host }: ConnectTarget): ConnectFailure {
  switch (stage) {
    case 'resolving':
      return new ConnectFailure('dns_error', `${host} was not resolved in time`, { isSilent: true });
    case 'connecting':
      return new ConnectFailure('connect_timeout', 'the connection was not established in time', {
        isSilent: true,
      });
    case 'handshaking':
      return new ConnectFailure('connect_timeout', 'the TLS handshake did not end in time');
  }
}
