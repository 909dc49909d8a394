import { fileURLToPath } from 'node:url';
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { readConfig } from './config/config.ts';
import { visible } from './domain/text/visible-text.ts';
import { asTyped } from './messages/as-typed.ts';
import { completions } from './messages/completions.ts';
import { messageOf } from './messages/error-message.ts';
import { explainLine, InvalidLine, type Vocabulary } from './messages/invalid-line.ts';
import { ask, hasStore, operationsUrl, recordStoreSummaries } from './operator/cli/ask.ts';
import { storeCommands } from './operator/cli/backup-commands.ts';
import type { Execute, GlobalOptions } from './operator/cli/execute.ts';
import { type KeyRingMeans, keyRingCommands } from './operator/cli/keyring-commands.ts';
import { auditCommands, entityCommands } from './operator/cli/maintenance-commands.ts';
import { personHere } from './operator/cli/person-here.ts';
import { deadLetterCommands, quarantineCommands } from './operator/cli/record-store-commands.ts';
import { replayCommands } from './operator/cli/replay-commands.ts';
import { sandboxOperations } from './operator/cli/sandbox-operations.ts';
import { shown } from './operator/cli/shown.ts';
import { serviceStatus, statusText } from './operator/cli/status-command.ts';
import { eventCommands, keyCommands, merchantCommands } from './operator/cli/store-commands.ts';
import { streamCommands } from './operator/cli/stream-commands.ts';
import { clusterCommandLine } from './operator/cli/topic-commands.ts';
import { OperatorError } from './operator/commands/arguments.ts';
import { operatorNamed } from './operator/commands/person.ts';
import type { Actor } from './store/change.ts';

/** The operator's tool: its command lines. What a command needs is loaded when it runs. */

const EXIT_OK = 0;
const EXIT_USAGE = 2;
const EXIT_FAILED = 1;

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
): Promise<number> {
  const execute: Execute = async (command, options, given, shape) => {
    const config = withDataDir(environment, options['data-dir']);
    const result = await ask(command, given, config, {
      actor: actorOf(config, options),
      note: (line) => printError(asTyped(line, environment)),
    });
    print(shown(shape ? shape(result) : result, options.output));
  };
  const said = (line: string) => print(asTyped(line, environment));
  try {
    await parse(argv, environment, execute, said);
    return EXIT_OK;
  } catch (error) {
    if (error instanceof ShownFailure) return EXIT_FAILED;
    const isInvalid = error instanceof InvalidLine;
    const explained = isInvalid
      ? await explainLine(error, argv, (path) => helpOf(path, environment), VOCABULARY)
      : { message: messageOf(error), next: error instanceof OperatorError ? error.next : [] };
    const code = isInvalid ? EXIT_USAGE : EXIT_FAILED;
    printError(asTyped(told(explained, code, argv), environment));
    return code;
  }
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

/** Returns the words that may stand in place of the last one. */
export async function operatorWords(words: readonly string[]): Promise<readonly string[]> {
  return completions(
    commandLine(
      {},
      async () => {},
      () => {},
    ),
    words,
  );
}

async function parse(
  argv: readonly string[],
  environment: Environment,
  execute: Execute,
  print: (line: string) => void,
): Promise<void> {
  let printed = '';
  const keep = (_error: unknown, _argv: unknown, text: string) => {
    printed = text;
  };
  await commandLine(environment, execute, print).parseAsync([...argv], {}, keep);
  if (printed) print(printed);
}

/** Returns the help of a command. */
async function helpOf(path: readonly string[], environment: Environment): Promise<string> {
  let help = '';
  await parse(
    [...path, '--help'],
    environment,
    async () => {},
    (text) => {
      help = text;
    },
  );
  return help;
}

function commandLine(environment: Environment, execute: Execute, print: (line: string) => void): Argv {
  const commands = yargs([])
    .scriptName(asTyped('hookrail operator', environment))
    .option('data-dir', { type: 'string', describe: 'Data directory (HOOKRAIL_DATA_DIR)' })
    .option('output', { choices: ['text', 'json'] as const, default: 'text' as const })
    .option('as', { type: 'string', describe: 'Your name, for the audit (HOOKRAIL_OPERATOR)' })
    .command('merchants', 'Merchants of this environment', (merchants) =>
      merchantCommands(merchants, execute),
    )
    .command('keys', 'API keys', (keys) => keyCommands(keys, execute))
    .command('events', 'Events of the delivery log', (events) => eventCommands(events, execute))
    .command('keyring', 'The key ring that seals signing secrets', (rings) =>
      keyRingCommands(rings, keyRingMeans(environment, execute, print)),
    )
    .command('store', 'Backups of merchants, keys, endpoints and the delivery log, and their move', (store) =>
      storeCommands(store, execute, {
        configOf: (options, over = {}) => withDataDir({ ...environment, ...over }, options['data-dir']),
        actorOf: (options) => actorOf(withDataDir(environment, options['data-dir']), options),
        ...{ environment, print },
        show: (options, result) => print(shown(result, options.output)),
      }),
    )
    .command('audit', 'Changes, and who made them', (audit) => auditCommands(audit, execute))
    .command('entity', 'Users and corporates', (entity) => entityCommands(entity, execute))
    .command('quarantine', 'Events that could not be routed', (records) =>
      quarantineCommands(records, execute),
    )
    .command('dead-letters', 'Deliveries that ended without a 2xx', (records) =>
      deadLetterCommands(records, execute),
    )
    .command('streams', 'Records that retention deleted before they were read', (streams) =>
      streamCommands(streams, execute),
    )
    .command('replay', 'Replays: send missed events again', (replay) => replayCommands(replay, execute))
    .command(
      'status [urls..]',
      'Show the state of a running service; ends with 1 when a process is not ready',
      (status) =>
        status.positional('urls', {
          type: 'string',
          array: true,
          describe: 'Operations addresses of its other processes, such as http://router-1:8081',
        }),
      async (argv) => {
        const config = withDataDir(environment, argv['data-dir']);
        const status = await serviceStatus(
          [operationsUrl(config), ...(argv.urls ?? [])],
          await recordStoreSummaries(config, actorOf(config, argv)),
        );
        print(shown(argv.output === 'json' ? status : statusText(status), argv.output));
        if (status.processes.some(({ ready }) => !ready)) throw new ShownFailure();
      },
    );
  const configOf = (options: GlobalOptions) => withDataDir(environment, options['data-dir']);
  return clusterCommandLine(commands, configOf, print)
    .demandCommand(
      1,
      'name a command: status, merchants, keys, events, keyring, audit, entity, store, quarantine, dead-letters, streams, replay, topics or schemas',
    )
    .strict()
    .version(false)
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new InvalidLine(message);
    });
}

/** Returns the configuration, with the operations address of the sandbox there unless the environment has one. */
function withDataDir(environment: Environment, dataDir: string | undefined): ReturnType<typeof readConfig> {
  const given = dataDir === undefined ? environment : { ...environment, HOOKRAIL_DATA_DIR: dataDir };
  const config = readConfig(given);
  const isGiven = (name: string) => Boolean(given[name]) && !config.ignored.includes(name);
  if (isGiven('HOOKRAIL_OPS_HOST') || isGiven('HOOKRAIL_OPS_PORT')) return config;
  return readConfig({ ...given, ...sandboxOperations(config.dataDir) });
}

/** Returns the operator who gives the command: as the line, the environment or the system names him. */
function actorOf(config: ReturnType<typeof readConfig>, { as }: Pick<GlobalOptions, 'as'>): Actor {
  return operatorNamed(as ?? (config.operator || personHere()));
}

function keyRingMeans(
  environment: Environment,
  execute: Execute,
  print: (line: string) => void,
): KeyRingMeans {
  const configOf = (options: GlobalOptions) => withDataDir(environment, options['data-dir']);
  return {
    execute,
    ringFile: (options) => configOf(options).keyRingFile,
    usage: async (options) => {
      const config = configOf(options);
      if (!(await hasStore(config))) return null;
      return (await ask('keyring-usage', {}, config, { actor: actorOf(config, options) })) as [];
    },
    note: async (options, change) => {
      const config = configOf(options);
      if (await hasStore(config))
        await ask('keyring-note', { ...change }, config, { actor: actorOf(config, options) });
    },
    show: (options, result) => print(shown(result, options.output)),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await runOperator(hideBin(process.argv), process.env, console.log, console.error);
}
