import { writeFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import { QUARANTINE_REASONS } from '../../domain/quarantine.ts';
import type { Execute, GlobalOptions } from './execute.ts';

const PAGE = {
  limit: { type: 'number', describe: 'Number of records to list, oldest first (100)' },
  after: { type: 'string', describe: 'Only records after this position' },
} as const;

const FILTER = {
  reason: { choices: QUARANTINE_REASONS, describe: 'Only events quarantined for this reason' },
  merchant: { type: 'string', describe: 'Only events of this merchant' },
  since: {
    type: 'string',
    describe: 'Only events quarantined since this time (RFC 3339, or 30m, 2h, 7d ago)',
  },
} as const;

const ENCODINGS = ['hex', 'base64'] as const;

/**
 * Adds the bytes in the requested encoding. A file is readable by its owner only, and never overwritten: it may hold
 * personal data.
 */
function withBytes(result: unknown, encoding: (typeof ENCODINGS)[number], file: string | undefined): object {
  const { base64, ...rest } = result as { readonly base64: string };
  const bytes = Buffer.from(base64, 'base64');
  if (file === undefined) return { ...rest, [encoding]: bytes.toString(encoding) };
  writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
  return { ...rest, file };
}

/** `quarantine list|summary|show|replay`: records that could not be used. */
export function quarantineCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'List events that could not be routed, with the reason',
      (list) => list.options(PAGE).options(FILTER),
      (argv) => {
        const { limit, after, reason, merchant, since } = argv;
        return run('quarantine-list', argv, { limit, after, reason, merchant, since });
      },
    )
    .command(
      'summary',
      'Count the events in quarantine, by reason',
      (summary) => summary,
      (argv) => run('quarantine-summary', argv, {}),
    )
    .command(
      'show <position>',
      'Show one quarantined record: its position, key, headers and bytes',
      (show) =>
        show
          .positional('position', {
            type: 'string',
            demandOption: true,
            describe: 'Position from quarantine list',
          })
          .option('encoding', {
            choices: ENCODINGS,
            default: 'hex' as const,
            describe: 'Encoding of the bytes shown',
          })
          .option('file', { type: 'string', describe: 'Write the bytes into this new file instead' }),
      (argv) => {
        const { position, encoding, file } = argv;
        return run('quarantine-show', argv, { position }, (result) => withBytes(result, encoding, file));
      },
    )
    .command(
      'replay [positions..]',
      'Put records back where they came from, after a fix',
      (replay) =>
        replay
          .positional('positions', {
            type: 'string',
            array: true,
            describe: 'Positions from quarantine list',
          })
          .option('all', { type: 'boolean', describe: 'All records in quarantine, except conflicts' })
          .option('as-new-event', {
            type: 'boolean',
            describe: 'Also conflicts (event_id_conflict), each as another event with a new id',
          })
          .options(FILTER),
      (argv) => {
        const { positions, all, asNewEvent, reason, merchant, since } = argv;
        return run('quarantine-replay', argv, { positions, all, asNewEvent, reason, merchant, since });
      },
    )
    .demandCommand(1, 'name a quarantine command: list, summary, show, replay');
}

/** `dead-letters list|summary`: deliveries that ended without a success. */
export function deadLetterCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'List deliveries that failed seven times or were refused',
      (list) => list.options(PAGE),
      (argv) => run('dead-letters-list', argv, { limit: argv.limit, after: argv.after }),
    )
    .command(
      'summary',
      'Count dead letters, by reason',
      (summary) => summary,
      (argv) => run('dead-letters-summary', argv, {}),
    )
    .demandCommand(1, 'name a dead-letters command: list, summary');
}
