import { existsSync } from 'node:fs';
import type { HealthPolicy } from '../../domain/health.ts';
import { messageOf } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import type { Random } from '../../process/random.ts';
import { type PostgresAddress, parsePostgresUrl } from '../postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../postgres/client/postgres-database.ts';
import { Leaves } from '../postgres/leaves/leaves.ts';
import { openPostgresStore } from '../postgres/postgres-store.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import type { Store } from '../store.ts';
import { type Compared, compareLog, compareManagement, type LogCompared } from './compare.ts';
import { copyLog } from './copy-log.ts';
import { CopyRefused } from './copy-refused.ts';
import { copyRest, eraseAgain } from './copy-rest.ts';
import { addState, advance, type CopyState } from './copy-state.ts';
import { differenceOf } from './difference.ts';
import { copyErasures, copyJournalPositions, copyNames } from './small-tables.ts';
import * as files from './source.ts';
import { prepareTarget } from './target.ts';

export interface CopyOptions {
  /** The SQLite store. */
  readonly file: string;
  /** The snapshot of it that is made, as large as the store; an earlier one is replaced. */
  readonly snapshotFile: string;
  readonly to: {
    readonly url: string;
    readonly ca: string | undefined;
    /** The role that the service will have, where it is not the URL's. */
    readonly runningRole?: string;
  };
  /** The span of a leaf of the log, milliseconds, as the service will have it. */
  readonly leafMs: number;
  readonly healthPolicy: HealthPolicy;
  readonly clock: Clock;
  readonly random: Random;
  readonly tell: (line: string) => void;
}

export type CopyResult =
  /** The log is copied; the rest is when the service is stopped. */
  | {
      readonly kind: 'log';
      readonly takenAt: number;
      readonly untilAt: number;
      readonly log: LogCompared | null;
    }
  | {
      readonly kind: 'all';
      readonly takenAt: number;
      readonly tookMs: number;
      readonly compared: Compared;
      /** Replays that go on, and may leave out events missed since the snapshot. */
      readonly replays: readonly string[];
    };

/** Connections at a time: reads for the comparison. */
const CONNECTIONS_MAX = 4;
/** Collecting what the planner needs of a large leaf takes a while. */
const QUERY_MS = 600_000;
/** The journal is kept for 7 days (docs/deploy.md); one is left for the recorder to read it in. */
const SNAPSHOT_AGE_MS_MAX = 6 * 86_400_000;
const HOUR_MS = 3_600_000;

interface Deps extends CopyOptions {
  readonly address: PostgresAddress;
  readonly runningRole: string | undefined;
  readonly database: PostgresDatabase;
  readonly leaves: Leaves;
}

/**
 * Copies a SQLite store to PostgreSQL. The log is copied from a snapshot, whether or not a service uses the store
 * meanwhile. When none does (any more), the rest is copied as it is then, and both stores are compared. May be called again
 * after it was cut off: it goes on where it was. The source is not changed. Rejects with CopyRefused.
 */
export async function copyStore(options: CopyOptions): Promise<CopyResult> {
  const address = addressOf(options.to);
  const { clock, leafMs, file } = options;
  if (!existsSync(file))
    throw new CopyRefused(
      `there is no store at ${file}: name its folder with --data-dir (HOOKRAIL_DATA_DIR)`,
    );
  const database = new PostgresDatabase({
    ...{ address, clock, connectionsMax: CONNECTIONS_MAX, applicationName: 'hookrail store copy' },
    queryMs: QUERY_MS,
  });
  const { runningRole } = options.to;
  const deps = { ...options, address, runningRole, database, leaves: new Leaves(database, leafMs) };
  try {
    return await run(deps);
  } finally {
    await database.close();
  }
}

function addressOf({ url, ca }: CopyOptions['to']): PostgresAddress {
  try {
    return parsePostgresUrl(url, ca);
  } catch (error) {
    throw new CopyRefused(`the URL of PostgreSQL is not usable: ${messageOf(error)}`);
  }
}

async function run(deps: Deps): Promise<CopyResult> {
  const begun = await prepareTarget(deps);
  let state = begun ?? (await begin(deps));
  refuseUnfit(state, deps);
  let log: LogCompared | null = null;
  if (!state.isLogCopied) ({ state, log } = await copyWholeLog(deps, state));
  const { takenAt } = state;
  if (files.isInUse(deps.file)) return { kind: 'log', takenAt, untilAt: takenAt + SNAPSHOT_AGE_MS_MAX, log };
  return finish(deps, state);
}

/** Takes the snapshot. The names and positions of its log are copied at once. */
async function begin({ file, snapshotFile, leafMs, database, clock, tell }: Deps): Promise<CopyState> {
  const takenAt = Math.floor(clock.wall());
  tell(`takes a snapshot of ${file}`);
  const fingerprint = await files.takeSnapshot(file, snapshotFile);
  const state: CopyState = {
    ...{ takenAt, leafMs },
    snapshot: fingerprint,
    reached: { event: 0, delivery: 0, feed: 0, audit: 0, missed: [0, 0, 0] },
    isLogCopied: false,
    changesTo: fingerprint.feed,
    copiedAt: null,
  };
  const snapshot = files.openReadOnly(snapshotFile);
  try {
    await database.transaction(async (tx) => {
      await addState(tx, state);
      await copyNames(tx, snapshot, fingerprint.feed);
      await copyJournalPositions(tx, snapshot);
      await copyErasures(tx, snapshot);
    });
  } finally {
    snapshot.close();
  }
  return state;
}

function refuseUnfit({ takenAt, copiedAt, leafMs }: CopyState, { clock, ...deps }: Deps): void {
  if (leafMs !== deps.leafMs)
    throw new CopyRefused(
      `this copy has begun with HOOKRAIL_POSTGRES_LEAF_HOURS=${leafMs / HOUR_MS}: set it again, for the service, too`,
    );
  if (clock.wall() - takenAt <= SNAPSHOT_AGE_MS_MAX) return;
  const what = copiedAt === null ? 'the snapshot' : 'the copy';
  throw new CopyRefused(
    `${what} is of ${timeOf(takenAt)}, and Kafka keeps the journal that has what came since for 7 days only: begin again ` +
      'with an empty database',
  );
}

async function copyWholeLog(
  deps: Deps,
  begun: CopyState,
): Promise<{ readonly state: CopyState; readonly log: LogCompared }> {
  const { snapshotFile, database, tell, random } = deps;
  const snapshot = openSnapshot(snapshotFile, begun);
  try {
    tell(`copies the log of ${timeOf(begun.takenAt)}`);
    const copied = await copyLog({ ...deps, snapshot }, begun);
    tell('compares the log');
    const log = await withStores(deps, snapshotFile, (from, to) => compareLog(snapshot, from, to, random));
    const state = await advance(database, copied, { isLogCopied: true }, () => Promise.resolve());
    files.removeSnapshot(snapshotFile);
    return { state, log };
  } finally {
    snapshot.close();
  }
}

/** Opens the snapshot that the copy began with. */
function openSnapshot(snapshotFile: string, { snapshot: begun }: CopyState): files.Sqlite {
  const again = 'begin again with an empty database';
  if (!existsSync(snapshotFile))
    throw new CopyRefused(`${snapshotFile}, which this copy has begun with, is gone: ${again}`);
  const snapshot = files.openReadOnly(snapshotFile);
  if (differenceOf(files.fingerprintOf(snapshot), begun) === null) return snapshot;
  snapshot.close();
  throw new CopyRefused(`${snapshotFile} is not the snapshot that this copy has begun with: ${again}`);
}

async function finish(deps: Deps, begun: CopyState): Promise<CopyResult> {
  const { clock, database, file, tell } = deps;
  const startedAt = clock.now();
  tell('copies merchants, keys, endpoints and the rest');
  // The store is locked: a service that is started meanwhile refuses to start.
  return withStores(deps, file, async (from, to) => {
    const source = files.openReadOnly(file);
    try {
      if (!files.isSameStore(source, begun.snapshot))
        throw new CopyRefused(
          `the database has the data of another store than ${file}: give an empty database`,
        );
      const { state, toErase } = await copyRest({ ...deps, source }, begun);
      await eraseAgain({ ...deps, source }, to, toErase);
      tell('compares them');
      const compared = await compareManagement(from, to, clock.wall());
      const copiedAt = Math.floor(clock.wall());
      await advance(database, state, { copiedAt }, () => Promise.resolve());
      const running = await from.replays.running();
      const replays = running.filter(({ until }) => until > begun.takenAt).map(({ replayId }) => replayId);
      const { takenAt } = begun;
      return { kind: 'all', takenAt, tookMs: clock.now() - startedAt, compared, replays };
    } finally {
      source.close();
    }
  });
}

/** Opens a SQLite store, which locks it, and the target as the service would. */
async function withStores<T>(
  { address, clock, healthPolicy, leafMs }: Deps,
  file: string,
  use: (from: Store, to: Store) => Promise<T>,
): Promise<T> {
  const from = await openSqliteStore({ file, clock, healthPolicy });
  try {
    const options = { address, clock, healthPolicy, leafMs, connectionsMax: CONNECTIONS_MAX };
    const to = await openPostgresStore(options);
    try {
      return await use(from, to);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
