import { existsSync, readFileSync } from 'node:fs';
import type { Broker } from '../../broker/broker.ts';
import { type Config, ConfigError } from '../../config/config.ts';
import { KeyRing } from '../../keys/keyring.ts';
import { systemClock } from '../../process/clock.ts';
import { systemRandom } from '../../process/random.ts';
import { type Arguments, OperatorError } from '../commands/arguments.ts';
import { type BrokerCommand, isBrokerCommand, runBrokerCommand } from '../commands/broker-commands.ts';
import type { OperatorCommand } from '../commands/commands.ts';
import { operatorTokenFile } from '../commands/token-file.ts';
import { sandboxOperations } from './sandbox-operations.ts';
import type { RecordStoreSummary } from './status-command.ts';

/**
 * A running service has locked a store on SQLite, so the tool asks it over its operations port; without one, and where
 * the store is on PostgreSQL and the service on another machine, the tool opens the store itself. Only what a command
 * uses is loaded.
 */

const SERVICE_TIMEOUT_MS = 10_000;
/** Record stores may be long, and records put back are made durable first. */
const LONG_TIMEOUT_MS = 600_000;
const LONG_COMMANDS: readonly string[] = ['entity-erase', 'keyring-rewrap', 'replay-start', 'store-backup'];

/** Asks the running service, or opens the store when no service runs on this data directory. */
export async function ask(
  command: OperatorCommand | BrokerCommand,
  given: Arguments,
  config: Config,
): Promise<unknown> {
  const answer = await askService(`${operationsUrl(config)}/operator/${command}`, given, {
    dataDir: config.dataDir,
    withinMs:
      isBrokerCommand(command) || LONG_COMMANDS.includes(command) ? LONG_TIMEOUT_MS : SERVICE_TIMEOUT_MS,
  });
  if (answer !== undefined) return answer.result;
  if (isBrokerCommand(command))
    return withBroker(config, async (broker) =>
      runBrokerCommand(broker, command, given, systemClock().now()),
    );
  const clock = systemClock();
  const { openStore } = await import('../../store/open.ts');
  const { runOperatorCommand } = await import('../commands/commands.ts');
  const { createLogger } = await import('../../telemetry/logger.ts');
  const opening = openStore(config, clock, createLogger('silent'), keyRingOf(config));
  const store = await opening.catch((error: Error) => {
    if (config.postgres) throw new OperatorError(error.message);
    return throwInUse(error, config);
  });
  try {
    return await runOperatorCommand(
      {
        store,
        clock,
        random: systemRandom,
        environment: config.environment,
        keyRing: () => KeyRing.read(config.keyRingFile),
        withRecordStores: (use) => withBroker(config, use),
      },
      command,
      given,
    );
  } finally {
    await store.close();
  }
}

/** The ring that seals what a command changes; null where there is none, and only records without a seal are changed. */
function keyRingOf({ keyRingFile }: Config): KeyRing | null {
  return existsSync(keyRingFile) ? KeyRing.read(keyRingFile) : null;
}

/** A file that cannot be opened is probably that of a service which was looked for at another address. */
function throwInUse(error: Error, { dataDir, operations }: Config): never {
  const where = `${operations.host}:${operations.port} (HOOKRAIL_OPS_PORT)`;
  const { HOOKRAIL_OPS_PORT: port } = sandboxOperations(dataDir);
  const right = `HOOKRAIL_OPS_PORT=${port ?? '<its operations port>'} hookrail operator status`;
  throw new OperatorError(`${error.message}; a service on ${dataDir} must be reachable at ${where}`, right);
}

/** Opens the broker for its record stores and streams only: no role runs. */
async function withBroker<T>(config: Config, use: (broker: Broker) => Promise<T>): Promise<T> {
  const { openBroker } = await import('../../broker/open.ts');
  const { createLogger } = await import('../../telemetry/logger.ts');
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
  const { request } = await import('undici');
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

export function operationsUrl({ operations }: Config): string {
  return `http://${operations.host}:${operations.port}`;
}

/** Returns the numbers of quarantined records and dead letters, as the running service counts them; opens nothing. */
export async function recordStoreSummaries(config: Config) {
  const of = async (command: BrokerCommand) => {
    const url = `${operationsUrl(config)}/operator/${command}`;
    const answer = await askService(url, {}, { dataDir: config.dataDir, withinMs: LONG_TIMEOUT_MS });
    return (answer?.result ?? null) as readonly RecordStoreSummary[] | null;
  };
  return { quarantine: await of('quarantine-summary'), deadLetters: await of('dead-letters-summary') };
}
