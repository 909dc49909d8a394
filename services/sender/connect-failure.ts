import type { FailureCode } from '../domain/attempt.ts';

export interface ConnectFailureFacts {
  /** The rule by which the address guard refused. */
  readonly blockedBy?: string;
  /** Nothing at all came back from the network: it may be our own that is down. */
  readonly isSilent?: boolean;
  /** This machine could not even try (no file descriptor, no memory): not the receiver's failure. */
  readonly isOurs?: boolean;
}

/** A connection did not come about. Its message is shown to merchants and holds no secret. */
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

/** The machine's limits. They say nothing about the receiver, so the attempt is not counted. */
const OURS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);
/** No way to the address: the network's answer, or its silence. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
]);

/** Names the failure of a socket before TLS was established. */
export function connectFailureOf(error: Error & { code?: string }): ConnectFailure {
  if (error instanceof ConnectFailure) return error;
  const code = error.code ?? '';
  if (OURS.has(code)) return new ConnectFailure('connect_refused', code, { isOurs: true });
  if (code === 'ECONNREFUSED') return new ConnectFailure('connect_refused', 'the connection was refused');
  if (UNREACHABLE.has(code)) {
    return new ConnectFailure('connect_refused', `the address cannot be reached: ${code}`, {
      isSilent: true,
    });
  }
  if (code === 'ETIMEDOUT') {
    return new ConnectFailure('connect_timeout', 'the connection timed out', { isSilent: true });
  }
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return new ConnectFailure('connection_reset', 'the connection was closed during the TLS handshake');
  }
  // What is left is TLS: certificate, name, version, or bytes that are not TLS at all.
  return new ConnectFailure(
    'tls_error',
    `TLS failed: ${code || 'handshake'}: ${error.message.slice(0, 200)}`,
  );
}
