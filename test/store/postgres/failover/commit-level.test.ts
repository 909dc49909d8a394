/**
 * Guarantee: with a synchronous standby that is away, management changes wait for it, and so does a batch that switches an
 * endpoint off. Other journal batches wait only where HOOKRAIL_POSTGRES_LOG_COMMIT is `on`.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type LocalPostgres, startLocalPostgres } from '../../../../scripts/local-postgres/server.ts';
import type { FailureCode } from '../../../../services/domain/attempt.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { checkReplication } from '../../../../services/store/postgres/client/replication.ts';
import { openPostgresStore } from '../../../../services/store/postgres/postgres-store.ts';
import { TEST_POLICY } from '../../../contract/store-place.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';
import {
  createEndpoint,
  eventNumber,
  failed,
  HOUR_MS,
  head,
} from '../../../support/records/journal-entries.ts';
import { TEST_RING } from '../../../support/records/key-ring.ts';
import { migrateServer } from './server-pair.ts';

const START_MS = 60_000;
const MERCHANT = 'a-merchant';
const ABSENT = 'nobody';

describeWherePostgresStarts('commits while the synchronous standby is away', () => {
  let server: LocalPostgres;
  beforeAll(async () => {
    server = await startLocalPostgres({ environment: process.env });
    await migrateServer(server);
  }, START_MS);
  afterEach(() => setStandby(''));
  afterAll(() => server?.dispose(), START_MS);

  async function setStandby(name: string): Promise<void> {
    await onServer(async (client) => {
      await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await client.query('SELECT pg_reload_conf()');
      await eventually('it is in force', async () => {
        const { rows } = await client.query('SHOW synchronous_standby_names');
        return rows[0]?.synchronous_standby_names === name;
      });
    });
  }

  async function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: server.url() });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  const waitsForStandby = () =>
    onServer(async (client) => {
      const { rowCount } = await client.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      return (rowCount ?? 0) > 0;
    });

  async function open(logCommit: 'on' | 'local' | 'off') {
    const store = await openPostgresStore({
      ...{ address: parsePostgresUrl(server.url(), undefined), clock: systemClock(), connectionsMax: 3 },
      ...{ healthPolicy: TEST_POLICY, keyRing: TEST_RING, leafMs: HOUR_MS, logCommit },
    });
    onTestFinished(() => store.close());
    const endpointId = randomUUID();
    await createEndpoint(store, MERCHANT, endpointId);
    let last = 0;
    const fail = (code?: FailureCode) => {
      last += 1;
      const event = eventNumber(MERCHANT, 1, { eventId: randomUUID() });
      const entry = failed(head(event, endpointId), code);
      return store.log.applyJournal([{ partition: endpointId, first: last, last, entries: [entry] }]);
    };
    const statusOf = async () => (await store.endpoints.get(MERCHANT, endpointId))?.status;
    return { store, fail, statusOf };
  }

  /** Waits until the call waits for the standby, then names none, and expects that the call goes on. */
  async function expectToWait(call: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = call.then(() => {
      isDone = true;
    });
    await eventually('it waits for the standby', waitsForStandby);
    expect(isDone).toBe(false);
    await setStandby('');
    await done;
  }

  for (const logCommit of ['local', 'off'] as const)
    it(
      `with ${logCommit}, journal batches do not wait, but one that switches an endpoint off does`,
      async () => {
        const { fail, statusOf } = await open(logCommit);
        // Names and numbers are given in transactions of their own, which wait.
        await fail();
        await setStandby(ABSENT);
        await fail();
        await fail();
        expect(await statusOf()).toBe('active');
        await expectToWait(fail('endpoint_gone'));
        expect(await statusOf()).toBe('auto_disabled');
      },
      START_MS,
    );

  it(
    'with on, every journal batch waits',
    async () => {
      const { fail } = await open('on');
      await fail();
      await setStandby(ABSENT);
      await expectToWait(fail());
    },
    START_MS,
  );

  it(
    'with off, a change by the API waits',
    async () => {
      const { store } = await open('off');
      await setStandby(ABSENT);
      await expectToWait(createEndpoint(store, MERCHANT, randomUUID()));
    },
    START_MS,
  );

  it('are refused at the start, unless a standby is named or asynchronous replication was chosen', async () => {
    const address = parsePostgresUrl(server.url(), undefined);
    const check = (replication: 'synchronous' | 'asynchronous') =>
      checkReplication(address, replication, systemClock());
    await expect(check('synchronous')).rejects.toThrow(
      /synchronous_standby_names.*HOOKRAIL_POSTGRES_REPLICATION/,
    );
    await check('asynchronous');
    await setStandby(ABSENT);
    await check('synchronous');
    const local = { ...address, user: 'local_only' };
    await setStandby('');
    await onServer(async (client) => {
      await client.query(
        "CREATE ROLE local_only LOGIN; ALTER ROLE local_only SET synchronous_commit = 'local'",
      );
    });
    await setStandby(ABSENT);
    await expect(checkReplication(local, 'synchronous', systemClock())).rejects.toThrow(
      /synchronous_commit of PostgreSQL is local.*HOOKRAIL_POSTGRES_REPLICATION/,
    );
  });
});
