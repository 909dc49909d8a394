import type { Argv } from 'yargs';
import type { Execute, GlobalOptions } from './execute.ts';

/** `audit list`: every change, with the key that made it. */
export function auditCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'Changes, newest first, and who made them',
      (list) =>
        list
          .option('merchant', { type: 'string', describe: 'Of this merchant' })
          .option('endpoint', { type: 'string', describe: 'Of this endpoint' })
          .option('since', {
            type: 'string',
            describe: 'From then on: 2030-01-31T08:00:00Z, or 30m, 2h, 7d ago',
          })
          .option('limit', { type: 'number', describe: 'At most so many (100)' })
          .option('after', { type: 'string', describe: 'Older than this cursor' }),
      (argv) => {
        const { merchant, endpoint, since, limit, after } = argv;
        return run('audit-list', argv, { merchant, endpoint, since, limit, after });
      },
    )
    .demandCommand(1, 'say what to do with the audit: list');
}

/** `entity erase`: removes the bodies of one user or corporate. */
export function entityCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'erase',
      'Remove the bodies of one user’s or corporate’s events, for good',
      (erase) =>
        erase
          .option('entity', { type: 'string', demandOption: true, describe: 'Uuid of the user or corporate' })
          .option('merchant', { type: 'string', describe: 'Only what is this merchant’s' })
          .option('yes', { type: 'boolean', describe: 'It cannot be undone' }),
      (argv) => {
        const { entity, merchant, yes } = argv;
        return run('entity-erase', argv, { entity, merchant, yes });
      },
    )
    .demandCommand(1, 'say what to do with an entity: erase');
}
