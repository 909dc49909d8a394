/**
 * Guarantee: the leaves of the log come and go while the store is in use, and a crash in the middle leaves nothing behind
 * that the next step of retention does not finish.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../services/process/clock.ts';
import type { Store } from '../../../services/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { eventNumber, HOUR_MS, routed, START } from '../../support/records/journal-entries.ts';
import { type PostgresPlace, postgresPlace } from './postgres-place.ts';

const MERCHANT = 'a-merchant';
/** The leaf of START. */
const LEAF = '2030010100';
const LATER = START + 100 * HOUR_MS;

await describeWithPostgres('leaves of the log', (createDatabase) => {
  let place: PostgresPlace;
  let store: Store;
  let wall = START;
  beforeEach(async () => {
    const clock: Clock = Object.assign(Object.create(systemClock()), { wall: () => wall });
    wall = START;
    place = await postgresPlace(createDatabase, clock);
    store = await place.open();
  });
  afterEach(async () => {
    await store.close();
    await place.dispose();
  });

  /** Opens the store with the role that owns the tables. */
  const openAsOwner = async () => {
    await store.close();
    await place.dispose();
    const clock: Clock = Object.assign(Object.create(systemClock()), { wall: () => wall });
    place = await postgresPlace(createDatabase, clock, { as: 'owner' });
    store = await place.open();
  };
  const record = (n: number, at = START, entityId = randomUUID()) => {
    const event = eventNumber(MERCHANT, n, { eventId: randomUUID(), entityId, occurredAt: at });
    const entries = [routed(event, [randomUUID()])];
    return store.log.applyJournal([{ partition: 'p', first: n, last: n, entries }]);
  };
  const tables = async (suffix = LEAF) => {
    const found = await place.database.query(
      'SELECT relname FROM pg_class WHERE relname LIKE $1 AND relkind = $2',
      [`%\\_${suffix}`, 'r'],
    );
    return found.map(({ relname }) => relname);
  };
  const connect = async () => {
    const client = new pg.Client({ connectionString: place.database.url });
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const retainAll = async () => {
    while ((await store.log.retain(LATER, 100)) > 0);
    while ((await store.feed.retain(LATER, 100)) > 0);
  };

  it('are dropped when a crash has cut off their detaching', async () => {
    await record(1);
    const [reader, crashing] = [await connect(), await connect()];
    await reader.query('BEGIN; SELECT count(*) FROM event');
    const { rows } = await crashing.query('SELECT pg_backend_pid() AS pid');
    const detaching = crashing.query(`ALTER TABLE event DETACH PARTITION event_${LEAF} CONCURRENTLY`);
    detaching.catch(() => {});
    const pending = 'SELECT 1 FROM pg_inherits WHERE inhdetachpending';
    await eventually('it waits for the reader', async () => (await place.database.query(pending)).length > 0);
    await place.database.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await expect(detaching).rejects.toThrow();
    await reader.end();
    await retainAll();
    expect(await tables()).toEqual([]);
  });

  it('are dropped when a crash came after the last was detached', async () => {
    await record(1);
    const others = ['event', 'delivery', 'attempt', 'body', 'failing'].map((kind) => `${kind}_${LEAF}`);
    await place.database.query(`DROP TABLE ${others.join(', ')}`);
    await place.database.query(`ALTER TABLE missed DETACH PARTITION missed_${LEAF}`);
    await retainAll();
    expect(await tables()).toEqual([]);
  });

  it('wait for a reader without keeping a recorder from making the next one', async () => {
    await record(1);
    const reader = await connect();
    await reader.query('BEGIN; SELECT count(*) FROM event');
    const dropping = store.log.retain(LATER, 100);
    dropping.catch(() => {});
    await record(2, START + 50 * HOUR_MS);
    await expect(dropping).rejects.toThrow(/lock timeout/);
    await record(3);
    await reader.end();
    await retainAll();
    expect(await tables()).toEqual([]);
  });

  it('exist before their time begins', async () => {
    await store.log.retain(0, 100);
    expect(await tables('2030010102')).toHaveLength(8);
  });

  it('get an index of entities once they have ended, also after a crash while it was built', async () => {
    await openAsOwner();
    const entityId = randomUUID();
    await record(1, START, entityId);
    await record(2, START + 1000, entityId);
    // Leaves an invalid index of this name, as a crash does.
    const broken = `CREATE UNIQUE INDEX CONCURRENTLY delivery_${LEAF}_entity ON delivery_${LEAF} (entity_id)`;
    await expect(place.database.query(broken)).rejects.toThrow(/could not create unique index/);
    const entities = () =>
      place.database.query(
        `SELECT c.relname FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
         WHERE c.relname LIKE '%${LEAF}\\_entity' AND i.indisvalid ORDER BY c.relname`,
      );
    expect(await store.log.retain(0, 100)).toBe(0);
    expect(await entities()).toEqual([]);
    wall = START + 3 * HOUR_MS;
    expect(await store.log.retain(0, 100)).toBe(1);
    expect(await entities()).toEqual([{ relname: `delivery_${LEAF}_entity` }]);
    const [table] = await place.database.query(
      'SELECT reltuples FROM pg_class WHERE relname = $1 AND relallvisible > 0',
      [`event_${LEAF}`],
    );
    expect(table).toEqual({ reltuples: 2 });
  });
});
