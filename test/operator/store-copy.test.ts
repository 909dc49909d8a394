/** `hookrail operator store copy` leads an operator through the move of a store to PostgreSQL. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../services/process/clock.ts';
import { parsePostgresUrl } from '../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../services/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';
import { createEndpoint } from '../support/records/journal-entries.ts';
import { TEST_RING } from '../support/records/key-ring.ts';
import { runTool } from '../support/service/operator-tool.ts';

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
    await createEndpoint(store, 'm', '00000000-0000-4000-8000-000000000001');
    const copy = (...more: string[]) => runTool(environment, 'store', 'copy', ...more);
    return { database, store, copy, environment };
  }

  it('copies the log while the service runs, then says what to do next', async () => {
    const { database, store, copy } = await place();
    const first = await copy('--to', database.url);
    expect(first).toMatchObject({ code: 0 });
    expect(first.out).toMatch(/the log is copied as it was at \d{4}-/);
    expect(first.out).toMatch(
      /next, before .*: stop the process with api and recorder, and run this command/,
    );
    await store.close();
    const second = await copy('--to', database.url);
    expect(second).toMatchObject({ code: 0 });
    expect(second.out).toContain('1 merchants, 0 keys, 1 endpoints and 2 outbox rows are the same');
    expect(second.out).toMatch(/with the service stopped this took [\d.]+ s/);
    expect(second.out).toContain('start the service with HOOKRAIL_STORE=postgres and HOOKRAIL_POSTGRES_URL');
    const json = await copy('--to', database.url, '--output', 'json');
    expect(JSON.parse(json.out)).toMatchObject({ copied: 'all', compared: { endpoints: 1 }, replays: [] });
  });

  it('takes the database of HOOKRAIL_POSTGRES_URL, and asks for one where there is none', async () => {
    const { database, store, environment, copy } = await place();
    await store.close();
    expect(await copy()).toMatchObject({ code: 1, err: expect.stringContaining('--to postgres://') });
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
    await database.query('DELETE FROM layout WHERE version = (SELECT max(version) FROM layout)');
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
  });

  it.each([
    'postgres://u:s3cret@127.0.0.1:1/d',
    'postgresql://u:s3cret@h1,h2/d?sslmode=disable',
    'postgres://u@h/d?password=s3cret',
  ])('refuses a password in the list of processes, and does not repeat it: %s', async (to) => {
    const { code, out, err } = await runTool({}, 'store', 'copy', '--to', to);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('every user of this machine can see');
    expect(err).toContain('HOOKRAIL_POSTGRES_PASSWORD_FILE=<file>');
    expect(err).not.toContain('s3cret');
  });
});
