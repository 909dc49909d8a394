import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { request } from 'undici';
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import type { Broker } from './broker/broker.ts';
import { openBroker } from './broker/open.ts';
import { ConfigError, readConfig } from './config/config.ts';
import { visibleLines } from './domain/text/visible-text.ts';
import { KeyRing } from './keys/keyring.ts';
import { messageOf } from './messages/error-message.ts';
import { storeCommands } from './operator/cli/backup-commands.ts';
import type { Execute, GlobalOptions } from './operator/cli/execute.ts';
import { type KeyRingMeans, keyRingCommands } from './operator/cli/keyring-commands.ts';
import { auditCommands, entityCommands } from './operator/cli/maintenance-commands.ts';
import { deadLetterCommands, quarantineCommands } from './operator/cli/record-store-commands.ts';
import { replayCommands } from './operator/cli/replay-commands.ts';
import { shown } from './operator/cli/shown.ts';
import { type RecordStoreSummary, serviceStatus, statusText } from './operator/cli/status-command.ts';
import { keyCommands, merchantCommands } from './operator/cli/store-commands.ts';
import { streamCommands } from './operator/cli/stream-commands.ts';
import { clusterCommandLine } from './operator/cli/topic-commands.ts';
import {
  type BrokerCommand,
  isBrokerCommand,
  runBrokerCommand,
} from './operator/commands/broker-commands.ts';
import {
  type Arguments,
  type OperatorCommand,
  OperatorError,
  runOperatorCommand,
} from './operator/commands/commands.ts';
import { operatorTokenFile } from './operator/commands/routes.ts';
import { systemClock } from './process/clock.ts';
import { systemRandom } from './process/random.ts';
import { openStore, storeFile } from './store/open.ts';
import { createLogger } from './telemetry/logger.ts';

/**
 * The operator's tool. A running service has locked the store, so the tool asks it over its operations port; without
 * one, the tool opens the store itself.
 */

const EXIT_USAGE = 2;
const EXIT_FAILED = 1;
const SERVICE_TIMEOUT_MS = 10_000;
/** Record stores may be long, and records put back are made durable first. */
const LONG_TIMEOUT_MS = 600_000;
const LONG_COMMANDS: readonly string[] = ['entity-erase', 'keyring-rewrap', 'replay-start', 'store-backup'];

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs the tool; resolves with the exit code: 0 done, 1 refused or failed, 2 invalid command line. */
export async function runOperator(
  argv: readonly string[],
  environment: Environment,
  print: (line: string) => void,
  printError: (line: string) => void,
): Promise<number> {
  const execute: Execute = async (command, options, given, shape) => {
    const result = await ask(command, given, withDataDir(environment, options['data-dir']));
    print(shown(shape ? shape(result) : result, options.output));
  };
  try {
    await commandLine(argv, environment, execute, print).parseAsync();
    return 0;
  } catch (error) {
    printError(visibleLines(`operator: ${messageOf(error)}`));
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** An invalid command line. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

function commandLine(
  argv: readonly string[],
  environment: Environment,
  execute: Execute,
  print: (line: string) => void,
): Argv {
  const commands = yargs([...argv])
    .scriptName('npm run operator --')
    .option('data-dir', { type: 'string', describe: 'Data directory (HOOKRAIL_DATA_DIR)' })
    .option('output', { choices: ['text', 'json'] as const, default: 'text' as const })
    .command('merchants', 'Merchants of this environment', (merchants) =>
      merchantCommands(merchants, execute),
    )
    .command('keys', 'API keys', (keys) => keyCommands(keys, execute))
    .command('keyring', 'The key ring that seals signing secrets', (rings) =>
      keyRingCommands(rings, keyRingMeans(environment, execute, print)),
    )
    .command('store', 'Backups of merchants, keys, endpoints and the delivery log', (store) =>
      storeCommands(store, execute, { dataDir: (options) => dataDirOf(environment, options), print }),
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
      'Show the state of a running service',
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
          await recordStoreSummaries(config),
        );
        print(shown(argv.output === 'json' ? status : statusText(status), argv.output));
      },
    );
  const configOf = (options: GlobalOptions) => withDataDir(environment, options['data-dir']);
  return clusterCommandLine(commands, configOf, print)
    .demandCommand(
      1,
      'name a command: status, merchants, keys, keyring, audit, entity, store, quarantine, dead-letters, streams, replay, topics or schemas',
    )
    .strict()
    .version(false)
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(`${message} (--help shows the commands)`);
    });
}

/** Returns the configuration, with the operations address that `npm start` wrote unless the environment has one. */
function withDataDir(environment: Environment, dataDir: string | undefined): ReturnType<typeof readConfig> {
  const given = dataDir === undefined ? environment : { ...environment, HOOKRAIL_DATA_DIR: dataDir };
  const config = readConfig(given);
  if (given.HOOKRAIL_OPS_HOST || given.HOOKRAIL_OPS_PORT) return config;
  const file = join(config.dataDir, 'sandbox.env');
  if (!existsSync(file)) return config;
  const { HOOKRAIL_OPERATIONS_URL: url = '' } = parseEnv(readFileSync(file, 'utf8'));
  if (!URL.canParse(url)) return config;
  const { hostname: host, port } = new URL(url);
  return { ...config, operations: { ...config.operations, host, port: Number(port) } };
}

function dataDirOf(environment: Environment, options: GlobalOptions): string {
  return withDataDir(environment, options['data-dir']).dataDir;
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
      const hasStore = existsSync(storeFile(config)) || existsSync(operatorTokenFile(config.dataDir));
      return hasStore ? ((await ask('keyring-usage', {}, config)) as []) : null;
    },
    show: (options, result) => print(shown(result, options.output)),
  };
}

function operationsUrl({ operations }: ReturnType<typeof readConfig>): string {
  return `http://${operations.host}:${operations.port}`;
}

/** Returns the numbers of quarantined records and dead letters, as the running service counts them; opens nothing. */
async function recordStoreSummaries(config: ReturnType<typeof readConfig>) {
  const of = async (command: BrokerCommand) => {
    const url = `${operationsUrl(config)}/operator/${command}`;
    const answer = await askService(url, {}, { dataDir: config.dataDir, withinMs: LONG_TIMEOUT_MS });
    return (answer?.result ?? null) as readonly RecordStoreSummary[] | null;
  };
  return { quarantine: await of('quarantine-summary'), deadLetters: await of('dead-letters-summary') };
}

/** Asks the running service, or opens the store when no service runs on this data directory. */
async function ask(
  command: OperatorCommand | BrokerCommand,
  given: Arguments,
  config: ReturnType<typeof readConfig>,
): Promise<unknown> {
  const answer = await askService(`${operationsUrl(config)}/operator/${command}`, given, {
    dataDir: config.dataDir,
    withinMs:
      isBrokerCommand(command) || LONG_COMMANDS.includes(command) ? LONG_TIMEOUT_MS : SERVICE_TIMEOUT_MS,
  });
  if (answer !== undefined) return answer.result;
  if (isBrokerCommand(command))
    return withBroker(config, (broker) => runBrokerCommand(broker, command, given, systemClock().now()));
  const clock = systemClock();
  const opening = openStore(config, clock, createLogger('silent'));
  const store = await opening.catch((error: Error) => throwInUse(error, config));
  try {
    return await runOperatorCommand(
      {
        store,
        clock,
        random: systemRandom,
        environment: config.environment,
        keyRing: () => KeyRing.read(config.keyRingFile),
        withRecordStores: (use) => withBroker(config, use),
        isRelayed: false,
      },
      command,
      given,
    );
  } finally {
    await store.close();
  }
}

/** A file that cannot be opened is probably that of a service which was looked for at another address. */
function throwInUse(error: Error, { dataDir, operations }: ReturnType<typeof readConfig>): never {
  const where = `${operations.host}:${operations.port} (HOOKRAIL_OPS_PORT)`;
  throw new OperatorError(`${error.message}; a service on ${dataDir} must be reachable at ${where}`);
}

/** Opens the broker for its record stores and streams only: no role runs. */
async function withBroker<T>(
  config: ReturnType<typeof readConfig>,
  use: (broker: Broker) => Promise<T>,
): Promise<T> {
  const opening = openBroker({ ...config, roles: [] }, systemClock(), createLogger('silent'));
  const broker = await opening.catch((error: Error) => {
    if (config.engine !== 'sqlite') throw error;
    return throwInUse(error, config);
  });
  try {
    return await use(broker);
  } finally {
    await broker.close();
  }
}

/** Returns the service's response, or undefined when none runs there or it uses another data directory. */
async function askService(
  url: string,
  given: Arguments,
  { dataDir, withinMs }: { readonly dataDir: string; readonly withinMs: number },
): Promise<{ result: unknown } | undefined> {
  const token = readToken(dataDir);
  if (token === undefined) return undefined;
  const answer = await request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(given),
    signal: AbortSignal.timeout(withinMs),
    headersTimeout: withinMs,
  }).catch((error: NodeJS.ErrnoException) => {
    // Connection refused = no service runs. Any later error = the command may have been carried out.
    if (error.code === 'ECONNREFUSED') return undefined;
    throw new OperatorError(
      `the service at ${url} did not respond; the command may or may not have taken effect`,
    );
  });
  if (answer === undefined) return undefined;
  if (answer.statusCode === 401 || answer.statusCode === 404) {
    await answer.body.dump();
    return undefined;
  }
  const body = (await answer.body.json()) as { result: unknown; error?: string };
  if (answer.statusCode === 200) return body;
  throw new OperatorError(body.error ?? `the service answered ${answer.statusCode}`);
}

function readToken(dataDir: string): string | undefined {
  try {
    return readFileSync(operatorTokenFile(dataDir), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ConfigError(
      `${operatorTokenFile(dataDir)} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await runOperator(hideBin(process.argv), process.env, console.log, console.error);
}
