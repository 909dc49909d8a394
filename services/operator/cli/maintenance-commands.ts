import type { Argv } from 'yargs';
import type { Execute, GlobalOptions } from './execute.ts';

/** `audit list`: every change, with the key that made it. */
export function auditCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'List changes, newest first, and who made them',
      (list) =>
        list
          .option('merchant', { type: 'string', describe: 'Only of this merchant' })
          .option('endpoint', { type: 'string', describe: 'Only of this endpoint' })
          .option('since', {
            type: 'string',
            describe: 'Only since this time: 2030-01-31T08:00:00Z, or 30m, 2h, 7d ago',
          })
          .option('limit', { type: 'number', describe: 'Number of changes to list (100)' })
          .option('after', { type: 'string', describe: 'Only changes older than this cursor' }),
      (argv) => {
        const { merchant, endpoint, since, limit, after } = argv;
        return run('audit-list', argv, { merchant, endpoint, since, limit, after });
      },
    )
    .demandCommand(1, 'name an audit command: list');
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
          .option('merchant', { type: 'string', describe: 'Only events of this merchant' })
          .option('yes', { type: 'boolean', describe: 'Confirm: this cannot be undone' }),
      (argv) => {
        const { entity, merchant, yes } = argv;
        return run('entity-erase', argv, { entity, merchant, yes });
      },
    )
    .demandCommand(1, 'name an entity command: erase');
}
