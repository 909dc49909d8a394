/**
 * Guarantee: when PostgreSQL's disk is full, calls reject as unavailable, with the server's reason where it gives one, and
 * nothing that was acknowledged is lost. The server's files are on a small tmpfs.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
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
import { createSmallDatabase, NO_SMALL_DISK, SmallDisk } from '../../../support/faults/small-disk.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';
import { createEndpoint, eventNumber, HOUR_MS, routed } from '../../../support/records/journal-entries.ts';
import { TEST_RING } from '../../../support/records/key-ring.ts';

const START_MS = 120_000;
const MERCHANT = 'a-merchant';
const SIZE_MB = 160;
/** The room that the ballast leaves. */
const LEFT_MB = 12;
const BATCHES_MAX = 5_000;
const BODY_BYTES = 60_000;

const LINE_EVENTS = /^store_/;

/** A server with files on a small disk, a store on it, and what is recorded there. */
class Trial {
  readonly disk = new SmallDisk(SIZE_MB);
  readonly endpointId = randomUUID();
  readonly #ids = Array.from({ length: BATCHES_MAX }, () => randomUUID());
  readonly #lines: Record<string, unknown>[] = [];
  #server: LocalPostgres | undefined;
  #store: Store | undefined;

  get server(): LocalPostgres {
    if (!this.#server) throw new Error('it was not started');
    return this.#server;
  }

  get store(): Store {
    if (!this.#store) throw new Error('it was not opened');
    return this.#store;
  }

  /** The lines that the store has logged about its server. */
  get told(): readonly string[] {
    return this.#lines.map(({ event }) => `${event}`).filter((event) => LINE_EVENTS.test(event));
  }

  /** Starts a server whose tables alone are on the disk. */
  async withTablesThere(): Promise<void> {
    this.#server = await startLocalPostgres({ environment: process.env });
    await this.#open(await createSmallDatabase(this.server, this.disk));
  }

  /** Starts a server whose files are all on the disk, its write-ahead log, too. */
  async withAllThere(): Promise<void> {
    const settings = { min_wal_size: '64MB', max_wal_size: '64MB' };
    const folder = join(this.disk.folder, 'server');
    this.#server = await startLocalPostgres({ environment: process.env, folder, settings });
    await this.#open('postgres');
  }

  record(n: number): Promise<void> {
    const event = eventNumber(MERCHANT, 1, { eventId: this.#ids[n] ?? '' });
    // What does not compress, so that it is as large on the disk.
    const bodies = [{ apiVersion: '2.3.8' as const, body: new TextEncoder().encode(randomText()) }];
    const entry = { ...routed(event, [this.endpointId]), bodies };
    return this.store.log.applyJournal([{ partition: 'p', first: n, last: n, entries: [entry] }]);
  }

  /** Records until the store refuses. Returns the last batch that was recorded, and the refusal. */
  async fill(): Promise<{ readonly last: number; readonly refusal: unknown }> {
    for (let n = 0; n < BATCHES_MAX; n += 1) {
      try {
        await this.record(n);
      } catch (refusal) {
        return { last: n - 1, refusal };
      }
    }
    throw new Error('the disk did not become full');
  }

  /** Returns the size of the body that was recorded with a batch. */
  async bodyBytes(n: number): Promise<number | undefined> {
    const id = deliveryId(this.#ids[n] ?? '', this.endpointId);
    return (await this.store.log.delivery(MERCHANT, this.endpointId, id))?.body?.length;
  }

  async dispose(): Promise<void> {
    await this.#store?.close();
    await this.#server?.dispose();
    this.disk.dispose();
  }

  async #open(database: string): Promise<void> {
    const address = parsePostgresUrl(this.server.url(database), undefined);
    await migrateDatabase(address, systemClock());
    this.#store = await openPostgresStore({
      ...{
        address,
        clock: systemClock(),
        connectionsMax: 3,
        healthPolicy: TEST_POLICY,
        keyRing: TEST_RING,
        leafMs: HOUR_MS,
      },
      log: createLogger('info', { write: (line: string) => void this.#lines.push(JSON.parse(line)) }),
    });
  }
}

describeWherePostgresStarts('a store whose server has a full disk', () => {
  let trial: Trial;
  beforeEach(() => {
    trial = new Trial();
  });
  afterEach(() => trial.dispose(), START_MS);

  async function expectToGoOn(reason: RegExp): Promise<void> {
    await createEndpoint(trial.store, MERCHANT, trial.endpointId);
    const makeRoom = trial.disk.crowd(LEFT_MB);
    const { last, refusal } = await trial.fill();
    expect(last).toBeGreaterThan(0);
    expect(refusal).toBeInstanceOf(StoreUnavailable);
    expect(`${refusal}`).toMatch(reason);
    makeRoom();
    const recordsAgain = async () => {
      // As its supervisor does.
      if (trial.server.pid === undefined) await trial.server.start();
      return trial.record(last + 1).then(
        () => true,
        () => false,
      );
    };
    await eventually('it records again', recordsAgain, START_MS);
    expect(await trial.store.log.positionOf('p')).toBe(last + 1);
    for (let n = 0; n <= last + 1; n += 1) expect(await trial.bodyBytes(n)).toBe(BODY_BYTES);
  }

  it(
    'rejects calls with the reason while its tables do not fit, and goes on where it was',
    async ({ skip }) => {
      if (!trial.disk.isMounted) return skip(NO_SMALL_DISK);
      await trial.withTablesThere();
      await expectToGoOn(/No space left on device/);
      expect(trial.told).toEqual(['store_disk_full']);
    },
    START_MS,
  );

  it(
    'rejects calls while the server cannot write its log and ends, and goes on where it was',
    async ({ skip }) => {
      if (!trial.disk.isMounted) return skip(NO_SMALL_DISK);
      await trial.withAllThere();
      await expectToGoOn(/No space left|Connection terminated|ECONNRESET|ECONNREFUSED/);
      expect(trial.told).toContain('store_unreachable');
    },
    START_MS,
  );
});

function randomText(): string {
  let text = '';
  while (text.length < BODY_BYTES) text += randomUUID();
  return text.slice(0, BODY_BYTES);
}
