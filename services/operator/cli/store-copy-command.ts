import type { Config } from '../../config/config.ts';
import { hasPassword } from '../../config/postgres-config.ts';
import { messageOf } from '../../messages/error-message.ts';
import { systemClock } from '../../process/clock.ts';
import { on, type ToolMeans } from '../commands/command.ts';
import { OperatorError, UsageError } from '../commands/operator-error.ts';

/** The command that moves a store to PostgreSQL. */
export const COPY_COMMANDS = {
  'store copy': on('tool', {
    describe: 'Move the store to PostgreSQL, while the process with api and recorder is stopped',
    args: {
      to: {
        type: 'text',
        most: 4096,
        describe: 'postgres://user@host/database; the password: HOOKRAIL_POSTGRES_PASSWORD_FILE',
      },
    },
    runs: 'here, while the process with api and recorder is stopped',
    run: copied,
    text: (result) => `${result}`,
  }),
};

interface CopyArguments {
  readonly to: string | undefined;
}

async function copied(means: ToolMeans, argv: CopyArguments): Promise<unknown> {
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
      tell: means.isJson ? () => {} : means.print,
    });
    const seconds = Math.round(tookMs / 100) / 10;
    if (means.isJson) return { copied: rows, seconds };
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
function targetConfig({ environment, config }: ToolMeans, argv: CopyArguments): Config {
  const url = argv.to ?? environment.HOOKRAIL_POSTGRES_URL;
  if (!url) throw new UsageError('name the database to copy to: --to postgres://user@host/database');
  if (argv.to !== undefined && hasPassword(argv.to))
    throw new UsageError(
      '--to has a password, which every user of this machine can see in the list of processes: change it if there are others',
      'leave it out of --to, and put it into a file: HOOKRAIL_POSTGRES_PASSWORD_FILE=<file> hookrail operator store copy --to …',
      'or set HOOKRAIL_POSTGRES_PASSWORD, or the whole URL as HOOKRAIL_POSTGRES_URL',
    );
  return config({ HOOKRAIL_STORE: 'postgres', HOOKRAIL_POSTGRES_URL: url });
}
