import type { Argv } from 'yargs';
import { EVENT_TYPES } from '../../domain/event.ts';
import { REPLAY_KINDS } from '../../domain/replay.ts';
import type { Execute, GlobalOptions } from './execute.ts';

/** `replay start|list|get|cancel`: sends missed events again, for all merchants or one. */
export function replayCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  const id = { type: 'string', demandOption: true, describe: 'The replayId' } as const;
  return commands
    .command(
      'start',
      'Replay events that active endpoints missed; the running service does it',
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
          .option('merchant', { type: 'string', describe: 'Only of this merchant' })
          .option('type', { choices: EVENT_TYPES, array: true, describe: 'Only of these event types' })
          .option('dry-run', { type: 'boolean', describe: 'Only count the events' }),
      (argv) => {
        const { since, until, only, merchant, type, dryRun } = argv;
        return run('replay-start', argv, { since, until, only, merchant, type, dryRun });
      },
    )
    .command(
      'list',
      'List replays, including the merchants’ own, newest first',
      (list) => list.option('limit', { type: 'number', describe: 'Number of replays to list (50)' }),
      (argv) => run('replay-list', argv, { limit: argv.limit }),
    )
    .command(
      'get <id>',
      'Show the progress of a replay',
      (get) => get.positional('id', id),
      (argv) => run('replay-get', argv, { id: argv.id }),
    )
    .command(
      'cancel <id>',
      'Stop a replay; deliveries that it made are not undone',
      (cancel) => cancel.positional('id', id),
      (argv) => run('replay-cancel', argv, { id: argv.id }),
    )
    .demandCommand(1, 'name a replay command: start, list, get, cancel');
}
