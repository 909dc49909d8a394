/**
 * Guarantee: a call rejects with StoreUnavailable when PostgreSQL is away or cannot do it, the next one works once it is
 * back, and a transaction is kept whole or not at all.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../../services/store/postgres/client/postgres-database.ts';
import { StoreUnavailable } from '../../../../services/store/store.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWithPostgres, type TestDatabase } from '../../../support/postgres/suites.ts';

/** Opens a client of the database; `lines` are what it logs. */
function openDatabase(url: string, connectionsMax = 4) {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  const database = new PostgresDatabase({
    address: parsePostgresUrl(url, undefined),
    connectionsMax,
    applicationName: 'hookrail-test',
    clock: systemClock(),
    log,
  });
  onTestFinished(() => database.close());
  return { database, lines };
}

await describeWithPostgres('a client of PostgreSQL', (createDatabase) => {
  let shared: TestDatabase;
  beforeAll(async () => {
    shared = await createDatabase();
    await shared.query('CREATE TABLE account (name text PRIMARY KEY, amount bigint NOT NULL)');
  });
  afterAll(() => shared.drop());
  const reset = () =>
    shared.query("TRUNCATE account; INSERT INTO account VALUES ('a', 10), ('b', 9007199254740991)");

  describe('transactions', () => {
    it('are committed when they resolve, and rolled back when they throw', async () => {
      await reset();
      const { database } = openDatabase(shared.url);
      await database.transaction(({ change }) => change("UPDATE account SET amount = 11 WHERE name = 'a'"));
      const failed = database.transaction(async ({ change }) => {
        await change("UPDATE account SET amount = 0 WHERE name = 'a'");
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      const rows = await database.read(({ rows }) => rows('SELECT * FROM account ORDER BY name'));
      expect(rows).toEqual([
        { name: 'a', amount: 11 },
        { name: 'b', amount: Number.MAX_SAFE_INTEGER },
      ]);
    });

    it('reject when a statement failed, even if its error was ignored', async () => {
      await reset();
      const { database } = openDatabase(shared.url);
      const swallowed = database.transaction(async ({ change }) => {
        await change("UPDATE account SET amount = 12 WHERE name = 'a'");
        await change("INSERT INTO account VALUES ('b', 1)").catch(() => {});
      });
      await expect(swallowed).rejects.toThrow('was not passed on');
      expect(await shared.query("SELECT amount FROM account WHERE name = 'a'")).toEqual([{ amount: '10' }]);
    });

    it('are retried after a conflict with another one', async () => {
      await reset();
      const { database } = openDatabase(shared.url);
      let runs = 0;
      let meet = () => {};
      const both = new Promise<void>((resolve) => {
        let arrived = 0;
        meet = () => {
          arrived += 1;
          if (arrived === 2) resolve();
        };
      });
      const add = 'UPDATE account SET amount = amount - 1 WHERE name = $1';
      const pair = (first: string, second: string) =>
        database.transaction(async ({ change }) => {
          runs += 1;
          await change(add, [first]);
          meet();
          await both;
          await change(add, [second]);
        });
      await Promise.all([pair('a', 'b'), pair('b', 'a')]);
      expect(runs).toBe(3);
      expect(await shared.query("SELECT amount FROM account WHERE name = 'a'")).toEqual([{ amount: '8' }]);
    });

    it('reject a number that hookrail cannot count', async () => {
      const { database } = openDatabase(shared.url);
      const read = database.read(({ rows }) => rows('SELECT 9007199254740993::bigint AS n'));
      await expect(read).rejects.toThrow('9007199254740993');
    });

    it('report what they added only after the commit', async () => {
      await reset();
      const { database } = openDatabase(shared.url);
      const told: string[] = [];
      database.onAdded = (what) => told.push(what);
      const failed = database.transaction(async (tx) => {
        tx.added('outbox');
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      expect(told).toEqual([]);
      await database.transaction(async (tx) => {
        tx.added('outbox');
        tx.added('outbox');
      });
      expect(told).toEqual(['outbox']);
    });
  });

  describe('lost connections', () => {
    it('fail what ran on them, and nothing after that', async () => {
      await reset();
      const { database, lines } = openDatabase(shared.url);
      let entered = () => {};
      const isIn = new Promise<void>((resolve) => {
        entered = resolve;
      });
      const cut = database.transaction(async ({ change, rows }) => {
        await change("UPDATE account SET amount = 0 WHERE name = 'a'");
        entered();
        await rows('SELECT pg_sleep(10)');
      });
      cut.catch(() => {});
      await isIn;
      await shared.disconnectAll();
      await expect(cut).rejects.toBeInstanceOf(StoreUnavailable);
      expect(database.isReachable).toBe(false);
      await eventually('it is reachable again, without a call', () => database.isReachable);
      const events = lines.map(({ event }) => event);
      expect(events).toEqual(['store_unreachable', 'store_reachable']);
      expect(await shared.query("SELECT amount FROM account WHERE name = 'a'")).toEqual([{ amount: '10' }]);
    });

    it('during a commit reject with an error that says the result is unknown', async () => {
      await reset();
      // The commit waits for a deferred trigger, which ends the connection.
      await shared.query(`CREATE OR REPLACE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'`);
      await shared.query(`CREATE CONSTRAINT TRIGGER cut AFTER UPDATE ON account DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION cut()`);
      onTestFinished(() => void shared.query('DROP TRIGGER cut ON account'));
      const { database } = openDatabase(shared.url);
      const unknown = database.transaction(({ change }) => change('UPDATE account SET amount = 1'));
      await expect(unknown).rejects.toThrow('whether the change was kept is not known');
      await expect(unknown).rejects.toBeInstanceOf(StoreUnavailable);
    });
  });

  it('rejects what the server has no room for, without giving up the connection', async () => {
    const { database, lines } = openDatabase(shared.url, 1);
    await database
      .transaction(async ({ rows }) => {
        await rows("SET LOCAL statement_timeout = '20ms'");
        await expect(rows('SELECT pg_sleep(5)')).rejects.toThrow('statement timeout');
      })
      .catch((error) => expect(error).toBeInstanceOf(Error));
    const slow = database.transaction(async ({ rows }) => {
      await rows("SET LOCAL statement_timeout = '20ms'");
      await rows('SELECT pg_sleep(5)');
    });
    await expect(slow).rejects.toBeInstanceOf(StoreUnavailable);
    expect(database.isReachable).toBe(true);
    expect(lines).toEqual([]);
  });
});
