import type { Argv } from 'yargs';
import { QUARANTINE_REASONS } from '../domain/quarantine.ts';
import type { Execute, GlobalOptions } from './execute.ts';

const PAGE = {
  limit: { type: 'number', describe: 'At most so many, oldest first (100)' },
  after: { type: 'string', describe: 'Only what comes after this position' },
} as const;

const FILTER = {
  reason: { choices: QUARANTINE_REASONS, describe: 'Only events of this reason' },
  merchant: { type: 'string', describe: 'Only events of this merchant' },
  since: { type: 'string', describe: 'Only events quarantined since then (RFC 3339, or 30m, 2h, 7d)' },
} as const;

/** `quarantine list|summary|replay`: events that could not be routed. */
export function quarantineCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'Events that could not be routed, with the reason',
      (list) => list.options(PAGE).options(FILTER),
      (argv) => {
        const { limit, after, reason, merchant, since } = argv;
        return run('quarantine-list', argv, { limit, after, reason, merchant, since });
      },
    )
    .command(
      'summary',
      'How many events are in quarantine, by reason',
      (summary) => summary,
      (argv) => run('quarantine-summary', argv, {}),
    )
    .command(
      'replay [positions..]',
      'Put events back on the stream, after a fix',
      (replay) =>
        replay
          .positional('positions', { type: 'string', array: true, describe: 'As quarantine list shows them' })
          .option('all', { type: 'boolean', describe: 'All that is there' })
          .options(FILTER),
      (argv) => {
        const { positions, all, reason, merchant, since } = argv;
        return run('quarantine-replay', argv, { positions, all, reason, merchant, since });
      },
    )
    .demandCommand(1, 'say what to do with the quarantine: list, summary, replay');
}

/** `dead-letters list|summary`: deliveries that are over without a success. */
export function deadLetterCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'Deliveries that failed seven times, or were refused',
      (list) => list.options(PAGE),
      (argv) => run('dead-letters-list', argv, { limit: argv.limit, after: argv.after }),
    )
    .command(
      'summary',
      'How many dead letters there are, by reason',
      (summary) => summary,
      (argv) => run('dead-letters-summary', argv, {}),
    )
    .demandCommand(1, 'say what to do with dead letters: list, summary');
}
