import { resolve } from 'node:path';
import type { Argv } from 'yargs';
import { messageOf } from '../../messages/error-message.ts';
import { OperatorError } from '../commands/arguments.ts';
import type { Execute, GlobalOptions } from './execute.ts';

/** The data directory of the store, and how a result is printed. */
export interface RestorePlace {
  readonly dataDir: (options: GlobalOptions) => string;
  readonly show: (options: GlobalOptions, result: unknown) => void;
}

/** `store …` */
export function storeCommands(
  store: Argv<GlobalOptions>,
  execute: Execute,
  { dataDir, show }: RestorePlace,
): Argv<GlobalOptions> {
  return store
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
      async (argv) => show(argv, await restored(dataDir(argv), argv)),
    )
    .demandCommand(1, 'name a store command: backup, restore');
}

async function restored(
  dataDir: string,
  { from, output }: GlobalOptions & { readonly from: string },
): Promise<object | string> {
  const { restoreStore } = await import('../../store/open.ts');
  try {
    const { file, keptAs } = restoreStore({ dataDir }, from);
    const kept = keptAs === null ? '' : `; the previous store is kept as ${keptAs}`;
    const note = 'API keys that were revoked after the backup are valid again: check keys list';
    return output === 'json'
      ? { restored: file, from, keptAs, note }
      : `restored ${file} from ${from}${kept}\n${note}`;
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}
