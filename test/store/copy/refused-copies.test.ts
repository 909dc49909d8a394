/** Guarantee: a copy that cannot become the same store is refused, with one line that says what to do. */
import { existsSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { Store } from '../../../services/store/store.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import {
  createEndpoint,
  eventNumber,
  HOUR_MS,
  journalOf,
  routed,
} from '../../support/records/journal-entries.ts';
import { copyPlace } from './copy-place.ts';

const DAY_MS = 24 * HOUR_MS;
const NEWEST = 'WHERE version = (SELECT max(version) FROM layout)';
const MERCHANT = 'a-merchant';
const ENDPOINT = '00000000-0000-4000-8000-000000000001';

await describeWithPostgres('a copy of a SQLite store', (createDatabase) => {
  async function place() {
    const found = await copyPlace(createDatabase);
    const store = await found.sqlite();
    await fill(store);
    return { ...found, store };
  }

  it('is refused where there is no store', async () => {
    const { copy } = await copyPlace(createDatabase);
    await expect(copy()).rejects.toThrow(
      /^there is no store at .*store\.db: name its folder with --data-dir/,
    );
  });

  it('is refused for a URL that cannot be used, without its password', async () => {
    const { copy } = await place();
    for (const url of [
      'postgres://hookrail:s3cret@127.0.0.1:1/hookrail',
      'http://hookrail:s3cret@host',
      'postgres://hookrail:s3cret@127.0.0.1:1/hookrail?sslmode=prefer',
    ]) {
      const error = await copy({ to: { url, ca: undefined } }).then(
        () => '',
        (thrown: Error) => thrown.message,
      );
      expect(error).toMatch(/PostgreSQL/);
      expect(error).not.toContain('s3cret');
    }
  });

  it('is refused into a database with other tables, another store, or one that a service has used', async () => {
    const { copy, database, migrate, postgres } = await place();
    await database.query('CREATE TABLE customers (id int)');
    await expect(copy()).rejects.toThrow(
      'a table "customers" that is not hookrail\'s: give an empty database',
    );
    await database.query('DROP TABLE customers');
    await migrate();
    const used = await postgres();
    await used.merchants.create({ merchantId: 'theirs', name: 'theirs', senderAccountDetails: false });
    await expect(copy()).rejects.toThrow('the database has the data of another store');
    await used.leases.hold('api', async () => async () => {});
    await expect(copy()).rejects.toThrow('a service has run on this database');
  });

  it('is refused into a database whose layout this build does not have', async () => {
    const { copy, database, migrate } = await place();
    await migrate();
    await database.query(`UPDATE layout SET applied_at = NULL ${NEWEST}`);
    await expect(copy()).rejects.toThrow('hookrail operator store migrate');
    await database.query(`UPDATE layout SET applied_at = now(), works_with = 99 ${NEWEST}`);
    await expect(copy()).rejects.toThrow('run the newer build');
  });

  it('is refused for a store that an older build has written', async () => {
    const { copy, file, store } = await place();
    await store.close();
    const db = new Database(file);
    db.pragma('user_version = 12');
    db.close();
    await expect(copy()).rejects.toThrow(
      /has layout 12, this build copies \d+: start the service of this build/,
    );
  });

  it('is refused while two endpoints of a merchant have one URL', async () => {
    const { copy, file, store } = await place();
    await createEndpoint(store, MERCHANT, '00000000-0000-4000-8000-000000000002');
    await store.close();
    const db = new Database(file);
    db.exec(`UPDATE endpoint SET url = 'https://one.example.com', legacy = seq % 2`);
    db.close();
    await expect(copy()).rejects.toThrow(/^the endpoints .* and .* of one merchant have the same URL/);
  });

  it('is refused once the journal may not have what came since the snapshot', async () => {
    const { copy, clock, store } = await place();
    expect(await copy()).toMatchObject({ kind: 'log' });
    clock.forward(6 * DAY_MS - HOUR_MS);
    expect(await copy()).toMatchObject({ kind: 'log' });
    clock.forward(2 * HOUR_MS);
    await store.close();
    await expect(copy()).rejects.toThrow(/keeps the journal .* for 7 days only: begin again with an empty/);
  });

  it('is refused with another leaf width than it began with', async () => {
    const { copy } = await place();
    await copy();
    await expect(copy({ leafMs: DAY_MS })).rejects.toThrow('has begun with HOOKRAIL_POSTGRES_LEAF_HOURS=1:');
  });

  it('is refused without the snapshot that it began with, and for another store', async () => {
    const { copy, database, file, options, store, sqlite } = await place();
    await copy();
    await database.query(
      `UPDATE meta SET value = replace(value, '"isLogCopied":true', '"isLogCopied":false')`,
    );
    expect(existsSync(options.snapshotFile)).toBe(false);
    await expect(copy()).rejects.toThrow('which this copy has begun with, is gone');
    await store.backup(options.snapshotFile);
    await journalOf(store, 'more')(routed(eventNumber(MERCHANT, 2), [ENDPOINT]));
    rmSync(options.snapshotFile);
    await store.backup(options.snapshotFile);
    await expect(copy()).rejects.toThrow('is not the snapshot that this copy has begun with');
    await database.query(
      `UPDATE meta SET value = replace(value, '"isLogCopied":false', '"isLogCopied":true')`,
    );
    await store.close();
    rmSync(file);
    const another = await sqlite();
    await fill(another, 'another');
    await another.close();
    await expect(copy()).rejects.toThrow('the database has the data of another store than');
  });

  it('is refused while another one fills the database', async () => {
    const { copy, database, store } = await place();
    await store.close();
    await copy();
    await database.query(`CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.value = replace(NEW.value, 'copiedAt', 'other'); RETURN NEW; END $$`);
    await database.query(`CREATE TRIGGER other BEFORE UPDATE ON meta FOR EACH ROW WHEN (NEW.name = 'copy')
      EXECUTE FUNCTION other()`);
    await expect(copy()).rejects.toThrow('another store copy into this database runs');
  });

  it('is refused when it differs, and names where', async () => {
    const { copy, database, migrate, store } = await place();
    await migrate();
    const change = async (table: string, column: string, value: string) => {
      await database.query(`CREATE OR REPLACE FUNCTION change_${table}() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.${column} = ${value}; RETURN NEW; END $$`);
      await database.query(`CREATE TRIGGER change_${table} BEFORE INSERT ON ${table}
        FOR EACH ROW EXECUTE FUNCTION change_${table}()`);
    };
    await change('delivery', 'attempts_max', '9');
    await expect(copy()).rejects.toThrow(/differs from the SQLite store: delivery .* at attemptsMax/);
    await database.query('UPDATE delivery SET attempts_max = 7');
    expect(await copy()).toMatchObject({ kind: 'log' });
    await store.close();
    await change('endpoint', 'description', "'another'");
    await expect(copy()).rejects.toThrow(`endpoints of ${MERCHANT} at 0.description`);
    await database.query('DROP TRIGGER change_endpoint ON endpoint');
    expect(await copy()).toMatchObject({ kind: 'all' });
  });
});

async function fill(store: Store, merchantId = MERCHANT): Promise<void> {
  await store.merchants.create({ merchantId, name: merchantId, senderAccountDetails: false });
  await createEndpoint(store, merchantId, ENDPOINT);
  await journalOf(store)(routed(eventNumber(merchantId, 1), [ENDPOINT]));
}
