/**
 * `npm run kafka:local [-- OPTIONS]`: Kafka, a schema registry and, with --postgres, PostgreSQL on 127.0.0.1, without
 * Docker, until Ctrl-C. Needs Java 17; Maven fetches the jars once.
 */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../services/messages/error-message.ts';
import { type LocalKafka, startLocalKafka } from './local-kafka/cluster.ts';
import { type LocalPostgres, startLocalPostgres } from './local-postgres/server.ts';

const USAGE = `npm run kafka:local [-- OPTIONS]
  --brokers N        number of nodes, 1 to 9 (1; 3 survive the loss of one)
  --port N           port of the first node; the others use the next ones (9092)
  --registry-port N  port of the schema registry (8085)
  --postgres         also start PostgreSQL, for the store
  --postgres-port N  port of PostgreSQL (5432)
  --data DIR         keep the data in this folder for the next start (default: a temporary folder)
  --memory           put the temporary folder in memory (Linux)`;

const MEMORY = '/dev/shm';
/** npm repeats a Ctrl-C that the terminal has already sent: a second one within this time is ignored. */
const SAME_SIGNAL_MS = 1_000;

class UsageError extends Error {}

function readOptions() {
  const { values } = parse();
  if (values.help) throw new UsageError(USAGE);
  const nodes = wholeNumber('--brokers', values.brokers, 1, 9);
  if (values.memory && values.data !== undefined) {
    throw new UsageError('--memory keeps no data and --data keeps all of it: give only one of them.');
  }
  if (values.memory && !existsSync(MEMORY)) {
    throw new UsageError(`--memory needs ${MEMORY}, which this system does not have: omit the option.`);
  }
  return {
    nodes,
    registry: true,
    isShortLived: false,
    dataDir: values.data,
    postgresPort: values.postgres
      ? wholeNumber('--postgres-port', values['postgres-port'], 1024, 65_535)
      : undefined,
    temporaryIn: values.memory ? MEMORY : undefined,
    ports: {
      broker: wholeNumber('--port', values.port, 1024, 65_535 - nodes),
      registry: wholeNumber('--registry-port', values['registry-port'], 1024, 65_535),
    },
  };
}

function parse() {
  try {
    return parseArgs({
      options: {
        brokers: { type: 'string', default: '1' },
        port: { type: 'string', default: '9092' },
        'registry-port': { type: 'string', default: '8085' },
        postgres: { type: 'boolean', default: false },
        'postgres-port': { type: 'string', default: '5432' },
        data: { type: 'string' },
        memory: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${messageOf(error)}\n${USAGE}`);
  }
}

function wholeNumber(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`${option} must be a whole number from ${min} to ${max}, not "${text}".`);
}

async function main(): Promise<void> {
  const options = readOptions();
  let cluster: LocalKafka | undefined;
  let postgres: LocalPostgres | undefined;
  let stoppingSince: number | undefined;
  const stop = async (code: number) => {
    const isRepeat = stoppingSince !== undefined;
    if (isRepeat && Date.now() - (stoppingSince ?? 0) < SAME_SIGNAL_MS) return;
    // Remaining processes are killed when this one has exited.
    if (isRepeat || !cluster) process.exit(code || 130);
    stoppingSince = Date.now();
    console.error('Stopping …');
    await Promise.all([cluster.stop(), postgres?.dispose()]);
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
  cluster = await startLocalKafka({
    ...options,
    environment: process.env,
    say: (line) => console.error(line),
    onUnexpectedEnd: (reason) => {
      console.error(reason);
      void stop(1);
    },
  });
  if (options.postgresPort !== undefined) postgres = await startPostgres(options);
  const what = postgres ? 'Kafka, the schema registry and PostgreSQL' : 'Kafka and the schema registry';
  console.error(`${what} run until Ctrl-C. Where hookrail starts, run:\n`);
  console.log('export HOOKRAIL_ENGINE=kafka');
  console.log(`export HOOKRAIL_KAFKA_BROKERS=${cluster.brokers.join(',')}`);
  console.log(`export HOOKRAIL_SCHEMA_REGISTRY_URL=${cluster.registryUrl}`);
  if (!postgres) return;
  console.log('export HOOKRAIL_STORE=postgres');
  console.log(`export HOOKRAIL_POSTGRES_URL=${postgres.url()}`);
}

function startPostgres(options: ReturnType<typeof readOptions>): Promise<LocalPostgres> {
  const { dataDir, postgresPort: port } = options;
  const folder = dataDir === undefined ? {} : { folder: resolve(join(dataDir, 'postgres')) };
  return startLocalPostgres({ environment: process.env, port: port as number, ...folder });
}

main().catch((error: unknown) => {
  console.error(messageOf(error));
  process.exit(error instanceof UsageError ? 2 : 1);
});
