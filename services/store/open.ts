import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { restoreSqliteStore } from './sqlite/maintenance/restore.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';
import type { Store } from './store.ts';

type StoreConfig = Pick<Config, 'dataDir' | 'autoDisable'>;

/** Returns the file of the store, of which there is one engine. */
export function storeFile({ dataDir }: Pick<StoreConfig, 'dataDir'>): string {
  return join(dataDir, 'store.db');
}

/** Opens the store; the only place that chooses its engine. Rejects with one line for an operator. */
export function openStore(config: StoreConfig, clock: Clock, log: Logger): Promise<Store> {
  return openSqliteStore({ file: storeFile(config), clock, healthPolicy: config.autoDisable, log });
}

/**
 * Puts a backup in the place of the store, which no process may have open. Returns the store's file and where the
 * previous one is kept; null where there was none. Throws one line for an operator.
 */
export function restoreStore(
  config: Pick<StoreConfig, 'dataDir'>,
  from: string,
): { readonly file: string; readonly keptAs: string | null } {
  const file = storeFile(config);
  return { file, keptAs: restoreSqliteStore(file, from).keptAs };
}
