/** `hookrail operator store copy` leads an operator through the move of a store to PostgreSQL. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../services/process/clock.ts';
import { parsePostgresUrl } from '../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../services/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { BUILT } from '../support/built/modules.ts';
import { eventually } from '../support/eventually.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';
import { createEndpoint, eventNumber, journalOf, routed } from '../support/records/journal-entries.ts';
import { TEST_RING } from '../support/records/key-ring.ts';
import { runTool } from '../support/service/operator-tool.ts';

const ENDPOINT = '00000000-0000-4000-8000-000000000001';
const KILLED_MS = 60_000;
const EVENTS = 5_000;
const BATCH = 1_000;

await describeWithPostgres('the operator tool', (createDatabase) => {
  async function place() {
    const dataDir = await mkdtemp(join(tmpdir(), 'hookrail-operator-copy-'));
    const database = await createDatabase();
    onTestFinished(async () => {
      await database.drop();
      await rm(dataDir, { recursive: true });
    });
    // Nothing of Kafka is asked for.
    const kafka = {
      ...{ HOOKRAIL_ENGINE: 'kafka', HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:1', HOOKRAIL_EVENTS_TOPIC: 'events' },
      HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
    };
    const environment = { HOOKRAIL_DATA_DIR: dataDir, ...kafka };
    const store = await openSqliteStore({
      file: join(dataDir, 'store.db'),
      ...{ clock: systemClock(), healthPolicy: TEST_POLICY, keyRing: TEST_RING },
    });
    await store.merchants.create({ merchantId: 'm', name: 'm', senderAccountDetails: false });
    await createEndpoint(store, 'm', ENDPOINT);
    const copy = (...more: string[]) => runTool(environment, 'store', 'copy', ...more);
    return { database, store, copy, environment };
  }

  it('refuses while the service runs, then copies, and says what to do next', async () => {
    const { database, store, copy } = await place();
    expect(await copy('--to', database.url)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is in use: stop the process with the roles api and recorder'),
    });
    await store.close();
    const { code, out } = await copy('--to', database.url);
    expect(code).toBe(0);
    expect(out).toContain('copies and compares 0 deliveries: about 0 min; the API is away meanwhile');
    expect(out).toMatch(
      /all rows are the same in both stores: 1 merchants, 1 endpoints, 0 deliveries .* took [\d.]+ s/,
    );
    expect(out).toContain('start the service with HOOKRAIL_STORE=postgres and HOOKRAIL_POSTGRES_URL');
    const json = await copy('--to', database.url, '--output', 'json');
    expect(JSON.parse(json.out)).toMatchObject({ copied: { endpoint: 1 }, seconds: expect.any(Number) });
  });

  it('makes the same store when it was killed twice', { timeout: 4 * KILLED_MS }, async () => {
    const { database, store, environment, copy } = await place();
    const record = journalOf(store);
    for (let n = 0; n < EVENTS; n += BATCH)
      await record(...Array.from({ length: BATCH }, (_, at) => routed(numbered(n + at), [ENDPOINT])));
    await store.close();
    const onPostgres = { HOOKRAIL_STORE: 'postgres', HOOKRAIL_POSTGRES_URL: database.url };
    expect(await runTool({ ...environment, ...onPostgres }, 'store', 'migrate')).toMatchObject({ code: 0 });
    // Copying them takes a second at least.
    await database.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END $$`);
    for (const [table, column] of Object.entries({ body: 'owner', feed: 'seq' }))
      await database.query(`CREATE TRIGGER slow BEFORE INSERT ON ${table} FOR EACH ROW
        WHEN (NEW.${column} % ${BATCH} = 0) EXECUTE FUNCTION slow()`);
    for (const table of ['body', 'feed']) {
      const child = spawn(process.execPath, [BUILT.operator, 'store', 'copy', '--to', database.url], {
        env: { ...process.env, ...environment },
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      const copying = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY ${table} %'`;
      await eventually(
        `${table} is copied`,
        async () => (await database.query(copying)).length > 0,
        KILLED_MS,
      );
      child.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
      const [row] = await database.query(
        `SELECT value::json ->> 'isComplete' AS done FROM meta WHERE name = 'copy'`,
      );
      expect(row).toEqual({ done: 'false' });
    }
    const { code, out } = await copy('--to', database.url);
    expect([code, out]).toEqual([0, expect.stringContaining(`${EVENTS} deliveries and the rest`)]);
    expect(out).not.toContain('delivery: copied');
    expect(out).toContain('feed: copied');
  });

  it('takes the database of HOOKRAIL_POSTGRES_URL, and asks for one where there is none', async () => {
    const { database, store, environment, copy } = await place();
    await store.close();
    expect(await copy()).toMatchObject({ code: 2, err: expect.stringContaining('--to postgres://') });
    const given = { ...environment, HOOKRAIL_POSTGRES_URL: database.url };
    expect(await runTool(given, 'store', 'copy')).toMatchObject({ code: 0 });
  });

  it('fills the database with the role that owns it, for the role that the service runs with', async () => {
    const { database, store, environment } = await place();
    await store.close();
    const two = {
      ...environment,
      HOOKRAIL_STORE: 'postgres',
      HOOKRAIL_POSTGRES_URL: database.running,
      HOOKRAIL_POSTGRES_MIGRATE_URL: database.owner,
    };
    expect(await runTool(two, 'store', 'copy')).toMatchObject({ code: 0 });
    const address = parsePostgresUrl(database.running, undefined);
    const options = { address, clock: systemClock(), connectionsMax: 2, leafMs: 24 * 3_600_000 };
    const opened = await openPostgresStore({ ...options, healthPolicy: TEST_POLICY, keyRing: TEST_RING });
    await createEndpoint(opened, 'm', '00000000-0000-4000-8000-000000000002', {
      url: 'https://b.example.com',
    });
    await opened.close();
    expect(await runTool(two, 'store', 'migrate')).toMatchObject({ code: 0 });
    const alone = { ...two, HOOKRAIL_POSTGRES_MIGRATE_URL: '' };
    await database.query('UPDATE layout SET applied_at = NULL');
    expect(await runTool(alone, 'store', 'migrate')).toMatchObject({
      code: 1,
      err: expect.stringContaining('HOOKRAIL_POSTGRES_MIGRATE_URL, of the role'),
    });
  });

  it('refuses to copy a store of the embedded broker, whose journal does not wait', async () => {
    const { database, store, environment } = await place();
    await store.close();
    const embedded = { ...environment, HOOKRAIL_ENGINE: 'sqlite' };
    const refused = await runTool(embedded, 'store', 'copy', '--to', database.url);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('HOOKRAIL_ENGINE=kafka') });
  });

  it('shows neither the password of the database nor a stack when the copy is refused', async () => {
    const { store, environment } = await place();
    await store.close();
    const away = { ...environment, HOOKRAIL_POSTGRES_PASSWORD: 's3cret' };
    const refused = await runTool(away, 'store', 'copy', '--to', 'postgres://hookrail@127.0.0.1:1/hookrail');
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /^operator: PostgreSQL at [^ ]+ is unavailable: [^\n]*HOOKRAIL_POSTGRES_URL$/,
    );
    expect(refused.out + refused.err).not.toContain('s3cret');
    for (const url of ['http://hookrail:s3cret@host', 'postgres://u:s3cret@127.0.0.1:1/d?sslmode=prefer']) {
      const unusable = await runTool({ ...environment, HOOKRAIL_POSTGRES_URL: url }, 'store', 'copy');
      expect(unusable).toMatchObject({
        code: 1,
        err: expect.stringContaining('HOOKRAIL_POSTGRES_URL cannot be used'),
      });
      expect(unusable.out + unusable.err).not.toContain('s3cret');
    }
  });

  it.each([
    'postgres://u:s3cret@127.0.0.1:1/d',
    'postgresql://u:s3cret@h1,h2/d?sslmode=disable',
    'postgres://u@h/d?password=s3cret',
  ])('refuses a password in the list of processes, and does not repeat it: %s', async (to) => {
    const { code, out, err } = await runTool({}, 'store', 'copy', '--to', to);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('every user of this machine can see');
    expect(err).toContain('HOOKRAIL_POSTGRES_PASSWORD_FILE=<file>');
    expect(err).not.toContain('s3cret');
  });
});

function numbered(n: number) {
  return eventNumber('m', n % 3, { eventId: `00000000-0000-4000-9000-${String(n).padStart(12, '0')}` });
}
