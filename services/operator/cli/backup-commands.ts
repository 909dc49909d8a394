import { resolve } from 'node:path';
import type { Argv } from 'yargs';
import type { Config } from '../../config/config.ts';
import { messageOf } from '../../messages/error-message.ts';
import { OperatorError } from '../commands/arguments.ts';
import { finishOffline } from '../commands/erase-entity.ts';
import type { Execute, GlobalOptions } from './execute.ts';
import { type CopyMeans, copyCommand } from './store-copy-command.ts';

/** `store …` */
export function storeCommands(
  store: Argv<GlobalOptions>,
  execute: Execute,
  means: CopyMeans,
): Argv<GlobalOptions> {
  const { configOf, show } = means;
  return copyCommand(store, means)
    .command(
      'backup <to>',
      'Copy the store into a new file, while the service runs',
      (backup) => backup.positional('to', { type: 'string', demandOption: true, describe: 'File to write' }),
      // The service has another working directory.
      (argv) => execute('store-backup', argv, { to: resolve(argv.to) }),
    )
    .command(
      'restore <from>',
      'Replace the store with a backup; the service must be stopped',
      (restore) =>
        restore.positional('from', { type: 'string', demandOption: true, describe: 'A backup of the store' }),
      async (argv) => show(argv, await restored(configOf(argv), argv)),
    )
    .command(
      'migrate',
      'Bring a database on PostgreSQL to the layout of this build, while the service runs',
      (migrate) => migrate,
      async (argv) => show(argv, await migrated(configOf(argv), argv)),
    )
    .command(
      'vacuum',
      'Write the store anew, without what was deleted and erased; on SQLite the service must be stopped',
      (vacuum) => vacuum,
      async (argv) => show(argv, await vacuumed(configOf(argv), argv)),
    )
    .demandCommand(1, 'name a store command: backup, restore, migrate, copy, vacuum');
}

async function migrated(config: Config, { output }: GlobalOptions): Promise<object | string> {
  const { migrateStore } = await import('../../store/open.ts');
  const { systemClock } = await import('../../process/clock.ts');
  try {
    const { from, to } = await migrateStore(config, systemClock());
    if (output === 'json') return { from, to };
    return from === to ? `the database has layout ${to} already` : `migrated from layout ${from} to ${to}`;
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}

async function vacuumed(config: Config, { output }: GlobalOptions): Promise<object | string> {
  const { vacuumStore } = await import('../../store/open.ts');
  const { vacuumBroker } = await import('../../broker/open.ts');
  const { systemClock } = await import('../../process/clock.ts');
  try {
    const stored = await vacuumStore(config, systemClock());
    const written = [...stored, vacuumBroker(config)].filter((name) => name !== null);
    if (output === 'json') return { written };
    return written.length === 0 ? 'there is nothing to write anew' : `written anew: ${written.join(', ')}`;
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}

async function restored(
  config: Config,
  { from, output }: GlobalOptions & { readonly from: string },
): Promise<object | string> {
  const { openStore, restoreStore } = await import('../../store/open.ts');
  const { systemClock } = await import('../../process/clock.ts');
  const { createLogger } = await import('../../telemetry/logger.ts');
  const clock = systemClock();
  try {
    const { file, keptAs } = restoreStore(config, from, clock.wall());
    const store = await openStore(config, clock, createLogger('silent'));
    const erasedAgain = await finishOffline(store, clock).finally(() => store.close());
    const kept = keptAs === null ? '' : `; the previous store is kept as ${keptAs}`;
    const note = 'API keys that were revoked after the backup are valid again: check keys list';
    return output === 'json'
      ? { restored: file, from, keptAs, erasedAgain, note }
      : [`restored ${file} from ${from}${kept}`, ...erasedLines(erasedAgain), note].join('\n');
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}

function erasedLines(erasedAgain: number): string[] {
  if (erasedAgain === 0) return [];
  return [`erased again what was erased after the backup: ${erasedAgain} orders`];
}
