import { resolve } from 'node:path';
import type { Argv } from 'yargs';
import type { Config } from '../../config/config.ts';
import { messageOf } from '../../messages/error-message.ts';
import type { Actor } from '../../store/change.ts';
import { auditOf, OperatorError } from '../commands/arguments.ts';
import { finishOffline } from '../commands/erase-entity.ts';
import { withStore } from './ask.ts';
import type { Execute, GlobalOptions } from './execute.ts';
import { type CopyMeans, copyCommand } from './store-copy-command.ts';

/** `store …` */
export function storeCommands(
  store: Argv<GlobalOptions>,
  execute: Execute,
  means: CopyMeans,
): Argv<GlobalOptions> {
  const { configOf, actorOf, show } = means;
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
      async (argv) => show(argv, await restored(configOf(argv), actorOf(argv), argv)),
    )
    .command(
      'migrate',
      'Bring a database on PostgreSQL to the layout of this build, while the service runs',
      (migrate) => migrate,
      async (argv) => show(argv, await migrated(configOf(argv), actorOf(argv), argv)),
    )
    .command(
      'vacuum',
      'Write the store anew, without what was deleted and erased; on SQLite the service must be stopped',
      (vacuum) => vacuum,
      async (argv) => show(argv, await vacuumed(configOf(argv), actorOf(argv), argv)),
    )
    .demandCommand(1, 'name a store command: backup, restore, migrate, copy, vacuum');
}

async function migrated(config: Config, actor: Actor, { output }: GlobalOptions): Promise<object | string> {
  const { migrateStore } = await import('../../store/open.ts');
  const { systemClock } = await import('../../process/clock.ts');
  try {
    const { from, to } = await migrateStore(config, systemClock());
    // A new database has no audit yet, and stays empty: a copy fills none that has rows.
    if (from > 0 && from !== to) await record(config, actor, 'store.migrate', { from, to });
    if (output === 'json') return { from, to };
    return from === to ? `the database has layout ${to} already` : `migrated from layout ${from} to ${to}`;
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}

/** Adds to the audit of the store that the command has made, once it can be opened. */
function record(config: Config, actor: Actor, action: string, details: Readonly<Record<string, unknown>>) {
  return withStore(config, (store, clock) => auditOf({ store, clock, actor })(action, details));
}

async function vacuumed(config: Config, actor: Actor, { output }: GlobalOptions): Promise<object | string> {
  const { vacuumStore } = await import('../../store/open.ts');
  const { vacuumBroker } = await import('../../broker/open.ts');
  const { systemClock } = await import('../../process/clock.ts');
  try {
    const stored = await vacuumStore(config, systemClock());
    const written = [...stored, vacuumBroker(config)].filter((name) => name !== null);
    // Where no store was written anew there may be none, and opening it would make one.
    if (stored.length > 0) await record(config, actor, 'store.vacuum', { written });
    if (output === 'json') return { written };
    return written.length === 0 ? 'there is nothing to write anew' : `written anew: ${written.join(', ')}`;
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}

async function restored(
  config: Config,
  actor: Actor,
  { from, output }: GlobalOptions & { readonly from: string },
): Promise<object | string> {
  const { restoreStore } = await import('../../store/open.ts');
  const { systemClock } = await import('../../process/clock.ts');
  try {
    const { file, keptAs } = restoreStore(config, from, systemClock().wall());
    const erasedAgain = await withStore(config, async (store, clock) => {
      await auditOf({ store, clock, actor })('store.restore', { from, keptAs });
      return finishOffline({ store, clock, actor });
    });
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
