import { resolve } from 'node:path';
import type { Argv } from 'yargs';
import { messageOf } from '../../messages/error-message.ts';
import { restoreStore } from '../../store/open.ts';
import { OperatorError } from '../commands/commands.ts';
import type { Execute, GlobalOptions } from './execute.ts';

/** The data directory of the store, and where to print a result. */
export interface RestorePlace {
  readonly dataDir: (options: GlobalOptions) => string;
  readonly print: (line: string) => void;
}

/** `store …` */
export function storeCommands(
  store: Argv<GlobalOptions>,
  execute: Execute,
  { dataDir, print }: RestorePlace,
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
      (argv) => print(restored(dataDir(argv), argv.from)),
    )
    .demandCommand(1, 'name a store command: backup, restore');
}

function restored(dataDir: string, from: string): string {
  try {
    const { file, keptAs } = restoreStore({ dataDir }, from);
    const kept = keptAs === null ? '' : `; the previous store is kept as ${keptAs}`;
    return `restored ${file} from ${from}${kept}\nAPI keys that were revoked after the backup are valid again: check keys list`;
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}
