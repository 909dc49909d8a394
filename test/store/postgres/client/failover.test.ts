/** Guarantee: the client finds the primary among the hosts, after a crash and after a failover. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalPostgres, startLocalPostgres } from '../../../../scripts/local-postgres/server.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../../services/store/postgres/client/postgres-database.ts';
import { StoreUnavailable } from '../../../../services/store/store.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';

const START_MS = 60_000;

describeWherePostgresStarts('a client of a primary and its standby', () => {
  let primary: LocalPostgres;
  let standby: LocalPostgres;
  let database: PostgresDatabase;
  const started: { dispose(): Promise<void> }[] = [];
  beforeAll(async () => {
    primary = await startLocalPostgres({ environment: process.env, settings: { wal_level: 'replica' } });
    started.push(primary);
    standby = await startLocalPostgres({ environment: process.env, standbyOf: primary });
    started.push(standby);
    const hosts = [standby, primary].map(({ port }) => `127.0.0.1:${port}`).join(',');
    database = new PostgresDatabase({
      address: parsePostgresUrl(`postgres://hookrail@${hosts}/postgres`, undefined),
      connectionsMax: 2,
      applicationName: 'hookrail-test',
      clock: systemClock(),
    });
  }, START_MS);
  afterAll(async () => {
    await database?.close();
    for (const server of started.reverse()) await server.dispose();
  }, START_MS);

  const insert = (n: number) =>
    database.transaction(({ change }) => change('INSERT INTO kept VALUES ($1)', [n]));
  const kept = async () =>
    (await database.read(({ rows }) => rows<{ readonly n: number }>('SELECT n FROM kept ORDER BY n'))).map(
      ({ n }) => n,
    );
  const portOf = () => database.read(async ({ first }) => (await first<{ port: string }>('SHOW port'))?.port);

  it('skips the standby', async () => {
    await database.transaction(({ rows }) => rows('CREATE TABLE kept (n int)'));
    await insert(1);
    expect(await portOf()).toBe(`${primary.port}`);
  });

  it(
    'goes on after a crash and restart of the server',
    async () => {
      await primary.kill();
      await expect(insert(2)).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(insert(2)).rejects.toThrow(/no host is a primary/);
      expect(database.isReachable).toBe(false);
      await primary.start();
      await eventually('it is reachable again, without a call', () => database.isReachable);
      await insert(3);
      expect(await kept()).toEqual([1, 3]);
    },
    START_MS,
  );

  it(
    'follows the failover to the standby',
    async () => {
      // It may lack even the table: the primary was killed before the standby had it.
      const isThere = () => standbyHas(standby, 3).catch(() => false);
      await eventually('the standby has everything', isThere);
      await primary.kill();
      await standby.promote();
      await eventually('a write succeeds', () =>
        insert(4).then(
          () => true,
          () => false,
        ),
      );
      expect(await portOf()).toBe(`${standby.port}`);
      expect(await kept()).toEqual([1, 3, 4]);
    },
    START_MS,
  );
});

async function standbyHas(standby: LocalPostgres, n: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: standby.url() });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM kept WHERE n = $1', [n]);
    return (rowCount ?? 0) > 0;
  } finally {
    await client.end();
  }
}
