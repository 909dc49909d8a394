import type { Argv } from 'yargs';
import { EVENT_TYPES } from '../domain/event.ts';
import { REPLAY_KINDS } from '../domain/replay.ts';
import type { Execute, GlobalOptions } from './execute.ts';

/** `replay start|list|get|cancel`: sends missed events again, for all merchants or one. */
export function replayCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  const id = { type: 'string', demandOption: true, describe: 'The replayId' } as const;
  return commands
    .command(
      'start',
      'Send once more what active endpoints have not got; the running service does it',
      (start) =>
        start
          .option('since', {
            type: 'string',
            demandOption: true,
            describe: 'Events from this time on (RFC 3339)',
          })
          .option('until', { type: 'string', describe: 'Events before this time (now)' })
          .option('only', {
            choices: REPLAY_KINDS,
            demandOption: true,
            describe: 'failed: given up after the last attempt; missing: also skipped and cancelled',
          })
          .option('merchant', { type: 'string', describe: 'Of this merchant only' })
          .option('type', { choices: EVENT_TYPES, array: true, describe: 'Of these event types only' })
          .option('dry-run', { type: 'boolean', describe: 'Only count' }),
      (argv) => {
        const { since, until, only, merchant, type, dryRun } = argv;
        return run('replay-start', argv, { since, until, only, merchant, type, dryRun });
      },
    )
    .command(
      'list',
      'Replays, the merchants’ too, newest first',
      (list) => list.option('limit', { type: 'number', describe: 'At most so many (50)' }),
      (argv) => run('replay-list', argv, { limit: argv.limit }),
    )
    .command(
      'get <id>',
      'How far a replay has come',
      (get) => get.positional('id', id),
      (argv) => run('replay-get', argv, { id: argv.id }),
    )
    .command(
      'cancel <id>',
      'Stop a replay; what it has sent stays sent',
      (cancel) => cancel.positional('id', id),
      (argv) => run('replay-cancel', argv, { id: argv.id }),
    )
    .demandCommand(1, 'say what to do with replays: start, list, get, cancel');
}
