import { fileURLToPath } from 'node:url';
import type { Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { type Config, readConfig } from './config/config.ts';
import { visible } from './domain/text/visible-text.ts';
import { asTyped } from './messages/as-typed.ts';
import { completions } from './messages/completions.ts';
import { messageOf } from './messages/error-message.ts';
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE } from './messages/exit-codes.ts';
import { explainLine, InvalidLine, type Vocabulary } from './messages/invalid-line.ts';
import { ask } from './operator/cli/ask.ts';
import { commandLine, type Execute, type GlobalOptions } from './operator/cli/command-line.ts';
import { personHere } from './operator/cli/person-here.ts';
import { sandboxOperations } from './operator/cli/sandbox-operations.ts';
import { shown } from './operator/cli/shown.ts';
import { COMMANDS } from './operator/cli/table.ts';
import type { Unchecked } from './operator/commands/arguments.ts';
import {
  type Command,
  type Commands,
  checkedFor,
  sentArguments,
  type ToolMeans,
} from './operator/commands/command.ts';
import { OperatorError, UsageError } from './operator/commands/operator-error.ts';
import { operatorNamed, requireNamed } from './operator/commands/person.ts';
import { systemClock } from './process/clock.ts';

/** The operator's tool: runs a command line. What a command needs is loaded when it runs. */

type Environment = Readonly<Record<string, string | undefined>>;

/** Ends a command whose output already tells what is wrong. */
class ShownFailure extends Error {}

/**
 * Runs the tool; resolves with the exit code: 0 done, 1 refused, failed, or (`status`) not ready, 2 invalid command line.
 */
export async function runOperator(
  argv: readonly string[],
  environment: Environment,
  print: (line: string) => void,
  printError: (line: string) => void,
  commands: Commands = COMMANDS,
): Promise<number> {
  const note = (line: string) => printError(asTyped(line, environment));
  const said = (line: string) => print(asTyped(line, environment));
  const execute: Execute = async ([name, command], options, given) => {
    const values = checkedFor(command, given);
    const means = meansOf(environment, options, { commands, print: said, note });
    refuseNameless([name, command], values, { environment, options });
    const isOwn = command.on === 'tool';
    const answer = isOwn
      ? await command.run(means, values, undefined)
      : await means.ask(name, sentOf(command, values));
    const result = command.shape ? command.shape(answer, values) : answer;
    const text = shown(result, command, { isJson: means.isJson, now: systemClock().wall() });
    // What a service answers is data, which is not changed.
    if (isOwn) said(text);
    else print(text);
    if (command.isFailure?.(result)) throw new ShownFailure();
  };
  try {
    await parse(argv, lineOf(commands, environment, execute), said);
    return EXIT_OK;
  } catch (error) {
    if (error instanceof ShownFailure) return EXIT_FAILED;
    const isInvalid = error instanceof InvalidLine;
    const explained = isInvalid
      ? await explainLine(error, argv, (path) => helpOf(path, commands, environment), VOCABULARY)
      : { message: messageOf(error), next: error instanceof OperatorError ? error.next : [] };
    const code = isInvalid || error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
    printError(asTyped(told(explained, code, argv), environment));
    return code;
  }
}

/** Refuses a command that the audit must have with a name. Reads the configuration only where that can be. */
function refuseNameless(
  named: readonly [string, Command],
  values: Unchecked,
  { environment, options }: { readonly environment: Environment; readonly options: GlobalOptions },
): void {
  if (options.as !== undefined || !environment.HOOKRAIL_ENVIRONMENT) return;
  const { environment: kind, operator } = withDataDir(environment, options.dataDir);
  requireNamed(named, values, { environment: kind, isNamed: operator !== '' });
}

function meansOf(
  environment: Environment,
  { dataDir, output, as }: GlobalOptions,
  {
    commands,
    print,
    note,
  }: Pick<ToolMeans, 'print'> & {
    readonly commands: Commands;
    readonly note: (line: string) => void;
  },
): ToolMeans {
  const config = (over = {}) => withDataDir({ ...environment, ...over }, dataDir);
  // As the line, the environment or the system names him.
  const actor = () => operatorNamed(as ?? (config().operator || personHere()));
  return {
    ...{ environment, print, config, actor, isJson: output === 'json' },
    ask: (name, given = {}) => {
      const command = commands[name];
      if (command === undefined || command.on === 'tool')
        throw new Error(`no service has the command ${name}`);
      const isNamed = as !== undefined || config().operator !== '';
      return ask([name, command], given, config(), { person: { actor: actor(), isNamed }, note });
    },
  };
}

function sentOf(command: Pick<Command, 'args'>, values: Unchecked): Unchecked {
  const sent = sentArguments(command);
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(sent, name)));
}

function lineOf(commands: Commands, environment: Environment, execute: Execute): Argv {
  return commandLine(asTyped('hookrail operator', environment), commands, execute);
}

/** Returns the words that may stand in place of the last one. */
export async function operatorWords(words: readonly string[]): Promise<readonly string[]> {
  return completions(
    lineOf(COMMANDS, {}, async () => {}),
    words,
  );
}

async function parse(argv: readonly string[], parser: Argv, print: (line: string) => void): Promise<void> {
  let printed = '';
  await parser.parseAsync([...argv], {}, (_error: unknown, _argv: unknown, text: string) => {
    printed = text;
  });
  if (printed) print(printed);
}

/** Returns the help of a command. */
async function helpOf(
  path: readonly string[],
  commands: Commands,
  environment: Environment,
): Promise<string> {
  let help = '';
  await parse(
    [...path, '--help'],
    lineOf(commands, environment, async () => {}),
    (text) => {
      help = text;
    },
  );
  return help;
}

/** Returns an error as it is printed; as JSON when the line asks for that. */
function told(
  { message, next }: Awaited<ReturnType<typeof explainLine>>,
  code: number,
  argv: readonly string[],
): string {
  const isJson = argv.some(
    (arg, i) => arg === '--output=json' || (arg === 'json' && argv[i - 1] === '--output'),
  );
  if (isJson) return JSON.stringify({ error: { message, exit_code: code, next } });
  return [`operator: ${message}`, ...next.map((step) => `  → ${step}`)].map(visible).join('\n');
}

const VOCABULARY: Vocabulary = {
  tool: 'hookrail operator',
  valued: new Set(['--data-dir', '--output', '--as']),
  meant: {
    version: 'hookrail --version',
    '--version': 'hookrail --version',
    health: 'status',
    'deadletters list': 'dead-letters list',
    dlq: 'dead-letters --help',
  },
};

/** Returns the configuration, with the operations address of the sandbox there unless the environment has one. */
function withDataDir(environment: Environment, dataDir: string | undefined): Config {
  const given = dataDir === undefined ? environment : { ...environment, HOOKRAIL_DATA_DIR: dataDir };
  const config = readConfig(given);
  const isGiven = (name: string) => Boolean(given[name]) && !config.ignored.includes(name);
  if (isGiven('HOOKRAIL_OPS_HOST') || isGiven('HOOKRAIL_OPS_PORT')) return config;
  return readConfig({ ...given, ...sandboxOperations(config.dataDir) });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await runOperator(hideBin(process.argv), process.env, console.log, console.error);
}
