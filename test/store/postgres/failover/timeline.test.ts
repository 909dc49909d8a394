/**
 * Guarantee: after a failover that lost commits, no version that followers of the DIRECTORY stream have seen is given
 * again: changes are refused until the store was reconciled with the stream, which has the lost changes.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Broker, Follower } from '../../../../services/broker/broker.ts';
import { openSqliteBroker } from '../../../../services/broker/sqlite/sqlite-broker.ts';
import { Directory } from '../../../../services/domain/directory.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { startRelay } from '../../../../services/relay/start-relay.ts';
import { type Store, StoreUnavailable } from '../../../../services/store/store.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';
import { createEndpoint, OPERATOR, START } from '../../../support/records/journal-entries.ts';
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

      const successor = await two.leases.hold('api', jobs(two));
      expect((await two.endpoints.get(MERCHANT, changed))?.status).toBe('disabled');
      expect(await two.endpoints.get(MERCHANT, deleted)).toBeUndefined();
      expect(await two.endpoints.get(MERCHANT, made)).toMatchObject({ version: 1 });
      const { record } = await ok(disable(one, untouched));
      await isOnStream(untouched, record.version);
      expect(
        lines.map(({ msg }) => `${msg}`).filter((line) => line.includes('its changes were copied')),
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
      const [changed, made] = [randomUUID(), randomUUID()];
      await createEndpoint(one, MERCHANT, changed);
      // The relay of the former primary has read the change, and publishes it late.
      await servers.failOver(async () => void (await disable(one, changed)));
      const late = { ...(await two.endpoints.get(MERCHANT, changed)) } as never as Record<string, unknown>;
      await eventually('it is reconciled', () =>
        one.leases.hold('api', jobs(one)).then(
          () => true,
          () => false,
        ),
      );
      await createEndpoint(two, MERCHANT, made);
      const { record } = await ok(
        two.endpoints.update(MERCHANT, changed, { url: 'https://new.example.com/' }, by),
      );
      const value = { ...(late as object), status: 'disabled', version: 2 } as never;
      await broker.publishDirectory([{ kind: 'endpoint', id: changed, version: 2, value }]);
      await isOnStream(changed, record.version);
      expect(record.version).toBeGreaterThan(2);
      expect(directory.endpoint(changed)).toMatchObject({
        status: 'active',
        url: 'https://new.example.com/',
      });
      expect((await two.endpoints.get(MERCHANT, made))?.version).toBeGreaterThan(2);
    },
    START_MS,
  );

  it(
    'is not needed for the refusal: a database restored from a dump has to be reconciled, too',
    async () => {
      const { name, isReconciled } = (await one.outbox.timeline()) ?? {};
      expect([name, isReconciled]).toEqual([expect.stringMatching(/^\d+\/\d+\/1$/), true]);
    },
    START_MS,
  );
});

async function ok<T extends { readonly kind: string }>(
  changed: Promise<T>,
): Promise<Extract<T, { readonly kind: 'ok' }>> {
  const done = await changed;
  if (done.kind !== 'ok') throw new Error(`not changed: ${done.kind}`);
  return done as Extract<T, { readonly kind: 'ok' }>;
}
