import { readFileSync } from 'node:fs';
import { certificate, readPem } from './pem-file.ts';
import { as, ConfigError, type Values, variable } from './variables.ts';

const HOUR_MS = 3_600_000;
const LEAF_HOURS = ['24', '12', '6', '1'] as const;
/** Connections of a process that serves the REST API, and of one that only records. */
const CONNECTIONS_API = 10;
const CONNECTIONS_RECORDER = 3;

/** The variables of the store on PostgreSQL. Ignored with another store, so that one file of variables serves both. */
export const POSTGRES_VARIABLES = {
  HOOKRAIL_POSTGRES_URL: variable(
    as.text,
    '',
    'URL of the database, with all its hosts: `postgres://user:password@host:5432,host:5432/database`. hookrail uses the ' +
      'one that can be written to. `?host=/run/postgresql` names a Unix socket. `sslmode` is `verify-full` unless every ' +
      'host is a Unix socket, `localhost`, an address of 127.0.0.0/8 or `::1`.',
  ),
  HOOKRAIL_POSTGRES_MIGRATE_URL: variable(
    as.text,
    '',
    'URL of the same database for the role that owns the tables; `operator store migrate`, `store copy` and `store vacuum` ' +
      'use it, and grant the role in `HOOKRAIL_POSTGRES_URL` what a running process needs. Give it to these commands only. ' +
      'Empty: one role does both.',
  ),
  HOOKRAIL_POSTGRES_CA_FILE: variable(
    as.text,
    '',
    'PEM file of the authorities that sign PostgreSQL’s certificate. Empty: the public ones.',
  ),
  HOOKRAIL_POSTGRES_PASSWORD: variable(
    as.text,
    '',
    'Password of the user in `HOOKRAIL_POSTGRES_URL`, which then has none. Any characters; they are not percent-encoded.',
  ),
  HOOKRAIL_POSTGRES_PASSWORD_FILE: variable(
    as.text,
    '',
    'File with that password, such as a mounted secret. A line feed at its end does not count.',
  ),
  HOOKRAIL_POSTGRES_MIGRATE_PASSWORD: variable(
    as.text,
    '',
    'Password of the user in `HOOKRAIL_POSTGRES_MIGRATE_URL`, which then has none.',
  ),
  HOOKRAIL_POSTGRES_MIGRATE_PASSWORD_FILE: variable(as.text, '', 'File with that password.'),
  HOOKRAIL_POSTGRES_CONNECTIONS: variable(
    as.integer(0, 1000),
    0,
    `The most connections of a process; 0 = ${CONNECTIONS_API} with the role \`api\`, else ${CONNECTIONS_RECORDER}.`,
  ),
  HOOKRAIL_POSTGRES_LEAF_HOURS: variable(
    (text) => Number(as.oneOf(LEAF_HOURS)(text)),
    24,
    'Hours of the delivery log in one partition (24, 12, 6 or 1), which retention drops whole. Fixed once the database ' +
      'is in use.',
  ),
  HOOKRAIL_POSTGRES_LOG_COMMIT: variable(
    as.oneOf(['on', 'local', 'off']),
    'on',
    '`synchronous_commit` of the delivery log. `local` does not wait for the standby, `off` not for the disk: what a ' +
      'failover or crash then loses is recorded again from the journal. Management changes always wait.',
  ),
  HOOKRAIL_POSTGRES_REPLICATION: variable(
    as.oneOf(['synchronous', 'asynchronous']),
    'synchronous',
    'How PostgreSQL replicates. In production, `synchronous` refuses to start while `synchronous_standby_names` is ' +
      'empty; with `asynchronous` a failover may lose acknowledged management changes.',
  ),
} as const;

export type PostgresConfig = ReturnType<typeof postgresConfig>;

/** Checks the variables against each other. Throws ConfigError with one clear line. */
export function postgresConfig(
  values: Values<typeof POSTGRES_VARIABLES>,
  { opensStore, hasApi }: { readonly opensStore: boolean; readonly hasApi: boolean },
) {
  if (opensStore && values.HOOKRAIL_POSTGRES_URL === '')
    throw new ConfigError(
      'HOOKRAIL_POSTGRES_URL is required with HOOKRAIL_STORE=postgres: set it to postgres://user:password@host:5432/database',
    );
  return {
    /** Has a password: never log it. Empty in a process that does not open the store. */
    url: withPassword(values, 'HOOKRAIL_POSTGRES'),
    /** Of the role that owns the tables; empty = that of `url` does. Has a password, too. */
    migrateUrl: withPassword(values, 'HOOKRAIL_POSTGRES_MIGRATE'),
    caFile: values.HOOKRAIL_POSTGRES_CA_FILE,
    connectionsMax: values.HOOKRAIL_POSTGRES_CONNECTIONS || (hasApi ? CONNECTIONS_API : CONNECTIONS_RECORDER),
    leafMs: values.HOOKRAIL_POSTGRES_LEAF_HOURS * HOUR_MS,
    logCommit: values.HOOKRAIL_POSTGRES_LOG_COMMIT,
    replication: values.HOOKRAIL_POSTGRES_REPLICATION,
  } as const;
}

/** The user of a URL, and the password if there is one. */
const USER = /^(postgres(?:ql)?:\/\/[^:@/?]+)(:[^@/]*)?@/;

/** Whether a database's URL has a password. */
export function hasPassword(url: string): boolean {
  return Boolean(USER.exec(url)?.[2]?.slice(1)) || /[?&]password=/.test(url);
}

/** Returns the URL of a role with the password that a variable or a file has. Throws ConfigError. */
function withPassword(
  values: Values<typeof POSTGRES_VARIABLES>,
  role: 'HOOKRAIL_POSTGRES' | 'HOOKRAIL_POSTGRES_MIGRATE',
): string {
  const url = values[`${role}_URL`];
  const given = values[`${role}_PASSWORD`];
  const file = values[`${role}_PASSWORD_FILE`];
  if (url === '' || (given === '' && file === '')) return url;
  if (given !== '' && file !== '')
    throw new ConfigError(`set ${role}_PASSWORD or ${role}_PASSWORD_FILE, not both`);
  const name = file === '' ? `${role}_PASSWORD` : `${role}_PASSWORD_FILE`;
  if (hasPassword(url))
    throw new ConfigError(`${role}_URL has a password, and ${name} another: leave out one of them`);
  const password = file === '' ? given : readPassword(name, file);
  if (!USER.test(url))
    throw new ConfigError(
      `${name} is for the user in ${role}_URL, which names none: postgres://user@host/database`,
    );
  // As a function: a replacement text would give a meaning to `$`.
  return url.replace(USER, (_, user: string) => `${user}:${encodeURIComponent(password)}@`);
}

function readPassword(name: string, file: string): string {
  let password: string;
  try {
    password = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new ConfigError(`${name}="${file}" cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (password === '') throw new ConfigError(`${name}="${file}" is empty`);
  return password;
}

/** Reads the PEM file of PostgreSQL's authorities; undefined = the public ones. Throws ConfigError. */
export function readPostgresCa({ caFile }: Pick<PostgresConfig, 'caFile'>): string | undefined {
  return readPem('HOOKRAIL_POSTGRES_CA_FILE', caFile, certificate) ?? undefined;
}
