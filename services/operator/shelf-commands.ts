import type { Argv } from 'yargs';
import { QUARANTINE_REASONS } from '../domain/quarantine.ts';
import type { Execute, GlobalOptions } from './execute.ts';

const PAGE = {
  limit: { type: 'number', describe: 'At most so many, oldest first (100)' },
  after: { type: 'string', describe: 'Only what comes after this position' },
} as const;

/** `quarantine list|replay`: events that could not be routed. */
export function quarantineCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'Events that could not be routed, with the reason',
      (list) => list.options(PAGE),
      (argv) => run('quarantine-list', argv, { limit: argv.limit, after: argv.after }),
    )
    .command(
      'replay [positions..]',
      'Put events back on the stream, after a fix',
      (replay) =>
        replay
          .positional('positions', { type: 'string', array: true, describe: 'As quarantine list shows them' })
          .option('all', { type: 'boolean', describe: 'All that is there' })
          .option('reason', { choices: QUARANTINE_REASONS, describe: 'All of this reason' })
          .option('merchant', { type: 'string', describe: 'All of this merchant' }),
      (argv) => {
        const { positions, all, reason, merchant } = argv;
        return run('quarantine-replay', argv, { positions, all, reason, merchant });
      },
    )
    .demandCommand(1, 'say what to do with the quarantine: list, replay');
}

/** `dead-letters list`: deliveries that are over without a success. */
export function deadLetterCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'Deliveries that failed seven times, or were refused',
      (list) => list.options(PAGE),
      (argv) => run('dead-letters-list', argv, { limit: argv.limit, after: argv.after }),
    )
    .demandCommand(1, 'say what to do with dead letters: list');
}
