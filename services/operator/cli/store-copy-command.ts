import type { Argv } from 'yargs';
import type { Config } from '../../config/config.ts';
import { hasPassword } from '../../config/postgres-config.ts';
import { messageOf } from '../../messages/error-message.ts';
import { systemClock } from '../../process/clock.ts';
import type { Actor } from '../../store/change.ts';
import { OperatorError } from '../commands/arguments.ts';
import type { GlobalOptions } from './execute.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The means of the commands on the store: the configuration, and how progress and a result are printed. */
export interface CopyMeans {
  readonly environment: Environment;
  /** `over`: variables in the place of the environment's. */
  readonly configOf: (options: GlobalOptions, over?: Environment) => Config;
  /** Returns the operator who gives the command. */
  readonly actorOf: (options: GlobalOptions) => Actor;
  readonly print: (line: string) => void;
  readonly show: (options: GlobalOptions, result: unknown) => void;
}

interface CopyArguments extends GlobalOptions {
  readonly to: string | undefined;
}

/** `store copy` */
export function copyCommand(store: Argv<GlobalOptions>, means: CopyMeans): Argv<GlobalOptions> {
  return store.command(
    'copy',
    'Move the store to PostgreSQL, while the process with api and recorder is stopped',
    (copy) =>
      copy.option('to', {
        type: 'string',
        describe: 'postgres://user@host/database; the password: HOOKRAIL_POSTGRES_PASSWORD_FILE',
      }),
    async (argv) => means.show(argv, await copied(means, argv)),
  );
}

async function copied(means: CopyMeans, argv: CopyArguments): Promise<unknown> {
  const config = targetConfig(means, argv);
  const { postgres } = config;
  if (postgres === null) throw new Error('the configuration has no store on PostgreSQL');
  const { ownersAddress, runningRoleOf, storeFile } = await import('../../store/open.ts');
  const { copyStore } = await import('../../store/copy/copy-store.ts');
  try {
    const { rows, tookMs } = await copyStore({
      file: storeFile(config),
      address: ownersAddress(postgres),
      runningRole: runningRoleOf(postgres),
      leafMs: postgres.leafMs,
      clock: systemClock(),
      tell: argv.output === 'json' ? () => {} : means.print,
    });
    const seconds = Math.round(tookMs / 100) / 10;
    if (argv.output === 'json') return { copied: rows, seconds };
    return [
      `all rows are the same in both stores: ${rows.merchant} merchants, ${rows.endpoint} endpoints, ${rows.delivery} deliveries and the rest; this took ${seconds} s`,
      'next: start the service with HOOKRAIL_STORE=postgres and HOOKRAIL_POSTGRES_URL',
      'the way back: start the service without HOOKRAIL_STORE; the SQLite store is unchanged',
    ].join('\n');
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}

/** Returns the configuration that the service will have on PostgreSQL. */
function targetConfig({ environment, configOf }: CopyMeans, argv: CopyArguments): Config {
  const url = argv.to ?? environment.HOOKRAIL_POSTGRES_URL;
  if (!url) throw new OperatorError('name the database to copy to: --to postgres://user@host/database');
  if (argv.to !== undefined && hasPassword(argv.to))
    throw new OperatorError(
      '--to has a password, which every user of this machine can see in the list of processes: change it if there are others',
      'leave it out of --to, and put it into a file: HOOKRAIL_POSTGRES_PASSWORD_FILE=<file> hookrail operator store copy --to …',
      'or set HOOKRAIL_POSTGRES_PASSWORD, or the whole URL as HOOKRAIL_POSTGRES_URL',
    );
  return configOf(argv, { HOOKRAIL_STORE: 'postgres', HOOKRAIL_POSTGRES_URL: url });
}
