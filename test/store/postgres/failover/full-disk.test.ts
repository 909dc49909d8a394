/**
 * Guarantee: when PostgreSQL's disk is full, calls reject as unavailable, with the server's reason where it gives one, and
 * nothing that was acknowledged is lost. The server's files are on a small tmpfs.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LocalPostgres, startLocalPostgres } from '../../../../scripts/local-postgres/server.ts';
import { deliveryId } from '../../../../services/domain/ids.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { migrateDatabase } from '../../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../../services/store/postgres/postgres-store.ts';
import { type Store, StoreUnavailable } from '../../../../services/store/store.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { TEST_POLICY } from '../../../contract/store-place.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';
import { createEndpoint, eventNumber, HOUR_MS, routed } from '../../../support/records/journal-entries.ts';

const START_MS = 120_000;
const MERCHANT = 'a-merchant';
const SIZE_MB = 160;
/** What is left beside the ballast. */
const LEFT_MB = 12;
const BATCHES_MAX = 5_000;
const BODY_BYTES = 60_000;

describeWherePostgresStarts('a store whose server has a full disk', () => {
  let disk: string;
  let isMounted = false;
  let server: LocalPostgres;
  let store: Store;
  let lines: Record<string, unknown>[];
  beforeEach(() => {
    lines = [];
    disk = mkdtempSync(join(tmpdir(), 'hookrail-disk-'));
    const size = `size=${SIZE_MB}m`;
    isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', disk]).status === 0;
  });
  afterEach(async () => {
    await store?.close();
    await server?.dispose();
    if (isMounted) spawnSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  }, START_MS);

  async function open(database: string): Promise<void> {
    const address = parsePostgresUrl(server.url(database), undefined);
    await migrateDatabase(address, systemClock());
    store = await openPostgresStore({
      ...{ address, clock: systemClock(), connectionsMax: 3, healthPolicy: TEST_POLICY, leafMs: HOUR_MS },
      log: createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) }),
    });
  }

  /** Starts a server whose tables alone are on the disk. */
  async function withTablesThere(): Promise<void> {
    server = await startLocalPostgres({ environment: process.env });
    const folder = join(disk, 'tables');
    spawnSync('install', ['-d', '-o', 'postgres', folder]);
    const client = new pg.Client({ connectionString: server.url() });
    await client.connect();
    await client.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
    await client.query('CREATE DATABASE small TABLESPACE small');
    await client.end();
    await open('small');
  }

  /** Starts a server whose files are all on the disk, its write-ahead log, too. */
  async function withAllThere(): Promise<void> {
    const settings = { min_wal_size: '64MB', max_wal_size: '64MB' };
    server = await startLocalPostgres({ environment: process.env, folder: join(disk, 'server'), settings });
    await open('postgres');
  }

  const endpointId = randomUUID();
  const ids = Array.from({ length: BATCHES_MAX }, () => randomUUID());
  const record = (n: number) => {
    const event = eventNumber(MERCHANT, 1, { eventId: ids[n] ?? '' });
    // What does not compress, so that it is as large on the disk.
    const bodies = [{ apiVersion: '2.3.8' as const, body: new TextEncoder().encode(randomText()) }];
    const entry = { ...routed(event, [endpointId]), bodies };
    return store.log.applyJournal({ partition: 'p', first: n, last: n }, [entry]);
  };

  /** Records until the store refuses. Returns the last batch that was recorded, and the refusal. */
  async function fill(): Promise<{ readonly last: number; readonly refusal: unknown }> {
    for (let n = 0; n < BATCHES_MAX; n += 1) {
      try {
        await record(n);
      } catch (refusal) {
        return { last: n - 1, refusal };
      }
    }
    throw new Error('the disk did not become full');
  }

  const cases = [
    ['rejects calls with the reason while its tables do not fit', withTablesThere, /No space left on device/],
    [
      'rejects calls while the server cannot write its log, and ends',
      withAllThere,
      /No space left|Connection terminated|ECONNRESET|ECONNREFUSED/,
    ],
  ] as const;
  for (const [title, start, reason] of cases)
    it(
      `${title}, and goes on where it was once there is room`,
      async ({ skip }) => {
        if (!isMounted) return skip('mounting a tmpfs is not allowed here');
        await start();
        await createEndpoint(store, MERCHANT, endpointId);
        const { stdout } = spawnSync('df', ['--output=avail', '-BM', disk], { encoding: 'utf8' });
        const freeMb = Number(/(\d+)M/.exec(stdout)?.[1]);
        const ballast = join(disk, 'ballast');
        writeFileSync(ballast, Buffer.alloc((freeMb - LEFT_MB) * 1024 * 1024));

        const { last, refusal } = await fill();
        expect(last).toBeGreaterThan(0);
        expect(refusal).toBeInstanceOf(StoreUnavailable);
        expect(`${refusal}`).toMatch(reason);

        rmSync(ballast);
        await eventually(
          'it records again',
          async () => {
            // As its supervisor does.
            if (server.pid === undefined) await server.start();
            return record(last + 1).then(
              () => true,
              () => false,
            );
          },
          START_MS,
        );
        expect(await store.log.positionOf('p')).toBe(last + 1);
        for (let n = 0; n <= last + 1; n += 1) {
          const id = deliveryId(ids[n] ?? '', endpointId);
          expect((await store.log.delivery(MERCHANT, endpointId, id))?.body?.length).toBe(BODY_BYTES);
        }
        const told = lines.map(({ event }) => event).filter((event) => `${event}`.startsWith('store_'));
        if (start === withTablesThere) expect(told).toEqual(['store_disk_full']);
        else expect(told).toContain('store_unreachable');
      },
      START_MS,
    );
});

function randomText(): string {
  let text = '';
  while (text.length < BODY_BYTES) text += randomUUID();
  return text.slice(0, BODY_BYTES);
}
