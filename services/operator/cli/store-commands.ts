import type { Argv } from 'yargs';
import type { Arguments } from '../commands/commands.ts';
import type { Execute, GlobalOptions } from './execute.ts';

/** `merchants …` */
export function merchantCommands(merchants: Argv<GlobalOptions>, execute: Execute): Argv<GlobalOptions> {
  const details = { type: 'boolean', describe: 'Show senders’ bank details to this merchant' } as const;
  const id = { type: 'string', demandOption: true, describe: 'The merchant’s id' } as const;
  return merchants
    .command(
      'create',
      'Make a merchant',
      (create) =>
        create
          .option('name', { type: 'string', demandOption: true })
          .option('id', { type: 'string', describe: 'A UUID; made up unless given' })
          .option('sender-account-details', details),
      (argv) => execute('merchants-create', argv, pick(argv, ['name', 'id', 'senderAccountDetails'])),
    )
    .command(
      'list',
      'List the merchants',
      (list) => list,
      (argv) => execute('merchants-list', argv, {}),
    )
    .command(
      'pause <id>',
      'Hold a merchant’s deliveries back; nothing is lost',
      (pause) => pause.positional('id', id),
      (argv) => execute('merchants-pause', argv, pick(argv, ['id'])),
    )
    .command(
      'resume <id>',
      'Let a merchant’s deliveries go on',
      (resume) => resume.positional('id', id),
      (argv) => execute('merchants-resume', argv, pick(argv, ['id'])),
    )
    .command(
      'set <id>',
      'Change a merchant',
      (set) =>
        set.positional('id', id).option('name', { type: 'string' }).option('sender-account-details', details),
      (argv) => execute('merchants-set', argv, pick(argv, ['id', 'name', 'senderAccountDetails'])),
    )
    .demandCommand(1, 'say what to do with merchants: create, list, pause, resume, set');
}

/** `keys …` */
export function keyCommands(keys: Argv<GlobalOptions>, execute: Execute): Argv<GlobalOptions> {
  return keys
    .command(
      'create',
      'Make a key; it is shown this once',
      (create) =>
        create
          .option('merchant', { type: 'string', describe: 'The merchant’s id' })
          .option('producer', { type: 'boolean', describe: 'For services that publish events' })
          .option('name', { type: 'string', describe: 'What it is for, to tell keys apart' }),
      (argv) => execute('keys-create', argv, pick(argv, ['merchant', 'producer', 'name'])),
    )
    .command(
      'list',
      'List the keys',
      (list) => list,
      (argv) => execute('keys-list', argv, {}),
    )
    .command(
      'revoke <id>',
      'Refuse a key from now on',
      (revoke) => revoke.positional('id', { type: 'string', demandOption: true, describe: 'The keyId' }),
      (argv) => execute('keys-revoke', argv, pick(argv, ['id'])),
    )
    .demandCommand(1, 'say what to do with keys: create, list, revoke');
}

function pick(argv: object, names: readonly string[]): Arguments {
  return Object.fromEntries(
    Object.entries(argv).filter(([name, value]) => names.includes(name) && value !== undefined),
  );
}
