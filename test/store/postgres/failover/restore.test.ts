/**
 * Guarantee: after a restore to a point in time, from a base backup and the WAL archive, the store is whole again: endpoints
 * as the directory stream has them, the log as the journal has it, and changes are accepted.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { findBinaries } from '../../../../scripts/local-postgres/binaries.ts';
import { type LocalPostgres, startLocalPostgres } from '../../../../scripts/local-postgres/server.ts';
import { asServerUser, giveToServerUser } from '../../../../scripts/local-postgres/server-user.ts';
import type { Broker, Follower } from '../../../../services/broker/broker.ts';
import { openSqliteBroker } from '../../../../services/broker/sqlite/sqlite-broker.ts';
import { Directory } from '../../../../services/domain/directory.ts';
import { deliveryId } from '../../../../services/domain/ids.ts';
import type { JournalEntry } from '../../../../services/domain/journal.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { startRelay } from '../../../../services/relay/start-relay.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../../../services/store/postgres/postgres-store.ts';
import type { Store } from '../../../../services/store/store.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { TEST_POLICY } from '../../../contract/store-place.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  HOUR_MS,
  head,
  OPERATOR,
  routed,
  START,
} from '../../../support/records/journal-entries.ts';
import { TEST_RING } from '../../../support/records/key-ring.ts';
import { migrateServer } from './server-pair.ts';

const TEST_MS = 120_000;
const MERCHANT = 'a-merchant';
const PARTITION = 'p';
const by = { at: START, actor: OPERATOR };
const clock = systemClock();
const log = createLogger('silent');

/** A process with the role api. */
interface Running {
  readonly store: Store;
  stop(): Promise<void>;
}

/** The streams that outlive a restore: the directory, and a journal in memory of one partition. */
class Streams {
  readonly directory: Directory;
  readonly journal: JournalEntry[] = [];
  readonly #broker: Broker;
  readonly #follower: Follower;

  static async open(file: string): Promise<Streams> {
    const broker = await openSqliteBroker({ file, clock, retryScale: 1 });
    const directory = new Directory();
    const follower = await broker.followDirectory((change) => void directory.apply(change));
    return new Streams(broker, directory, follower);
  }

  private constructor(broker: Broker, directory: Directory, follower: Follower) {
    this.#broker = broker;
    this.directory = directory;
    this.#follower = follower;
  }

  /** Starts a process, and resolves when it accepts changes. */
  async start(server: LocalPostgres): Promise<Running> {
    const address = parsePostgresUrl(server.url(), undefined);
    const options = { connectionsMax: 3, healthPolicy: TEST_POLICY, keyRing: TEST_RING, leafMs: HOUR_MS };
    const store = await openPostgresStore({ address, clock, ...options });
    const lease = await store.leases.hold('api', async () => {
      const of = { broker: this.#broker, directory: this.directory, follower: this.#follower };
      const relay = await startRelay({ ...of, store, published: { note: () => {} }, clock, log });
      return () => relay.stop();
    });
    await eventually(
      'changes are accepted',
      async () => (await store.outbox.timeline())?.isReconciled === true,
    );
    const stop = async () => {
      await lease.stop();
      await store.close();
    };
    return { store, stop };
  }

  /** Resolves with the endpoint's uuid when the stream has it. */
  async create(store: Store): Promise<string> {
    const uuid = randomUUID();
    await createEndpoint(store, MERCHANT, uuid);
    await eventually('the endpoint is on the stream', () => this.directory.endpoint(uuid) !== undefined);
    return uuid;
  }

  /** Adds a delivery to the journal. */
  deliver(number: number, endpointId: string): { readonly id: string; readonly endpointId: string } {
    const event = eventNumber(MERCHANT, number, { eventId: randomUUID() });
    this.journal.push(routed(event, [endpointId]), delivered(head(event, endpointId)));
    return { id: deliveryId(event.eventId, endpointId), endpointId };
  }

  /** Records what the log does not have. Returns how many entries that were. */
  async record({ log }: Store): Promise<number> {
    const after = await log.positionOf(PARTITION);
    const first = (after ?? -1) + 1;
    const entries = this.journal.slice(first);
    const last = this.journal.length - 1;
    await log.applyJournal([{ partition: PARTITION, first, last, after, entries }]);
    return entries.length;
  }

  async close(): Promise<void> {
    await this.#follower.close();
    await this.#broker.close();
  }
}

describeWherePostgresStarts('a store that was restored to a point in time', () => {
  let folder: string;
  let archive: string;
  let primary: LocalPostgres;
  let streams: Streams;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookrail-restore-'));
    giveToServerUser(folder);
    archive = folderIn(folder, 'archive');
    const settings = { archive_mode: 'on', archive_command: `cp %p ${archive}/%f` };
    primary = await startLocalPostgres({ environment: process.env, settings });
    await migrateServer(primary);
    streams = await Streams.open(join(folder, 'broker.db'));
  }, TEST_MS);
  afterEach(async () => {
    await streams?.close();
    await primary?.dispose();
    rmSync(folder, { recursive: true, force: true });
  }, TEST_MS);

  it(
    'agrees with the directory stream and the journal again, and accepts changes',
    async () => {
      const before = await streams.start(primary);
      await before.store.merchants.create({
        merchantId: MERCHANT,
        name: 'Shop',
        senderAccountDetails: false,
      });
      const [kept, gone] = [await streams.create(before.store), await streams.create(before.store)];
      const deliveries = [streams.deliver(1, kept)];
      await streams.record(before.store);
      backUp(primary, folderIn(folder, 'restored'));
      deliveries.push(streams.deliver(2, kept));
      await streams.record(before.store);
      const [until] = await query(primary, 'SELECT clock_timestamp()::text AS now');
      const made = await streams.create(before.store);
      await before.store.endpoints.remove(MERCHANT, gone, by);
      await eventually('the deletion is on the stream', () => streams.directory.endpoint(gone) === undefined);
      deliveries.push(streams.deliver(3, made), streams.deliver(4, kept));
      await streams.record(before.store);
      await before.stop();
      await query(primary, 'SELECT pg_switch_wal()');
      await primary.stop();

      const restored = await restore(folder, archive, `${until?.now}`);
      onTestFinished(() => restored.dispose());
      expect(await query(restored, 'SELECT FROM endpoint WHERE uuid = $1', [made])).toEqual([]);
      const { store, stop } = await streams.start(restored);
      onTestFinished(stop);
      expect(await streams.record(store)).toBe(4);
      expect(await store.endpoints.get(MERCHANT, gone)).toBeUndefined();
      expect(await store.endpoints.get(MERCHANT, made)).toMatchObject({ uuid: made, status: 'active' });
      for (const { id, endpointId } of deliveries) {
        const found = await store.log.delivery(MERCHANT, endpointId, id);
        expect(found).toMatchObject({ status: 'delivered' });
        expect(found?.attempts).toHaveLength(1);
      }
      const changed = await store.endpoints.update(MERCHANT, made, { description: 'changed' }, by);
      expect(changed.kind).toBe('ok');
    },
    TEST_MS,
  );
});

/** Starts a server on the backup in `folder`, and resolves when it is as it was at this time. */
async function restore(folder: string, archive: string, until: string): Promise<LocalPostgres> {
  const server = await startLocalPostgres({
    environment: process.env,
    folder: join(folder, 'restored'),
    settings: {
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_time: until,
      recovery_target_action: 'promote',
    },
  });
  await eventually('the restore has ended', async () => {
    const [row] = await query(server, 'SELECT NOT pg_is_in_recovery() AS done');
    return row?.done === true;
  });
  return server;
}

function folderIn(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { mode: 0o700 });
  giveToServerUser(path);
  return path;
}

/** Makes a base backup that the start of a server in `folder` restores. */
function backUp({ port }: LocalPostgres, folder: string): void {
  const binaries = findBinaries(process.env);
  if ('missing' in binaries) throw new Error(binaries.missing);
  const data = join(folder, 'data');
  const [command, ...args] = asServerUser(join(binaries.folder, 'pg_basebackup'), [
    ...['-h', '127.0.0.1', '-p', `${port}`, '-U', 'hookrail', '-D', data, '-X', 'none', '-c', 'fast'],
  ]);
  execFileSync(command, args, { cwd: folder });
  writeFileSync(join(data, 'recovery.signal'), '');
}

async function query(server: LocalPostgres, text: string, values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows as readonly Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
