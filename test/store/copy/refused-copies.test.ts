/** Guarantee: a copy that cannot become the same store is refused, with one line that says what to do. */
import { copyFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
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
    await store.close();
    return found;
  }

  it('is refused where there is no store', async () => {
    const { copy } = await copyPlace(createDatabase);
    await expect(copy()).rejects.toThrow(
      /^there is no store at .*store\.db: name its folder with --data-dir/,
    );
  });

  it('is refused while a process uses the store, and names what to stop', async () => {
    const { copy, sqlite } = await place();
    const used = await sqlite();
    await expect(copy()).rejects.toThrow(
      /store\.db is in use: stop the process with the roles api and recorder, then run this command again/,
    );
    await used.close();
    await copy();
  });

  it('is refused while PostgreSQL cannot be reached, without its password', async () => {
    const { copy } = await place();
    const address = parsePostgresUrl('postgres://hookrail:s3cret@127.0.0.1:1/hookrail', undefined);
    const error = await copy({ address }).then(String, String);
    expect(error).toMatch(/PostgreSQL at 127.0.0.1:1 is unavailable/);
    expect(error).not.toContain('s3cret');
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

  it('is refused for a store that another build has written', async () => {
    const { copy, file } = await place();
    const db = new Database(file);
    db.pragma('application_id = 12');
    db.close();
    await expect(copy()).rejects.toThrow(`${file} was written by another build (layout c, `);
  });

  it('is refused while two endpoints of a merchant have one URL', async () => {
    const { copy, file, sqlite } = await place();
    const store = await sqlite();
    await createEndpoint(store, MERCHANT, '00000000-0000-4000-8000-000000000002');
    await store.close();
    const db = new Database(file);
    // A damaged file: its index of URLs keeps such rows away.
    db.exec("DROP INDEX endpoint_url; UPDATE endpoint SET url = 'https://one.example.com'");
    db.close();
    await expect(copy()).rejects.toThrow(
      /^PostgreSQL refuses a row of endpoint: .*\(merchant_id, url\)=\(a-merchant, /,
    );
  });

  it('is refused with another leaf width than it began with', async () => {
    const { copy } = await place();
    await copy();
    await expect(copy({ leafMs: DAY_MS })).rejects.toThrow('set HOOKRAIL_POSTGRES_LEAF_HOURS=1');
  });

  it('is refused into the copy of another store', async () => {
    const { copy, file } = await place();
    await copy();
    const another = `${file}.other`;
    copyFileSync(file, another);
    await expect(copy({ file: another })).rejects.toThrow('has the data of another store than');
  });

  it('is refused where one engine has a column or table that the other lacks', async () => {
    const { copy, database, file, migrate } = await place();
    await migrate();
    await database.query('ALTER TABLE delivery ADD COLUMN colour text');
    await expect(copy()).rejects.toThrow(/lacks what the table delivery needs: no such column: t\.colour/);
    await database.query('ALTER TABLE delivery DROP COLUMN colour');
    await database.query('CREATE TABLE shade (shade_id bigint); GRANT ALL ON shade TO PUBLIC');
    await expect(copy()).rejects.toThrow(/lacks what the table shade needs: no such table: shade/);
    const db = new Database(file);
    db.exec('CREATE TABLE shade (shade_id INTEGER PRIMARY KEY)');
    db.exec('ALTER TABLE endpoint ADD COLUMN colour TEXT');
    await expect(copy()).rejects.toThrow('PostgreSQL has no place for endpoint.colour of the SQLite store');
    // The same in both: it is copied.
    db.exec(`UPDATE endpoint SET colour = 'red'`);
    db.exec('INSERT INTO shade VALUES (7)');
    db.close();
    await database.query('ALTER TABLE endpoint ADD COLUMN colour text');
    expect((await copy()).rows).toMatchObject({ shade: 1 });
    expect(await database.query('SELECT colour, shade_id FROM endpoint, shade')).toEqual([
      { colour: 'red', shade_id: '7' },
    ]);
  });
});

async function fill(store: Store, merchantId = MERCHANT): Promise<void> {
  await store.merchants.create({ merchantId, name: merchantId, senderAccountDetails: false });
  await createEndpoint(store, merchantId, ENDPOINT);
  await journalOf(store)(routed(eventNumber(merchantId, 1), [ENDPOINT]));
}
