import { isIPv4 } from 'node:net';
import type { FailureCode } from '../../domain/attempt.ts';
import { describedFailure } from '../../domain/failures/failure-signs.ts';

/**
 * Evidence of an attempt about the network between us and the receivers. `reached`: a receiver's address answered,
 * with anything. `silent`: nothing arrived that a receiver must have sent. `no_such_name`: the resolver reports that
 * the name does not exist. `unknown`: no evidence.
 */
export type NetworkSign = 'reached' | 'silent' | 'no_such_name' | 'unknown';

/**
 * Why an attempt could not be made through our own fault. `machine_limit`: no file descriptor or memory is left.
 * `egress_proxy`: the egress proxy cannot be used. `origin_connections`: all connections to the origin were in use.
 * `network_down`: our name servers answer nothing.
 */
const OWN_FAULTS = ['machine_limit', 'egress_proxy', 'origin_connections', 'network_down'] as const;
export type OwnFault = (typeof OWN_FAULTS)[number];

export interface ConnectFailureFacts {
  /** The address guard's rule that refused. */
  readonly blockedBy?: string;
  /** `reached` by default. */
  readonly sign?: NetworkSign;
  /** Our own fault: the attempt could not be made and does not count as the receiver's failure. */
  readonly ownFault?: OwnFault;
}

/** A connection could not be opened. The message is shown to merchants and holds no secret. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly failureCode: FailureCode;
  readonly facts: ConnectFailureFacts;

  constructor(failureCode: FailureCode, detail: string, facts: ConnectFailureFacts = {}) {
    super(detail);
    this.failureCode = failureCode;
    this.facts = facts;
  }
}

/** The machine's limits. They are not the receiver's fault, so the attempt is not counted. */
const OURS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);
/** There is no route to the address: a router or our own kernel reports it, or nothing answers. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
]);

/** No connection can be opened from this machine. `code`: the system's, such as EMFILE. */
export function machineLimit(code: string): ConnectFailure {
  return new ConnectFailure('connect_refused', code, { ownFault: 'machine_limit', sign: 'unknown' });
}

/** Classifies the failure of a socket before TLS was established. */
export function connectFailureOf(
  error: NodeJS.ErrnoException & { readonly address?: string },
): ConnectFailure {
  if (error instanceof ConnectFailure) return error;
  const code = error.code ?? '';
  // No port of our own is left; over IPv6 it may say that this machine has no address.
  const isWithoutPort = code === 'EADDRNOTAVAIL' && isIPv4(error.address ?? '');
  if (OURS.has(code) || isWithoutPort) return machineLimit(code);
  const described = describedFailure(code, error.message);
  if (code === 'ECONNREFUSED') return new ConnectFailure('connect_refused', described);
  if (UNREACHABLE.has(code)) return new ConnectFailure('connect_refused', described, { sign: 'silent' });
  if (code === 'ETIMEDOUT') return new ConnectFailure('connect_timeout', described, { sign: 'silent' });
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return new ConnectFailure('connection_reset', 'the connection was closed during the TLS handshake');
  }
  return new ConnectFailure('tls_error', `TLS failed: ${tlsReason(error)}`);
}

/** Describes the errors that remain: certificate, name, version, or bytes that are not TLS at all. */
export function tlsReason(error: NodeJS.ErrnoException & { readonly reason?: string }): string {
  const code = error.code || 'handshake';
  // OpenSSL's own message has thread numbers and names of its source files; its reason is the readable part.
  return describedFailure(code, error.reason ?? error.message);
}
