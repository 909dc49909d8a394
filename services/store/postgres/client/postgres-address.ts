import type { ConnectionOptions } from 'node:tls';
import { isLoopbackHost } from '../../../domain/text/loopback.ts';

export interface PostgresHost {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

/** Where PostgreSQL is: a primary and its standbys, in any order. */
export interface PostgresAddress {
  readonly hosts: readonly PostgresHost[];
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
  readonly ssl: ConnectionOptions | false;
}

const PORT = 5432;
const MODES = ['disable', 'verify-full'];

/**
 * Parses `postgres://user:password@host:port,host:port/database?sslmode=verify-full`; `?host=/run/postgresql` names the
 * folder of a Unix socket. `sslmode` is `verify-full` unless every host is this machine. Throws one line that says what
 * is wrong without the URL, which has a password.
 */
export function parsePostgresUrl(text: string, ca: string | undefined): PostgresAddress {
  const parts = /^postgres(?:ql)?:\/\/(?:([^@/]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(text);
  if (!parts) throw new Error('it is not a URL such as postgres://user:password@host:5432/database');
  const [, credentials = '', authority = '', path = '', query = ''] = parts;
  const parameters = new URLSearchParams(query);
  const hosts = hostsOf(parameters.get('host') ?? authority, parameters.get('port'));
  const [user = '', password] = credentials.split(/:(.*)/s).map((part) => decodeURIComponent(part));
  const database = decodeURIComponent(path);
  if (user === '') throw new Error('it names no user: postgres://user:password@host:5432/database');
  if (database === '') throw new Error('it names no database: postgres://user:password@host:5432/database');
  for (const name of parameters.keys())
    if (!['host', 'port', 'sslmode'].includes(name))
      throw new Error(`it has the parameter ${name}, but only host, port and sslmode are known`);
  return { hosts, database, user, password: password || undefined, ssl: sslOf(hosts, parameters, ca) };
}

function hostsOf(text: string, port: string | null): readonly PostgresHost[] {
  return text.split(',').map((each) => {
    if (each.startsWith('/')) return { host: each, port: portOf(port ?? '') };
    const [, host, own] = /^(\[[^\]]+\]|[^:]*)(?::(\d+))?$/.exec(each) ?? [];
    if (!host) throw new Error(`it names no host in "${each}"`);
    return { host: host.replace(/^\[|\]$/g, ''), port: portOf(own ?? port ?? '') };
  });
}

function portOf(text: string): number {
  const port = text === '' ? PORT : Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`${text} is not a port`);
  return port;
}

/** Returns whether every host is this machine whatever DNS says: a Unix socket, or a loopback host. */
export function areHere(hosts: readonly PostgresHost[]): boolean {
  return hosts.every(({ host }) => host.startsWith('/') || isLoopbackHost(host));
}

function sslOf(
  hosts: readonly PostgresHost[],
  parameters: URLSearchParams,
  ca: string | undefined,
): PostgresAddress['ssl'] {
  const mode = parameters.get('sslmode') ?? (areHere(hosts) ? 'disable' : 'verify-full');
  if (!MODES.includes(mode))
    throw new Error(`its sslmode is ${mode}, but must be one of ${MODES.join(', ')}`);
  if (mode === 'disable') return false;
  return { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
}
