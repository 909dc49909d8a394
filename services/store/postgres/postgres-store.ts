import type { HealthPolicy } from '../../domain/health.ts';
import { RecordSeals, type SealKeys } from '../../domain/seals/record-seals.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Reads } from '../rules/reads.ts';
import type { Writes } from '../rules/writes.ts';
import type { Store } from '../store.ts';
import { UsedKeys } from '../used-keys.ts';
import type { PostgresAddress } from './client/postgres-address.ts';
import { PostgresDatabase } from './client/postgres-database.ts';
import { feedWriter } from './feed/feed-writes.ts';
import { PostgresEventFeed } from './feed/postgres-event-feed.ts';
import { PostgresFeed } from './feed/postgres-feed.ts';
import { checkLeafWidth } from './leaves/leaf-width.ts';
import { Leaves } from './leaves/leaves.ts';
import type { LogCommit } from './log/journal-writes.ts';
import { LogNames } from './log/log-names.ts';
import { Numbers } from './log/numbers.ts';
import { PostgresDeliveryLog } from './log/postgres-delivery-log.ts';
import { PostgresLists } from './log/postgres-lists.ts';
import { refuseUnfinishedCopy } from './maintenance/copy-state.ts';
import { postgresErasures } from './maintenance/postgres-erasures.ts';
import { makeReplays } from './maintenance/postgres-replays.ts';
import { makeOutbox } from './management/postgres-outbox.ts';
import { touchKeys } from './management/touch-keys.ts';
import { checkLayout } from './migrations/migrate.ts';
import { PostgresLeases } from './requests/postgres-leases.ts';
import { PostgresLimits } from './requests/postgres-limits.ts';
import { readsOn, writesOn } from './rules-on.ts';
import { PostgresMetrics } from './tally/postgres-metrics.ts';
import { TallyWrites } from './tally/tally-writes.ts';

export interface PostgresStoreOptions {
  readonly address: PostgresAddress;
  readonly clock: Clock;
  /** The most connections at a time. */
  readonly connectionsMax: number;
  readonly healthPolicy: HealthPolicy;
  /** The span of a leaf of the log, milliseconds: an hour or a whole number of hours that divides a day. */
  readonly leafMs: number;
  /** `synchronous_commit` of journal batches; `on` unless given. What is lost is recorded again from the journal. */
  readonly logCommit?: LogCommit;
  readonly log?: Logger;
  /** Seals records. Null or absent: changes of merchants and endpoints are refused. */
  readonly keyRing?: SealKeys | null;
}

/**
 * Opens the store, which any number of processes share. Rejects with one line when the server cannot be reached, or its
 * database has another layout than this build's.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock, log } = options;
  const database = new PostgresDatabase({ ...options, applicationName: 'hookrail' });
  try {
    await checkLayout(database);
    await refuseUnfinishedCopy(database);
    await checkLeafWidth(database, options.leafMs);
  } catch (error) {
    await database.close();
    throw error;
  }
  database.seals = options.keyRing ? new RecordSeals(options.keyRing) : null;
  const reads = readsOn(database);
  const leaves = new Leaves(database, options.leafMs);
  database.writeFeed = feedWriter(leaves);
  const names = new LogNames(database);
  const writes = writesOn(database, leaves);
  const { outbox, added: addedToOutbox } = makeOutbox(database, reads, writes);
  const { replays, added: addedReplay } = makeReplays(database, reads, writes);
  database.onAdded = (what) => (what === 'outbox' ? addedToOutbox() : addedReplay());
  const used = new UsedKeys(clock, (uses) => database.transaction((tx) => touchKeys(tx, uses)));
  const leases = new PostgresLeases({ database, clock, log });
  const feed = new PostgresFeed({ database, leaves, names, clock });
  const numbers = new Numbers(database);
  const tallies = new TallyWrites(database, leaves);
  const deliveryLog = new PostgresDeliveryLog({
    ...{ database, leaves, names, numbers, tallies, feed, clock },
    ...{ policy: options.healthPolicy, logCommit: options.logCommit ?? 'on' },
  });
  database.onTimeline = () => {
    names.forget();
    numbers.forget();
    leaves.forget();
    deliveryLog.forgot();
    log?.warn({ event: 'store_set_back' }, SET_BACK);
  };
  return {
    ...ruled(reads, writes),
    keys: { ...reads.keys, ...writes.keys, touch: (keyId, at) => used.add(keyId, at) },
    limits: new PostgresLimits(database),
    leases,
    outbox,
    log: deliveryLog,
    lists: new PostgresLists(database, names),
    metrics: new PostgresMetrics(database, names),
    feed,
    eventFeed: new PostgresEventFeed({ database, names }),
    replays,
    erasures: { ...reads.erasures, ...writes.erasures, ...postgresErasures({ database, leaves }) },
    status: () => ({
      reachable: database.isReachable,
      connections: database.connections,
      leases: leases.names,
    }),
    backup: () => Promise.reject(new Error(BACKUP)),
    failed: new Promise<Error>(() => {}),
    async close() {
      deliveryLog.close();
      feed.close();
      await leases.close();
      await used.flush();
      await database.close();
    },
  };
}

/** Returns the parts of the port for which the rules are all. */
function ruled(reads: Reads, writes: Writes) {
  return {
    merchants: { ...reads.merchants, ...writes.merchants },
    endpoints: { ...reads.endpoints, ...writes.endpoints },
    answers: writes.answers,
    notices: { ...reads.notices, ...writes.notices },
    portalSessions: { ...reads.portalSessions, ...writes.portalSessions },
    audit: { ...reads.audit, ...writes.audit },
    sealings: { ...reads.sealings, ...writes.sealings },
  };
}

const SET_BACK =
  'PostgreSQL was failed over or restored: the log is read again from the journal where it lacks something';

const BACKUP =
  "a store on PostgreSQL is backed up with PostgreSQL's own tools: a base backup and the WAL archive";
