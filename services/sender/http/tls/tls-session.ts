import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../../process/clock.ts';

/** A TLS session that a later connection may resume. A resumed connection does not verify the certificate again. */
export interface KeptSession {
  readonly bytes: Buffer;
  /** When its certificate was verified, by the monotonic clock. */
  readonly verifiedAt: number;
  /** The end of that certificate, by the system's time. */
  readonly certificateUntil: number;
}

/** After this long the certificate is verified again, even if it is still valid. */
const RESUMED_MS_MAX = 4 * 60 * 60_000;
/** Sessions accepted from a receiver on one connection. Ordinary servers offer two. */
const SESSIONS_MAX = 16;
/** A receiver that works only without its session is taken to be unable to resume for this long, milliseconds. */
const NO_SESSIONS_MS = 10 * 60_000;

/** The last TLS session of an origin, until it fails. */
export class TlsSessions {
  #last: KeptSession | null = null;
  #noneUntil = Number.NEGATIVE_INFINITY;

  /** Returns the session to offer, if any. */
  offered(clock: Clock): KeptSession | null {
    return this.#last && mayBeResumed(this.#last, clock) ? this.#last : null;
  }

  keep(session: KeptSession, clock: Clock): void {
    if (clock.now() >= this.#noneUntil) this.#last = session;
  }

  /** A connection that offered a session has failed or is silent. */
  forget(): void {
    this.#last = null;
  }

  /** And the same attempt went on without it: the receiver cannot resume. */
  refuse(clock: Clock): void {
    this.#last = null;
    this.#noneUntil = clock.now() + NO_SESSIONS_MS;
  }
}

/**
 * Stores each session that the receiver offers on this connection. `resumed` is the session that the connection asked
 * to resume: sessions derived from it expire with it, so that no chain of resumptions outlives a verification. Returns
 * the function to call once a request was answered: a receiver that answers none is offered no session, because the
 * attempt that failed with it would go on without, and send its request twice.
 */
export function keepSession(
  socket: TLSSocket,
  resumed: KeptSession | null,
  clock: Clock,
  keep: (session: KeptSession) => void,
): () => void {
  let offered = 0;
  let isAnswered = false;
  let waiting: KeptSession | null = null;
  socket.on('session', (bytes: Buffer) => {
    offered += 1;
    if (offered > SESSIONS_MAX) {
      socket.destroy();
      return;
    }
    // Only once the certificate was verified.
    if (!socket.authorized) return;
    const certificateUntil = certificateEnd(socket, resumed);
    // The socket may have closed meanwhile: then its certificate is no longer available.
    if (certificateUntil === Number.NEGATIVE_INFINITY) return;
    const verifiedAt = resumed && socket.isSessionReused() ? resumed.verifiedAt : clock.now();
    waiting = { bytes, verifiedAt, certificateUntil };
    if (isAnswered) keep(waiting);
  });
  return () => {
    if (!isAnswered && waiting) keep(waiting);
    isAnswered = true;
  };
}

function mayBeResumed({ verifiedAt, certificateUntil }: KeptSession, clock: Clock): boolean {
  return clock.now() - verifiedAt < RESUMED_MS_MAX && clock.system(clock.wall()) < certificateUntil;
}

/** Returns the end of the certificate that verified this connection, by the system's time. */
export function certificateEnd(socket: TLSSocket, resumed: KeptSession | null): number {
  if (resumed && socket.isSessionReused()) return resumed.certificateUntil;
  const until = Date.parse(socket.getPeerCertificate()?.valid_to ?? '');
  return Number.isNaN(until) ? Number.NEGATIVE_INFINITY : until;
}
