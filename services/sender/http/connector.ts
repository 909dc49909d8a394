import { constants } from 'node:crypto';
import tls from 'node:tls';
import type { FailureCode } from '../../domain/attempt.ts';
import type { Clock } from '../../process/clock.ts';
import type { DescriptorWatch } from '../../process/descriptors.ts';
import { Deadlines } from '../blame/blame.ts';
import type { AddressGuard } from './address-guard.ts';
import { Race } from './address-race.ts';
import { ConnectFailure, connectFailureOf, machineLimit } from './connect-failure.ts';
import { type Connecting, type ConnectTarget, Dialler, type Established } from './dialler.ts';
import type { Tunnels } from './egress-proxy.ts';

export interface ConnectorDeps {
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly secureContext: tls.SecureContext;
  /** DNS, TCP and TLS together, milliseconds. */
  readonly connectTimeoutMs: number;
  /** Connects for us, except to hosts exempt from the guard; null: we connect ourselves. */
  readonly tunnels: Tunnels | null;
  readonly descriptors: DescriptorWatch;
}

/**
 * The next address is tried after one has been silent for this long (RFC 8305, section 5), or sooner if there are so many
 * that they would not all be tried within this share of the time-out.
 */
const STAGGER_MS = 150;
const STAGGER_MS_MIN = 10;
const ADDRESSES_SHARE = 0.5;
/** The share of the time-out after which a silent TLS handshake is tried at the next address as well. */
const HANDSHAKE_SHARE = 0.4;
/** Each handshake costs as much as several deliveries: a name with many bad addresses gets this many. */
const HANDSHAKES_MAX = 4;

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
  readonly #dialler: Dialler;
  readonly #opening = new Set<Connecting>();
  readonly #deadlines: Deadlines<Connecting>;

  constructor(deps: ConnectorDeps) {
    this.#deps = deps;
    this.#dialler = new Dialler(deps);
    const deadline = { aheadMs: deps.connectTimeoutMs, whenLate: 'extend' } as const;
    this.#deadlines = new Deadlines(deps.clock, deadline, (connecting) =>
      connecting.end(timedOut(connecting, deps.guard)),
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
        isHeldUp: false,
        handshakes: 0,
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
    connecting.isHeldUp = addresses.isHeldUp ?? false;
    connecting.stepped();
    const { connectTimeoutMs } = this.#deps;
    const race = new Race(
      addresses.first,
      (address: string, onConnected) => this.#dialler.dial(target, address, { connecting, onConnected }),
      {
        clock,
        staggerMs: (waiting) =>
          Math.max(STAGGER_MS_MIN, Math.min(STAGGER_MS, (connectTimeoutMs * ADDRESSES_SHARE) / waiting)),
        connectedMs: connectTimeoutMs * HANDSHAKE_SHARE,
        mayGoOn: (error) => mayTryAnother(connecting, error),
        mayOpen: () => !descriptors.isShort && connecting.handshakes < HANDSHAKES_MAX,
        later: addresses.later,
      },
    );
    connecting.giveUp = () => race.cancel();
    return race.result;
  }
}

/** Failures after which another address of the name may work. */
const OF_ONE_ADDRESS: ReadonlySet<FailureCode> = new Set([
  'connect_refused',
  'connect_timeout',
  'connection_reset',
  'tls_error',
]);

/** Our own faults are those of every address. */
function mayTryAnother(connecting: Connecting, error: Error): boolean {
  const { failureCode, facts } = connectFailureOf(error);
  if (facts.ownFault || !OF_ONE_ADDRESS.has(failureCode)) return false;
  if ((facts.sign ?? 'reached') === 'reached') connecting.isReached = true;
  return true;
}

function timedOut(
  { host, stage, isReached, isHeldUp, proxyFailure }: Connecting,
  guard: Pick<AddressGuard, 'notInTime'>,
): ConnectFailure {
  if (stage === 'resolving') return guard.notInTime(host);
  if (isHeldUp) {
    const detail = `the name servers left too little time to connect to ${host}`;
    return new ConnectFailure('connect_timeout', detail, { ownFault: 'network_down', sign: 'unknown' });
  }
  if (stage === 'handshaking')
    return new ConnectFailure('connect_timeout', 'the TLS handshake did not end in time');
  if (proxyFailure) return proxyFailure();
  return new ConnectFailure('connect_timeout', 'the connection was not established in time', {
    sign: isReached ? 'reached' : 'silent',
  });
}
