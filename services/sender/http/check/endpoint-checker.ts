import type { TLSSocket } from 'node:tls';
import {
  CHECK_STEPS,
  type CheckStep,
  type CheckStepName,
  type CheckUrl,
} from '../../../domain/checks/endpoint-check.ts';
import * as findings from '../../../domain/checks/findings.ts';
import type { CustomHeader } from '../../../domain/controls/custom-headers.ts';
import type { Clock } from '../../../process/clock.ts';
import { type DescriptorWatch, ENOUGH_DESCRIPTORS } from '../../../process/descriptors.ts';
import { AddressGuard, type EgressPolicy } from '../address-guard.ts';
import { ConnectFailure, connectFailureOf, machineLimit } from '../connect-failure.ts';
import { secureContext } from '../connector.ts';
import { type Connecting, type ConnectTarget, Dialler, type Established, targetOf } from '../dialler.ts';
import type { Tunnels } from '../egress-proxy.ts';
import { redirectOf } from '../failure-names.ts';
import { hostsResolver, type Resolve } from '../names/addresses.ts';
import { NameServers } from '../names/name-servers.ts';
import { askHead } from './ask.ts';
import { certificateOf } from './certificate.ts';

interface CheckerOptions {
  readonly clock: Clock;
  /** DNS, then each connection with its TLS, milliseconds. */
  readonly connectTimeoutMs: number;
  /** After which an attempt fails, milliseconds. */
  readonly totalTimeoutMs: number;
  /** The allowed destinations; the same policy as that of attempts. */
  readonly egress: EgressPolicy;
  readonly tunnels?: Tunnels | null;
  /** PEM of authorities trusted besides the system's, or null. */
  readonly extraCa: string | null;
  readonly resolve?: Resolve;
  readonly nameServers?: NameServers;
  readonly descriptors?: DescriptorWatch;
}

/** Addresses that are tried, one after the other. */
const ADDRESSES_MAX = 4;

/** The URL that is checked, with the headers of the endpoint's own. */
interface Checked {
  readonly url: URL;
  readonly headers: readonly CustomHeader[];
}

type Take = (step: CheckStepName, finding: findings.Finding, sinceMs: number) => void;

/**
 * Checks a URL by the parts that attempts use: the same address guard, name servers, egress proxy and trust, so what it
 * refuses an attempt would refuse. It sends no webhook.
 */
export class EndpointChecker {
  readonly #options: CheckerOptions;
  readonly #guard: AddressGuard;
  readonly #dialler: Dialler;

  constructor(options: CheckerOptions) {
    const { clock, connectTimeoutMs } = options;
    this.#options = options;
    const nameServers = options.nameServers ?? new NameServers({ clock, connectTimeoutMs });
    this.#guard = new AddressGuard(options.egress, {
      resolve: options.resolve ?? ((hostname) => nameServers.resolve(hostname)),
      resolveExempt: hostsResolver,
      nameServers,
    });
    this.#dialler = new Dialler({
      clock,
      guard: this.#guard,
      secureContext: secureContext(options.extraCa),
      connectTimeoutMs,
      tunnels: options.tunnels ?? null,
    });
  }

  readonly check: CheckUrl = async (url, signal, headers = []) => {
    const { clock } = this.#options;
    const taken = new Map<CheckStepName, CheckStep>();
    const take: Take = (step, finding, sinceMs) => {
      const durationMs = finding.result === 'not_tried' ? null : clock.now() - sinceMs;
      taken.set(step, { step, ...finding, durationMs });
    };
    await this.#walk({ url: new URL(url), headers }, take, signal);
    return CHECK_STEPS.map((step) => taken.get(step) ?? { step, ...findings.notTried(), durationMs: null });
  };

  /**
   * Returns the end of the certificate that a server shows, milliseconds since the epoch; null: none was verified. Connects
   * and sends no request. Never rejects; a signal that fires ends it.
   */
  readonly certificateEnd = async (url: string, signal: AbortSignal): Promise<number | null> => {
    const target = targetOf(new URL(url));
    const take = () => {};
    const addresses = await this.#resolved(target, take, signal);
    const established = addresses && (await this.#secured(target, addresses, take, signal));
    if (!established) return null;
    const { until } = certificateOf(established.socket);
    established.socket.destroy();
    return until;
  };

  async #walk(checked: Checked, take: Take, signal: AbortSignal): Promise<void> {
    const target = targetOf(checked.url);
    const addresses = await this.#resolved(target, take, signal);
    const established = addresses && (await this.#secured(target, addresses, take, signal));
    if (established) await this.#answered(established.socket, checked, take, signal);
  }

  async #resolved(
    target: ConnectTarget,
    take: Take,
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    const { clock, connectTimeoutMs, descriptors = ENOUGH_DESCRIPTORS } = this.#options;
    const { host, port } = target;
    const startedAt = clock.now();
    const all = async () => {
      if (descriptors.isShort) throw machineLimit('EMFILE');
      const { first, later } = await this.#guard.addressesOf(host, port);
      return [...first, ...((await later) ?? [])];
    };
    try {
      const addresses = await this.#within(connectTimeoutMs, all(), signal, () =>
        this.#guard.notInTime(host),
      );
      take('dns', findings.resolved(host, addresses), startedAt);
      return addresses;
    } catch (error) {
      take('dns', failureOf(error), startedAt);
      return undefined;
    }
  }

  /** Connects to one address after the other until one is verified. */
  async #secured(
    target: ConnectTarget,
    addresses: readonly string[],
    take: Take,
    signal: AbortSignal,
  ): Promise<Established | undefined> {
    const { clock } = this.#options;
    const refusals: string[] = [];
    for (const address of addresses.slice(0, ADDRESSES_MAX)) {
      if (signal.aborted) return undefined;
      const startedAt = clock.now();
      const dialled: Dialled = { connectedAt: null };
      try {
        const established = await this.#dial(target, address, dialled, signal);
        take('tcp', findings.connected(address, refusals), startedAt);
        const found = findings.secured(certificateOf(established.socket), clock.system(clock.wall()));
        take('tls', found, dialled.connectedAt ?? startedAt);
        return established;
      } catch (error) {
        const failure = failureOf(error);
        if (dialled.connectedAt === null) {
          refusals.push(`${address}: ${failure.says.replace(/\.$/, '')}`);
          take('tcp', failure, startedAt);
        } else {
          take('tcp', findings.connected(address, refusals), startedAt);
          take('tls', failure, dialled.connectedAt);
          // What its certificate lacks, it lacks at every address.
          return undefined;
        }
      }
    }
    return undefined;
  }

  async #dial(
    target: ConnectTarget,
    address: string,
    dialled: Dialled,
    signal: AbortSignal,
  ): Promise<Established> {
    const { clock, connectTimeoutMs } = this.#options;
    const connecting = newConnecting(target.host);
    const onConnected = () => {
      dialled.connectedAt ??= clock.now();
    };
    const dial = this.#dialler.dial(target, address, { connecting, onConnected });
    // One that is given up may end well all the same.
    const given = dial.result.then((established) => {
      if (connecting.isOver) established.socket.destroy();
      return established;
    });
    try {
      return await this.#within(connectTimeoutMs, given, signal, () => timedOut(connecting));
    } catch (error) {
      connecting.isOver = true;
      dial.cancel();
      throw error;
    }
  }

  async #answered(
    socket: TLSSocket,
    { url, headers }: Checked,
    take: Take,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, totalTimeoutMs } = this.#options;
    const startedAt = clock.now();
    const late = () => new ConnectFailure('response_timeout', 'no status of a response arrived in time');
    try {
      const { status, location } = await this.#within(
        totalTimeoutMs,
        askHead(socket, url, headers),
        signal,
        late,
      );
      const tookMs = clock.now() - startedAt;
      take('answer', findings.answered(status), startedAt);
      take('redirect', findings.redirected(status, redirectOf(location)), startedAt);
      take('latency', findings.took(tookMs, totalTimeoutMs), startedAt);
    } catch (error) {
      take('answer', failureOf(error), startedAt);
    } finally {
      socket.destroy();
    }
  }

  /** Rejects when a step has not ended in time, or the signal fires. */
  #within<T>(ms: number, step: Promise<T>, signal: AbortSignal, late: () => Error): Promise<T> {
    const { clock } = this.#options;
    const ended = new Promise<T>((resolve, reject) => {
      const stopWaiting = clock.at(clock.now() + ms, () => end(late()));
      const abort = () => end(new Interrupted());
      const stop = () => {
        stopWaiting();
        signal.removeEventListener('abort', abort);
      };
      const end = (error: Error) => {
        stop();
        reject(error);
      };
      signal.addEventListener('abort', abort);
      step.then((result) => {
        stop();
        resolve(result);
      }, end);
      if (signal.aborted) abort();
    });
    return ended;
  }
}

/** The service stops, or nobody waits for the check any more. */
class Interrupted extends Error {}

interface Dialled {
  /** Once TCP is established. */
  connectedAt: number | null;
}

function newConnecting(host: string): Connecting {
  return {
    ...{ host, stage: 'connecting', isReached: false, isHeldUp: false, handshakes: 0 },
    ...{ proxyFailure: null, giveUp: () => {}, isOver: false, stepped: () => {}, end: () => {} },
  };
}

function timedOut({ stage, proxyFailure }: Connecting): ConnectFailure {
  if (stage === 'handshaking')
    return new ConnectFailure('connect_timeout', 'the TLS handshake did not end in time');
  if (proxyFailure) return proxyFailure();
  return new ConnectFailure('connect_timeout', 'the connection was not established in time');
}

/** A fault of our own is named in general: its detail may tell of the inside of our network. */
function failureOf(error: unknown): findings.Finding {
  if (error instanceof Interrupted) return findings.notTried('Not tried: the check was interrupted.');
  const { failureCode, message, facts } = connectFailureOf(error as Error);
  return facts.ownFault ? findings.oursToMend(facts.ownFault) : findings.failed(failureCode, message);
}
