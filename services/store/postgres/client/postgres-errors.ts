import { codeOf, messageOf } from '../../../messages/error-message.ts';
import { FORMER_PRIMARY } from './timeline.ts';

/**
 * The kind of an error of the driver or the server, by what the call can do:
 * - `repeat`: the transaction conflicted with another one; a retry may succeed.
 * - `lost`: the connection, or the server behind it, is no longer the one to talk to.
 * - `unavailable`: the server answers, but cannot do it now (disk full, too many connections, a time-out).
 * - `unique`: a unique index has the value.
 * - `other`: a mistake in the statement or the data.
 */
export type PostgresFailure = 'repeat' | 'lost' | 'unavailable' | 'unique' | 'other';

/** By SQLSTATE (PostgreSQL, Appendix A), or by its class. */
const BY_CODE: Readonly<Record<string, PostgresFailure>> = {
  '40001': 'repeat',
  '40P01': 'repeat',
  '55P03': 'repeat',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'lost',
  '25006': 'lost',
  // The session was ended, idle within a transaction.
  '25P03': 'lost',
  '57014': 'unavailable',
  '23505': 'unique',
  '08': 'lost',
  // The user or the database is refused.
  '28': 'lost',
  '3D': 'lost',
  '53': 'unavailable',
  '58': 'unavailable',
};

/** How messages of the driver's own errors begin, which have no code. */
const BY_MESSAGE: readonly (readonly [begin: string, failure: PostgresFailure])[] = [
  ['Connection terminated', 'lost'],
  ['Query read timeout', 'lost'],
  ['Client has encountered a connection error', 'lost'],
  ['Cannot use a pool after calling end', 'lost'],
  ['the server is read-only', 'lost'],
  [FORMER_PRIMARY, 'lost'],
  // All connections are in use, and none came free in time.
  ['timeout exceeded when trying to connect', 'unavailable'],
];

export function failureOf(error: unknown): PostgresFailure {
  const code = codeOf(error);
  const known = BY_CODE[code] ?? BY_CODE[code.slice(0, 2)];
  if (/^[0-9A-Z]{5}$/.test(code)) return known ?? 'other';
  if (code.startsWith('ERR_') && !code.startsWith('ERR_TLS')) return 'other';
  // Of the operating system (ECONNREFUSED, ETIMEDOUT, EPIPE), or of TLS (CERT_HAS_EXPIRED).
  if (code !== '') return 'lost';
  return BY_MESSAGE.find(([begin]) => messageOf(error).startsWith(begin))?.[1] ?? 'other';
}

/** Returns the error's code of PostgreSQL (Appendix A), or '' when it has none. */
export function sqlStateOf(error: unknown): string {
  const code = codeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) ? code : '';
}
