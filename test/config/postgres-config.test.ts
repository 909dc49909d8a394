/** A wrong configuration of the store on PostgreSQL is one clear line that names the variable, and never a password. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../services/config/config.ts';
import { systemClock } from '../../services/process/clock.ts';
import { openStore } from '../../services/store/open.ts';
import { parsePostgresUrl } from '../../services/store/postgres/client/postgres-address.ts';
import { createLogger } from '../../services/telemetry/logger.ts';

const POSTGRES = {
  HOOKRAIL_ENGINE: 'kafka',
  HOOKRAIL_KAFKA_BROKERS: 'kafka-1:9092',
  HOOKRAIL_SCHEMA_REGISTRY_URL: 'https://registry:8081',
  HOOKRAIL_STORE: 'postgres',
  HOOKRAIL_POSTGRES_URL: 'postgres://hookrail:tell-no-one@db-1,db-2/hookrail',
};
const configOf = (more: Record<string, string> = {}) => readConfig({ ...POSTGRES, ...more });

describe('the configuration of the store on PostgreSQL', () => {
  it('exists with HOOKRAIL_STORE=postgres only', () => {
    expect(configOf({ HOOKRAIL_STORE: 'sqlite' }).postgres).toBeNull();
    expect(configOf().postgres).toMatchObject({
      connectionsMax: 10,
      leafMs: 86_400_000,
      logCommit: 'on',
      replication: 'synchronous',
    });
  });

  it.each(['api', 'recorder', 'api,recorder', 'recorder,sender', 'router'])(
    'allows processes with the roles %s',
    (roles) => {
      expect(configOf({ HOOKRAIL_ROLES: roles }).roles).toEqual(roles.split(','));
    },
  );

  it('gives a process that only records fewer connections, and as many as it is told', () => {
    expect(configOf({ HOOKRAIL_ROLES: 'recorder' }).postgres?.connectionsMax).toBe(3);
    const five = { HOOKRAIL_ROLES: 'recorder', HOOKRAIL_POSTGRES_CONNECTIONS: '5' };
    expect(configOf(five).postgres?.connectionsMax).toBe(5);
  });

  it('requires the URL where the store is opened, and nowhere else', () => {
    const lacking = { HOOKRAIL_POSTGRES_URL: '' };
    expect(() => configOf({ ...lacking, HOOKRAIL_ROLES: 'api' })).toThrow(
      'HOOKRAIL_POSTGRES_URL is required',
    );
    expect(configOf({ ...lacking, HOOKRAIL_ROLES: 'router,sender' }).postgres?.url).toBe('');
  });

  it.each([
    ['url', 'HOOKRAIL_POSTGRES'],
    ['migrateUrl', 'HOOKRAIL_POSTGRES_MIGRATE'],
  ] as const)(
    'takes the password of %s from a variable or a file, whatever characters it has',
    (of, role) => {
      const url = { [`${role}_URL`]: 'postgres://hookrail@db-1,db-2/hookrail?sslmode=disable' };
      const password = 'p@ss:/?#%41$& word';
      const folder = mkdtempSync(join(tmpdir(), 'hookrail-password-'));
      const file = join(folder, 'password');
      writeFileSync(file, `${password}\n`);
      for (const more of [{ [`${role}_PASSWORD`]: password }, { [`${role}_PASSWORD_FILE`]: file }]) {
        const address = parsePostgresUrl(configOf({ ...url, ...more }).postgres?.[of] ?? '', undefined);
        expect(address).toMatchObject({ user: 'hookrail', password, database: 'hookrail' });
        expect(address.hosts.map(({ host }) => host)).toEqual(['db-1', 'db-2']);
      }
      rmSync(folder, { recursive: true });
    },
  );

  it.each([
    [
      {
        HOOKRAIL_POSTGRES_MIGRATE_URL: 'postgres://owner:a@h/d',
        HOOKRAIL_POSTGRES_MIGRATE_PASSWORD: 'other',
      },
      'HOOKRAIL_POSTGRES_MIGRATE_URL has a password, and HOOKRAIL_POSTGRES_MIGRATE_PASSWORD another',
    ],
    [
      { HOOKRAIL_POSTGRES_PASSWORD: 'other' },
      'HOOKRAIL_POSTGRES_URL has a password, and HOOKRAIL_POSTGRES_PASSWORD another',
    ],
    [{ HOOKRAIL_POSTGRES_PASSWORD: 'a', HOOKRAIL_POSTGRES_PASSWORD_FILE: '/a' }, 'not both'],
    [
      { HOOKRAIL_POSTGRES_URL: 'postgres://u@h/d', HOOKRAIL_POSTGRES_PASSWORD_FILE: '/none' },
      'cannot be read (ENOENT)',
    ],
    [{ HOOKRAIL_POSTGRES_URL: 'postgres://u@h/d', HOOKRAIL_POSTGRES_PASSWORD_FILE: '/dev/null' }, 'is empty'],
    [{ HOOKRAIL_POSTGRES_URL: 'postgres://h/d', HOOKRAIL_POSTGRES_PASSWORD: 'other' }, 'which names none'],
  ])('refuses %j', (more: Record<string, string>, message) => {
    expect(() => configOf(more)).toThrow(message);
    expect(() => configOf(more)).not.toThrow(/tell-no-one/);
  });

  it.each([
    [{ HOOKRAIL_ENGINE: 'sqlite' }, 'HOOKRAIL_STORE=postgres needs Kafka: set HOOKRAIL_ENGINE=kafka'],
    [{ HOOKRAIL_STORE: 'mysql' }, 'HOOKRAIL_STORE="mysql" must be one of sqlite, postgres'],
    [{ HOOKRAIL_POSTGRES_LEAF_HOURS: '5' }, 'HOOKRAIL_POSTGRES_LEAF_HOURS="5" must be one of 24, 12, 6, 1'],
    [{ HOOKRAIL_POSTGRES_LOG_COMMIT: 'no' }, 'must be one of on, local, off'],
  ])('refuses %j', (more: Record<string, string>, message) => {
    expect(() => configOf(more)).toThrow(message);
  });

  it.each([
    [{ HOOKRAIL_POSTGRES_URL: 'db-1:5432' }, 'HOOKRAIL_POSTGRES_URL cannot be used: it is not a URL'],
    [
      { HOOKRAIL_POSTGRES_URL: 'postgres://hookrail:tell-no-one@db-1/hookrail?pool=3' },
      'HOOKRAIL_POSTGRES_URL cannot be used: it has the parameter pool',
    ],
    [
      { HOOKRAIL_POSTGRES_CA_FILE: '/nowhere' },
      'HOOKRAIL_POSTGRES_CA_FILE="/nowhere" cannot be used: ENOENT',
    ],
  ])('refuses %j when the store is opened', async (more: Record<string, string>, message) => {
    const opening = openStore(configOf(more), systemClock(), createLogger('silent'));
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.not.toThrow('tell-no-one');
  });
});
