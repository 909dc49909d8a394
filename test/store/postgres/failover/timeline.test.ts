/**
 * Guarantee: after a failover that lost commits, no version that followers of the DIRECTORY stream have seen is given
 * again: changes are refused until the store was reconciled with the stream, which has the lost changes.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Broker, Follower } from '../../../../services/broker/broker.ts';
import { openSqliteBroker } from '../../../../services/broker/sqlite/sqlite-broker.ts';
import { Directory } from '../../../../services/domain/directory.ts';
import type { Endpoint } from '../../../../services/domain/endpoint.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { startRelay } from '../../../../services/relay/start-relay.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../../../services/store/postgres/postgres-store.ts';
import { type Store, StoreUnavailable } from '../../../../services/store/store.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { TEST_POLICY } from '../../../contract/store-place.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWherePostgresStarts, describeWithPostgres } from '../../../support/postgres/suites.ts';
import { createEndpoint, HOUR_MS, OPERATOR, START } from '../../../support/records/journal-entries.ts';
import { TEST_RING } from '../../../support/records/key-ring.ts';
import { postgresPlace } from '../postgres-place.ts';
import { type ServerPair, startServerPair } from './server-pair.ts';

const START_MS = 60_000;
const MERCHANT = 'a-merchant';
const by = { at: START, actor: OPERATOR };

describeWherePostgresStarts('a failover that loses commits', () => {
  let servers: ServerPair;
  let folder: string;
  let broker: Broker;
  let directory: Directory;
  let follower: Follower;
  let lines: Record<string, unknown>[];
  let one: Store;
  let two: Store;
  beforeEach(async () => {
    servers = await startServerPair();
    folder = await mkdtemp(join(tmpdir(), 'hookrail-failover-'));
    broker = await openSqliteBroker({
      file: join(folder, 'broker.db'),
      clock: systemClock(),
      retryScale: 1,
    });
    directory = new Directory();
    follower = await broker.followDirectory((change) => void directory.apply(change));
    lines = [];
    [one, two] = await Promise.all([servers.open(), servers.open()]);
    await one.merchants.create({ merchantId: MERCHANT, name: 'Shop', senderAccountDetails: false });
  }, START_MS);
  afterEach(async () => {
    await follower?.close();
    await broker?.close();
    await servers?.dispose();
    await rm(folder, { recursive: true, force: true });
  }, START_MS);

  const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  /** Returns the jobs of the process that has the lease. */
  const jobs = (store: Store) => async () => {
    const published = { note: () => {} };
    const clock = systemClock();
    const relay = await startRelay({ store, broker, directory, follower, published, clock, log });
    return () => relay.stop();
  };
  const isOnStream = (uuid: string, version: number) =>
    eventually(
      `${uuid} has version ${version} on the stream`,
      () => (directory.newest({ kind: 'endpoint', id: uuid })?.version ?? 0) >= version,
    );
  const disable = (store: Store, uuid: string) =>
    store.endpoints.update(MERCHANT, uuid, { status: 'disabled' }, by);

  it(
    'has its changes refused until the store has those that the stream has seen',
    async () => {
      const lease = await one.leases.hold('api', jobs(one));
      const [changed, deleted, made, untouched] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
      for (const uuid of [changed, deleted, untouched]) await createEndpoint(one, MERCHANT, uuid);
      await isOnStream(untouched, 1);
      await servers.failOver(async () => {
        await disable(one, changed);
        await one.endpoints.remove(MERCHANT, deleted, by);
        await createEndpoint(one, MERCHANT, made);
        await isOnStream(made, 1);
        await lease.stop();
      });
      const refused = await eventually('a server answers', () =>
        disable(two, untouched).then(
          () => null,
          (error) => (error instanceof StoreUnavailable && error.state === 'reconciling' ? error : null),
        ),
      );
      expect(refused.message).toMatch(/failed over or restored .* lease "api"/);
      await expect(createEndpoint(two, MERCHANT, randomUUID())).rejects.toThrow('failed over');
      await expect(two.merchants.update(MERCHANT, { state: 'paused' })).rejects.toThrow('failed over');
      expect((await two.endpoints.get(MERCHANT, changed))?.status, 'the lost change').toBe('active');

      // That its holder has ended the lease is lost, too: it ends by itself.
      const successor = await two.leases.hold('api', jobs(two));
      await eventually(
        'the lost change is in the store',
        async () => (await two.endpoints.get(MERCHANT, changed))?.status === 'disabled',
      );
      expect(await two.endpoints.get(MERCHANT, deleted)).toBeUndefined();
      expect(await two.endpoints.get(MERCHANT, made)).toMatchObject({ version: 1 });
      // The lost changes are in the store a moment before it accepts new ones.
      const { record } = ok(
        await eventually('a change is accepted', () =>
          disable(one, untouched).catch((error) => {
            if (error instanceof StoreUnavailable && error.state === 'reconciling') return null;
            throw error;
          }),
        ),
      );
      await isOnStream(untouched, record.version);
      expect(
        lines.map(({ msg }) => `${msg}`).filter((line) => line.includes('were copied to the store')),
      ).toHaveLength(1);
      await successor.stop();
    },
    START_MS,
  );

  it(
    'is noticed by the process that has the lease, which accepts changes again by itself',
    async () => {
      await one.leases.hold('api', jobs(one));
      const uuid = randomUUID();
      await createEndpoint(one, MERCHANT, uuid);
      await isOnStream(uuid, 1);
      await servers.failOver(async () => {
        await disable(one, uuid);
        await isOnStream(uuid, 2);
      });
      const record = await eventually(
        'a change is accepted',
        () =>
          two.endpoints
            .rotate(MERCHANT, uuid, { sealed: { keyId: 'k2', ciphertext: 'x' }, hint: '…' }, by)
            .then(
              (changed) => (changed.kind === 'ok' ? changed.record : null),
              () => null,
            ),
        START_MS,
      );
      expect(record.status, 'the lost change is in force').toBe('disabled');
      await isOnStream(uuid, record.version);
      expect(directory.endpoint(uuid)).toMatchObject({ status: 'disabled', secret: { keyId: 'k2' } });
    },
    START_MS,
  );

  it(
    'gives later changes versions above those that are still on their way to the stream',
    async () => {
      const uuid = randomUUID();
      const { record } = await createEndpoint(one, MERCHANT, uuid);
      // The relay of the former primary has read the change, and publishes it late.
      await servers.failOver(async () => void (await disable(one, uuid)));
      await eventually('the servers are reconciled with the stream', () =>
        one.leases.hold('api', jobs(one)).then(
          () => true,
          () => false,
        ),
      );
      const url = 'https://new.example.com/';
      const changed = await eventually('a change is accepted', () =>
        two.endpoints.update(MERCHANT, uuid, { url }, by).then(ok, () => null),
      );
      const late = { ...directoryPart(record), status: 'disabled', version: 2 } as const;
      await broker.publishDirectory([{ kind: 'endpoint', id: uuid, version: 2, value: late }]);
      await isOnStream(uuid, changed.record.version);
      expect(directory.endpoint(uuid)).toMatchObject({ status: 'active', url });
      const made = await createEndpoint(two, MERCHANT, randomUUID());
      expect(made.record.version).toBeGreaterThan(2);
    },
    START_MS,
  );
});

await describeWithPostgres('a database that was restored from a dump', (createDatabase) => {
  it('has its changes refused until it was reconciled', async () => {
    const place = await postgresPlace(createDatabase, systemClock());
    const copy = `${new URL(place.database.url).pathname.slice(1)}_copy`;
    await place.database.query(
      `CREATE DATABASE ${copy} OWNER ${parsePostgresUrl(place.database.owner, undefined).user} TEMPLATE ${copy.replace('_copy', '')}`,
    );
    const store = await openPostgresStore({
      address: parsePostgresUrl(place.database.url.replace(copy.replace('_copy', ''), copy), undefined),
      ...{
        clock: systemClock(),
        connectionsMax: 2,
        healthPolicy: TEST_POLICY,
        keyRing: TEST_RING,
        leafMs: HOUR_MS,
      },
    });
    onTestFinished(async () => {
      await store.close();
      await place.database.query(`DROP DATABASE ${copy} WITH (FORCE)`);
      await place.dispose();
    });
    const uuid = randomUUID();
    await expect(createEndpoint(store, MERCHANT, uuid)).rejects.toThrow('failed over or restored');
    const timeline = await store.outbox.timeline();
    expect(timeline?.isReconciled).toBe(false);
    await store.outbox.reconciled(timeline?.name ?? '');
    const { record } = await createEndpoint(store, MERCHANT, uuid);
    expect(record.version).toBeGreaterThan(1);
  });

  it('into the same one has its changes refused once its timeline is forgotten', async () => {
    const place = await postgresPlace(createDatabase, systemClock());
    const store = await place.open();
    onTestFinished(async () => {
      await store.close();
      await place.dispose();
    });
    const first = await createEndpoint(store, MERCHANT, randomUUID());
    // As docs/operate/postgres.md says.
    await place.database.query("DELETE FROM meta WHERE name = 'timeline'");
    await expect(createEndpoint(store, MERCHANT, randomUUID())).rejects.toThrow('failed over or restored');
    const timeline = await store.outbox.timeline();
    await store.outbox.reconciled(timeline?.name ?? '');
    const second = await createEndpoint(store, MERCHANT, randomUUID());
    expect(second.record.version).toBeGreaterThan(first.record.version);
  });
});

function ok<T extends { readonly kind: string }>(done: T): Extract<T, { readonly kind: 'ok' }> {
  if (done.kind !== 'ok') throw new Error(`not changed: ${done.kind}`);
  return done as Extract<T, { readonly kind: 'ok' }>;
}

/** Returns the fields of a record that the directory has. */
function directoryPart(endpoint: Endpoint): Endpoint {
  const { uuid, merchantId, url, subscribedEvents, status, apiVersion, secret } = endpoint;
  const { publicKeySignature, legacy, version } = endpoint;
  return {
    ...{ uuid, merchantId, url, subscribedEvents, status, apiVersion, secret },
    ...{ publicKeySignature, legacy, version },
  };
}
