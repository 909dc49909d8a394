import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Store } from '../store.ts';
import { UsedKeys } from '../used-keys.ts';
import type { PostgresAddress } from './client/postgres-address.ts';
import { PostgresDatabase } from './client/postgres-database.ts';
import { makeSealings } from './maintenance/sealings.ts';
import { PostgresAnswers } from './management/answer-writes.ts';
import { makeAudit } from './management/audit-reads.ts';
import { touchKeys } from './management/merchant-writes.ts';
import { makeEndpoints, makeKeys, makeMerchants } from './management/postgres-management.ts';
import { PostgresOutbox } from './management/postgres-outbox.ts';
import { layoutOf, MIGRATIONS } from './migrations/migrate.ts';
import { PostgresLeases } from './requests/postgres-leases.ts';
import { PostgresLimits } from './requests/postgres-limits.ts';

export interface PostgresStoreOptions {
  readonly address: PostgresAddress;
  readonly clock: Clock;
  /** The most connections at a time. */
  readonly connectionsMax: number;
  readonly log?: Logger;
}

/** The parts of the store that PostgreSQL keeps so far: everything but the delivery log. */
export type PostgresStore = Pick<
  Store,
  | 'merchants'
  | 'keys'
  | 'endpoints'
  | 'answers'
  | 'limits'
  | 'leases'
  | 'outbox'
  | 'audit'
  | 'sealings'
  | 'status'
  | 'close'
>;

/**
 * Opens the store, which any number of processes share. Rejects with one line when the server cannot be reached, or its
 * database has another layout than this build's.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { clock, log } = options;
  const database = new PostgresDatabase({ ...options, applicationName: 'hookrail' });
  try {
    await checkLayout(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const outbox = new PostgresOutbox(database);
  database.onAdded = (what) => {
    if (what === 'outbox') outbox.added();
  };
  const used = new UsedKeys(clock, (uses) => database.transaction((tx) => touchKeys(tx, uses)));
  const leases = new PostgresLeases({ database, clock, log });
  return {
    merchants: makeMerchants({ database, clock }),
    keys: makeKeys({ database, clock }, used),
    endpoints: makeEndpoints({ database }),
    answers: new PostgresAnswers(database),
    limits: new PostgresLimits(database),
    leases,
    outbox,
    audit: makeAudit(database),
    sealings: makeSealings(database),
    status: () => ({ reachable: database.isReachable }),
    async close() {
      await leases.close();
      await used.flush();
      await database.close();
    },
  };
}

async function checkLayout(database: PostgresDatabase): Promise<void> {
  const layout = await layoutOf(database);
  if (layout === MIGRATIONS.length) return;
  const older = 'migrate it first';
  const how = layout < MIGRATIONS.length ? older : 'run the newer build that has migrated it';
  throw new Error(`the database has layout ${layout}, this build needs ${MIGRATIONS.length}: ${how}`);
}
