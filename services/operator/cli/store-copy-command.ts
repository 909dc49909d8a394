import { join, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { hasPassword, readPostgresCa } from '../../config/postgres-config.ts';
import { messageOf } from '../../messages/error-message.ts';
import { systemClock } from '../../process/clock.ts';
import { systemRandom } from '../../process/random.ts';
import type { CopyResult } from '../../store/copy/copy-store.ts';
import { on, type ToolMeans } from '../commands/command.ts';
import { OperatorError } from '../commands/operator-error.ts';

/** The command that moves a store to PostgreSQL. */
export const COPY_COMMANDS = {
  'store copy': on('tool', {
    describe: 'Move the store to PostgreSQL: the log while the service runs, the rest once it is stopped',
    args: {
      to: {
        type: 'text',
        most: 4096,
        describe: 'postgres://user@host/database; the password: HOOKRAIL_POSTGRES_PASSWORD_FILE',
      },
      snapshotDir: {
        type: 'path',
        describe: 'Folder for a snapshot as large as the store; by default the data directory',
      },
    },
    runs: 'here, first beside the service, then while it is stopped',
    run: copied,
    text: (result) => `${result}`,
  }),
};

interface CopyArguments {
  readonly to: string | undefined;
  readonly snapshotDir: string | undefined;
}

async function copied(means: ToolMeans, argv: CopyArguments): Promise<unknown> {
  const config = targetConfig(means, argv);
  const { postgres } = config;
  if (postgres === null) throw new Error('the configuration has no store on PostgreSQL');
  const { storeFile, runningRoleOf } = await import('../../store/open.ts');
  const { copyStore } = await import('../../store/copy/copy-store.ts');
  try {
    const result = await copyStore({
      file: storeFile(config),
      snapshotFile: join(resolve(argv.snapshotDir ?? config.dataDir), 'store-copy.db'),
      to: {
        url: postgres.migrateUrl || postgres.url,
        ca: readPostgresCa(postgres),
        runningRole: runningRoleOf(postgres),
      },
      leafMs: postgres.leafMs,
      healthPolicy: config.autoDisable,
      clock: systemClock(),
      random: systemRandom,
      tell: means.isJson ? () => {} : means.print,
    });
    return means.isJson ? resultJson(result) : resultText(result);
  } catch (error) {
    const next = (error as { readonly next?: readonly string[] }).next ?? [];
    throw new OperatorError(messageOf(error), ...next);
  }
}

/** Returns the configuration that the service will have on PostgreSQL. */
function targetConfig({ environment, config }: ToolMeans, argv: CopyArguments): Config {
  const url = argv.to ?? environment.HOOKRAIL_POSTGRES_URL;
  if (!url) throw new OperatorError('name the database to copy to: --to postgres://user@host/database');
  if (argv.to !== undefined && hasPassword(argv.to))
    throw new OperatorError(
      '--to has a password, which every user of this machine can see in the list of processes: change it if there are others',
      'leave it out of --to, and put it into a file: HOOKRAIL_POSTGRES_PASSWORD_FILE=<file> hookrail operator store copy --to …',
      'or set HOOKRAIL_POSTGRES_PASSWORD, or the whole URL as HOOKRAIL_POSTGRES_URL',
    );
  return config({ HOOKRAIL_STORE: 'postgres', HOOKRAIL_POSTGRES_URL: url });
}

function resultJson(result: CopyResult): object {
  const snapshotAt = new Date(result.takenAt).toISOString();
  if (result.kind === 'log')
    return {
      copied: 'log',
      snapshotAt,
      before: new Date(result.untilAt).toISOString(),
      compared: result.log,
    };
  const { tookMs, compared, replays } = result;
  return { copied: 'all', snapshotAt, seconds: secondsOf(tookMs), compared, replays };
}

function resultText(result: CopyResult): string {
  return (result.kind === 'log' ? logText(result) : allText(result)).join('\n');
}

function logText({ takenAt, untilAt, log }: Extract<CopyResult, { readonly kind: 'log' }>): string[] {
  const compared =
    log &&
    `${log.deliveries} deliveries, ${log.events} events and ${log.feedEntries} entries of the feed, chosen at random, are ` +
      'the same in both stores';
  return [
    `the log is copied as it was at ${new Date(takenAt).toISOString()}`,
    ...(compared ? [compared] : []),
    `next, before ${new Date(untilAt).toISOString()}: stop the process with api and recorder, and run this command again`,
    'routers and senders go on; the API is away until the service runs on PostgreSQL',
  ];
}

function allText(result: Extract<CopyResult, { readonly kind: 'all' }>): string[] {
  const { takenAt, tookMs, compared, replays } = result;
  const { merchants, keys, endpoints, outbox } = compared;
  const since = new Date(takenAt).toISOString();
  return [
    `${merchants} merchants, ${keys} keys, ${endpoints} endpoints and ${outbox} outbox rows are the same in both stores`,
    `with the service stopped this took ${secondsOf(tookMs)} s`,
    `next: start the service with HOOKRAIL_STORE=postgres and HOOKRAIL_POSTGRES_URL. Its recorder first reads the journal ` +
      `since ${since}: until hookrail_recorder_delay_seconds is low, the delivery log lacks the newest deliveries`,
    ...replays.map(
      (replayId) =>
        `the replay ${replayId} goes on, and may leave out events missed after ${since}: when it has ended, start another ` +
        'one from there',
    ),
    'the way back: start the service without HOOKRAIL_STORE; the SQLite store is unchanged',
  ];
}

function secondsOf(ms: number): number {
  return Math.round(ms / 100) / 10;
}
