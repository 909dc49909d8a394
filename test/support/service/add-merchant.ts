import { join } from 'node:path';
import { uuidV5 } from '../../../services/domain/ids.ts';
import { KeyRing } from '../../../services/keys/keyring.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { HOUR_MS } from '../records/journal-entries.ts';
import type { ServiceSetup } from './system.ts';

/** Adds a merchant that has nothing: to a SQLite store that no service has open, or to PostgreSQL. Returns its id. */
export async function addMerchant({ dataDir, environment }: ServiceSetup): Promise<string> {
  const clock = systemClock();
  const common = {
    clock,
    healthPolicy: { withoutSuccessMs: HOUR_MS, failedAttempts: 20 },
    keyRing: KeyRing.read(join(dataDir, 'keyring.json')),
  };
  const url = environment.HOOKRAIL_POSTGRES_URL;
  const store =
    url === undefined
      ? await openSqliteStore({ ...common, file: join(dataDir, 'store.db') })
      : await openPostgresStore({
          ...common,
          address: parsePostgresUrl(url, undefined),
          connectionsMax: 2,
          leafMs: 24 * HOUR_MS,
        });
  const merchantId = uuidV5('another-merchant', dataDir);
  await store.merchants.create({ merchantId, name: 'Another', senderAccountDetails: false });
  await store.close();
  return merchantId;
}
