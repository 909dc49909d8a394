import { resolve } from 'node:path';
import yargs, { type Argv, type PositionalOptions } from 'yargs';
import { InvalidLine } from '../../messages/invalid-line.ts';
import type { Argument, Unchecked } from '../commands/arguments.ts';
import type { Command, Commands } from '../commands/command.ts';
import { GROUPS, linesOf, typedAs } from './table.ts';

/** The options of every command. */
export interface GlobalOptions {
  readonly dataDir: string | undefined;
  readonly output: 'text' | 'json';
  readonly as: string | undefined;
}

export type Execute = (
  named: readonly [name: string, command: Command],
  options: GlobalOptions,
  given: Unchecked,
) => Promise<void>;

/** Returns the parser of the command lines of a table of commands. */
export function commandLine(scriptName: string, commands: Commands, execute: Execute): Argv {
  const parser = yargs([])
    .scriptName(scriptName)
    .option('data-dir', { type: 'string', describe: 'Data directory (HOOKRAIL_DATA_DIR)' })
    .option('output', { choices: ['text', 'json'] as const, default: 'text' as const })
    .option('as', { type: 'string', describe: 'Your name, for the audit (HOOKRAIL_OPERATOR)' });
  const groups = linesOf(commands);
  for (const [word, below] of groups) {
    const own = commands[word];
    if (own) addCommand(parser, word, [word, own], execute);
    else
      parser.command(word, GROUPS[word] ?? '', (group) => {
        const names = Object.entries(below).map(([name, command]) => {
          const last = name.slice(word.length + 1);
          addCommand(group, last, [name, command], execute);
          return last;
        });
        return group.demandCommand(1, `name a command of ${word}: ${names.join(', ')}`);
      });
  }
  return parser
    .demandCommand(1, `name a command: ${[...groups.keys()].join(', ')}`)
    .strict()
    .version(false)
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new InvalidLine(message);
    });
}

function addCommand(parser: Argv, word: string, named: readonly [string, Command], execute: Execute): void {
  const [, { describe, args = {} }] = named;
  const entries = Object.entries(args);
  const positionals = entries.filter(([, { positional }]) => positional);
  parser.command(
    [word, ...positionals.map(([name, argument]) => typedAs(name, argument))].join(' '),
    describe,
    (command) => {
      for (const [name, argument] of entries) {
        if (argument.positional) command.positional(name, optionOf(argument));
        else command.option(typedAs(name, argument).slice(2), optionOf(argument));
      }
      return command;
    },
    (argv) => {
      const given = entries.flatMap(([name, argument]) => {
        const value = argv[name];
        if (value === undefined) return [];
        return [[name, argument.absolute ? resolve(`${value}`) : value] as const];
      });
      const { dataDir, output, as } = argv as unknown as GlobalOptions;
      return execute(named, { dataDir, output, as }, Object.fromEntries(given));
    },
  );
}

/** Returns an argument in the parser's words. A list of names may have commas, which the parser does not know. */
function optionOf({
  type,
  describe,
  required,
  choices,
  default: fallback,
}: Argument): PositionalOptions & { readonly requiresArg?: boolean } {
  const isList = type === 'texts' || type === 'names';
  return {
    type: type === 'flag' ? 'boolean' : type === 'number' ? 'number' : 'string',
    ...(describe !== undefined && { describe }),
    ...(required && { demandOption: true }),
    ...(choices && { choices }),
    ...(fallback !== undefined && { default: fallback }),
    ...(isList && { array: true }),
    ...(type === 'names' && { requiresArg: true }),
  };
}
