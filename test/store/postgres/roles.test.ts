/**
 * Guarantee: the service runs with a role that owns nothing: it cannot change the schema, nor change or delete what the audit
 * has. The role that migrates grants what it needs, and refuses a role that has more.
 */
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { warnOfRights } from '../../../services/store/postgres/migrations/grants.ts';
import { MIGRATIONS, migrateDatabase } from '../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { describeWithPostgres, type TestDatabase } from '../../support/postgres/suites.ts';
import {
  createEndpoint,
  eventNumber,
  HOUR_MS,
  OPERATOR,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';
import { migrateAsOwner } from './postgres-place.ts';

const clock = systemClock();
const MERCHANT = 'a-merchant';
/** The leaf of START. */
const LEAF = '2030010100';

await describeWithPostgres('the running role', (createDatabase) => {
  const fresh = async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    return database;
  };
  const open = async (url: string) => {
    const address = parsePostgresUrl(url, undefined);
    const options = {
      ...{ address, clock, connectionsMax: 2, healthPolicy: TEST_POLICY, leafMs: HOUR_MS },
      keyRing: TEST_RING,
    };
    const store = await openPostgresStore(options);
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= store.close();
      return closed;
    };
    onTestFinished(close);
    return { store, close };
  };
  const record = ({ log }: Awaited<ReturnType<typeof open>>['store'], n: number) => {
    const event = eventNumber(MERCHANT, n, { eventId: randomUUID(), occurredAt: START });
    return log.applyJournal([
      { partition: 'p', first: n, last: n, entries: [routed(event, [randomUUID()])] },
    ]);
  };
  /** Returns the error of a statement, null when there is none. */
  const refusal = async (url: string, text: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(text);
      return null;
    } catch (error) {
      return (error as Error).message;
    } finally {
      await client.end();
    }
  };
  /** A migrated database in use: with an audit entry and leaves. */
  const used = async () => {
    const database = await fresh();
    await migrateAsOwner(database, clock);
    const { store } = await open(database.running);
    await createEndpoint(store, MERCHANT, randomUUID());
    await record(store, 1);
    return { database, store };
  };

  it('adds to the audit, and cannot change, delete or hide what it has', async () => {
    const { database, store } = await used();
    const before = await database.query('SELECT * FROM audit');
    expect(before).toHaveLength(1);
    for (const text of [
      "UPDATE audit SET details = '{}'",
      'DELETE FROM audit',
      'TRUNCATE audit',
      'SELECT * FROM audit FOR UPDATE',
      "INSERT INTO audit OVERRIDING SYSTEM VALUE VALUES (1, 1, 'x', 'x', 'x', 'x', 'x') ON CONFLICT (audit_id) DO UPDATE SET details = 'x'",
      'WITH gone AS (DELETE FROM audit RETURNING 1) SELECT 1',
      "MERGE INTO audit USING (SELECT 1) AS one ON true WHEN MATCHED THEN UPDATE SET details = 'x'",
      'CREATE TRIGGER hide BEFORE INSERT ON audit EXECUTE FUNCTION suppress_redundant_updates_trigger()',
      'SELECT setval(pg_get_serial_sequence($$audit$$, $$audit_id$$), 1, false)',
    ])
      expect(await refusal(database.running, text), text).toMatch(/permission denied/);
    for (const text of [
      'DROP TABLE audit',
      'ALTER TABLE audit ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE audit RENAME TO mine',
      'CREATE RULE hide AS ON INSERT TO audit DO INSTEAD NOTHING',
      'ALTER TABLE audit OWNER TO current_user',
    ])
      expect(await refusal(database.running, text), text).toMatch(/must be owner/);
    await store.keys.list();
    expect(await database.query('SELECT * FROM audit')).toEqual(before);
  });

  it('cannot change the schema, nor become the role that can', async () => {
    const { database } = await used();
    const { user } = parsePostgresUrl(database.owner, undefined);
    for (const text of [
      'CREATE TABLE mine (n int)',
      'CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
      'ALTER TABLE endpoint ADD COLUMN mine int',
      `ALTER TABLE event_${LEAF} ADD COLUMN mine int`,
      `DROP TABLE event_${LEAF}`,
      `CREATE INDEX mine ON event_${LEAF} (seq)`,
      'UPDATE layout SET version = 99',
      'DELETE FROM layout',
      `SET ROLE ${user}`,
      'ALTER FUNCTION drop_leaf(text, text) SECURITY INVOKER',
      'TRUNCATE endpoint',
      `TRUNCATE body_${LEAF}`,
    ])
      expect(await refusal(database.running, text), text).toMatch(/permission denied|must be owner/);
  });

  it('makes and drops leaves of the log only, whatever it gives for their names', async () => {
    const { database } = await used();
    for (const text of [
      "SELECT make_leaf('audit', 0, 3600000)",
      "SELECT make_leaf('event (LIKE audit); DROP TABLE audit; --', 0, 3600000)",
      "SELECT make_leaf('EVENT', 0, 3600000)",
    ])
      expect(await refusal(database.running, text), text).toMatch(/is no table of the log/);
    for (const text of [
      "SELECT drop_leaf('audit', '2030010100')",
      "SELECT drop_leaf('event', '')",
      "SELECT drop_leaf('event', '2030010100; DROP TABLE audit')",
      "SELECT drop_leaf('event', E'2030010100\\n')",
    ])
      expect(await refusal(database.running, text), text).toMatch(/is no leaf of the log/);
    // Objects of the caller's own do not take the place of the store's.
    const own = `CREATE TEMP TABLE event (n int); CREATE TEMP TABLE feed (LIKE audit);
      SELECT make_leaf('event', 7200000, 10800000), make_leaf('feed', 7200000, 10800000)`;
    expect(await refusal(database.running, own)).toBeNull();
    const made =
      "SELECT inhparent::regclass::text AS of FROM pg_inherits WHERE inhrelid = 'event_1970010102'::regclass";
    expect(await database.query(made)).toEqual([{ of: 'event' }]);
    expect(await refusal(database.running, 'SELECT count(*) FROM event_1970010102')).toBeNull();
  });

  it('goes on with the leaves of a database that one role has owned and used', async () => {
    const database = await fresh();
    const owner = parsePostgresUrl(database.owner, undefined);
    await migrateDatabase(owner, clock);
    const before = await open(database.owner);
    await createEndpoint(before.store, MERCHANT, randomUUID());
    await record(before.store, 1);
    await before.close();
    expect(await refusal(database.running, 'SELECT * FROM endpoint')).toMatch(/permission denied/);
    await migrateAsOwner(database, clock);
    const { store } = await open(database.running);
    await record(store, 2);
    expect((await store.lists.events(MERCHANT, { limit: 9 })).records).toHaveLength(2);
    while ((await store.log.retain(START + 100 * HOUR_MS, 100)) > 0);
    expect(await database.query(`SELECT to_regclass('event_${LEAF}') AS name`)).toEqual([{ name: null }]);
    expect(await refusal(database.running, 'DELETE FROM audit')).toMatch(/permission denied/);
  });

  it('gets a database of the layout before migrated by the owner, and cannot migrate it itself', async () => {
    const database = await fresh();
    const [owner, running] = [database.owner, database.running].map((url) =>
      parsePostgresUrl(url, undefined),
    );
    if (!owner || !running) throw new Error('a database has two roles');
    await migrateDatabase(owner, clock);
    const next = [...MIGRATIONS, { steps: [{ kind: 'change', sql: 'SELECT 1' }], worksWith: 1 } as const];
    await expect(migrateDatabase(running, clock, next)).rejects.toThrow(
      `the role ${running.user} was not granted the tables: run hookrail operator store migrate`,
    );
    await database.query(`GRANT SELECT ON layout TO ${running.user}`);
    await expect(migrateDatabase(running, clock, next)).rejects.toThrow(
      `the role ${running.user} does not own the tables, and cannot migrate them: run hookrail operator store migrate`,
    );
    const migrated = await migrateDatabase(owner, clock, next, running.user);
    expect(migrated).toEqual({ from: 1, to: next.length });
    const { store } = await open(database.running);
    await record(store, 1);
    // With nothing to migrate, as at a start in the sandbox.
    expect(await migrateDatabase(running, clock, next)).toEqual({ from: next.length, to: next.length });
  });

  const withMore = async (database: TestDatabase, more: (role: string) => string) => {
    const role = `t_${randomUUID().slice(0, 8)}`;
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    onTestFinished(async () => {
      await database.query(
        `REASSIGN OWNED BY ${role} TO current_user; DROP OWNED BY ${role}; DROP ROLE ${role}`,
      );
    });
    await migrateAsOwner(database, clock);
    await database.query(more(role));
    const address = parsePostgresUrl(database.url.replace(/\/\/[^@]*@/, `//${role}:${role}@`), undefined);
    const granted = migrateDatabase(parsePostgresUrl(database.owner, undefined), clock, MIGRATIONS, role);
    return {
      role,
      address,
      granted: granted.then(
        () => 'granted',
        (error: Error) => error.message,
      ),
    };
  };

  it('is refused when it has more rights than can be taken from it', async () => {
    const { user } = parsePostgresUrl((await fresh()).owner, undefined);
    const cases: readonly [(role: string) => string, RegExp][] = [
      [(role) => `GRANT ${user} TO ${role}`, /has the rights of .*, which owns the tables: REVOKE/],
      [(role) => `ALTER ROLE ${role} SUPERUSER`, /has the rights of .*, which owns the tables: REVOKE/],
      [
        (role) => `GRANT CREATE ON SCHEMA public TO ${role}`,
        /may create objects in the schema public: REVOKE CREATE/,
      ],
      [() => 'GRANT CREATE ON SCHEMA public TO PUBLIC', /may create objects in the schema public/],
      [(role) => `GRANT pg_write_all_data TO ${role}`, /may change the audit/],
    ];
    for (const [more, message] of cases) {
      const { role, granted } = await withMore(await fresh(), more);
      expect(await granted, more(role)).toMatch(message);
    }
    const database = await fresh();
    const unknown = migrateDatabase(
      parsePostgresUrl(database.owner, undefined),
      clock,
      MIGRATIONS,
      'nobody-here',
    );
    await expect(unknown).rejects.toThrow('PostgreSQL has no role nobody-here: CREATE ROLE "nobody-here"');
  });

  it('loses rights to the audit that it was given, and PUBLIC, too', async () => {
    const all = (role: string) => `GRANT ALL ON audit, layout TO ${role}; GRANT UPDATE ON audit TO PUBLIC`;
    const { database } = await used();
    const { address, granted } = await withMore(database, all);
    expect(await granted).toBe('granted');
    const { user, password } = address;
    const url = database.url.replace(/\/\/[^@]*@/, `//${user}:${password}@`);
    expect(await refusal(url, "UPDATE audit SET details = ''")).toMatch(/permission denied/);
    expect(await refusal(url, 'TRUNCATE layout')).toMatch(/permission denied/);
    expect(await refusal(url, 'SELECT count(*) FROM audit')).toBeNull();
  });

  it('is warned of at a start in production, where it owns the tables', async () => {
    const { database } = await used();
    const warnings = async (url: string) => {
      const lines: string[] = [];
      const log = createLogger('info', { write: (line: string) => void lines.push(line) });
      await warnOfRights(parsePostgresUrl(url, undefined), clock, log);
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    };
    expect(await warnings(database.running)).toEqual([]);
    expect(await warnings(database.owner)).toEqual([
      expect.objectContaining({
        event: 'store_role_has_rights',
        rights: expect.stringContaining('may change the audit'),
        msg: expect.stringContaining('give the service a role of its own'),
      }),
    ]);
  });

  it('keeps a change that names it as its author', async () => {
    const { store } = await used();
    const [entry] = await store.audit.list({ limit: 1 });
    expect(entry).toMatchObject({ action: 'endpoint.create', actor: OPERATOR });
  });

  it('adds entries with the name of a person, and changes the lists of a producer’s key', async () => {
    const { store } = await used();
    const by = { at: START, actor: { kind: 'operator', person: 'Ann' } } as const;
    const keyId = randomUUID();
    const hash = new Uint8Array(createHash('sha256').update(keyId).digest());
    const unused = { createdAt: START, revokedAt: null, lastUsedAt: null, name: null };
    await store.keys.create({ ...unused, keyId, kind: 'producer', merchantId: null, hash, hint: 'pk_' });
    await store.keys.setRights(keyId, { types: ['KYC'], merchants: [MERCHANT] }, by);
    expect(await store.keys.findByHash(hash)).toMatchObject({ types: ['KYC'], merchants: [MERCHANT] });
    const [entry] = await store.audit.list({ limit: 1 });
    expect(entry).toMatchObject({ action: 'api_key.set', actor: by.actor });
  });
});
