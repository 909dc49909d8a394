import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { startApi } from './api/api.ts';
import { operatorRoutes } from './api/operator-routes.ts';
import type { Broker, Follower } from './broker/broker.ts';
import { openBroker } from './broker/open.ts';
import { Directory } from './domain/directory.ts';
import { startRecorder } from './recorder/recorder.ts';
import { runRetention } from './recorder/retention.ts';
import { startRouter } from './router/router.ts';
import { type Clock, systemClock } from './runtime/clock.ts';
import { type Config, ConfigError, readConfig } from './runtime/config.ts';
import { parseEgressAllow } from './runtime/egress.ts';
import { KeyRing } from './runtime/keyring.ts';
import { Lifecycle } from './runtime/lifecycle.ts';
import { createLogger, type Logger, written } from './runtime/logger.ts';
import { type Readiness, startOperations } from './runtime/operations.ts';
import { systemRandom } from './runtime/random.ts';
import { startSender } from './sender/sender.ts';
import { openTransport } from './sender/transport.ts';
import { openSqliteStore } from './store/sqlite/sqlite-store.ts';
import type { Store } from './store/store.ts';

/** A directory that has not been proved fresh for this long stops the sender (design: the directory). */
const STALENESS_MS_MAX = 5000;
/** Time after the attempts' own deadline in which what is settled becomes durable. */
const SETTLE_MS = 5000;
/** A reader of the log that has stopped reading does not keep the process. */
const LOG_WRITTEN_MS_MAX = 2000;

export interface Hookrail {
  readonly apiUrl: string;
  readonly operationsUrl: string;
  readonly store: Store;
  /** For a process that hosts hookrail: events without the REST API. */
  readonly broker: Pick<Broker, 'publishEvents'>;
  /** Resolves with the reason when a part cannot go on; the process must then end. */
  readonly failed: Promise<Error>;
  /** Finishes what is in flight, makes it durable, releases everything. */
  stop(): Promise<void>;
}

/** What every station is given. */
interface House {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly keyRing: KeyRing;
  readonly broker: Broker;
  readonly store: Store;
  readonly directory: Directory;
  readonly follower: Follower;
  readonly lifecycle: Lifecycle;
}

/**
 * Starts all stations on the chosen engine. Rejects with one clear message when the configuration, the key ring, a
 * file or a port is not usable; what was started until then is stopped again.
 */
export async function startHookrail(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Hookrail> {
  const lifecycle = new Lifecycle();
  try {
    return await start(readConfig(environment), lifecycle);
  } catch (error) {
    await lifecycle.stop().catch(() => {});
    throw error;
  }
}

async function start(config: Config, lifecycle: Lifecycle): Promise<Hookrail> {
  const house = await openHouse(config, lifecycle);
  const { broker, store } = house;
  let phase: 'starting' | 'running' | 'draining' = 'starting';
  const operations = await startOperations({
    ...config.operations,
    registry: house.registry,
    readiness: () => readiness(house, phase),
    operatorRoutes: operatorRoutes({
      ...house,
      random: systemRandom,
      environment: config.environment,
      dataDir: config.dataDir,
    }),
  });
  lifecycle.onStop('operations', () => operations.stop());
  await startRecording(house);
  await startSending(house);
  const router = await startRouter({ ...house, acceptsSimulated: config.environment === 'sandbox' });
  lifecycle.onStop('router', () => router.stop(SETTLE_MS));
  const api = await startApi({
    ...house,
    random: systemRandom,
    environment: config.environment,
    options: { ...config.api, egress: egressOf(config) },
  });
  lifecycle.onStop('api', () => api.stop());
  phase = 'running';
  house.log.info({ api: api.url, operations: operations.url, engine: config.engine }, 'hookrail is running');
  return {
    apiUrl: api.url,
    operationsUrl: operations.url,
    store,
    broker,
    failed: Promise.race([broker.failed, store.failed]),
    stop: () => {
      phase = 'draining';
      return lifecycle.stop();
    },
  };
}

/** Ready = the table is up to date, broker and store can be written to, and this process is neither starting nor stopping. */
function readiness(house: House, phase: 'starting' | 'running' | 'draining'): Readiness {
  const reasons = [
    ...(phase === 'running' ? [] : [`this process is ${phase}`]),
    ...(house.broker.status().reachable ? [] : ['the broker cannot be written to']),
    ...(house.store.status().reachable ? [] : ['the store cannot be written to']),
    ...(isFresh(house) ? [] : ['the directory is not up to date']),
  ];
  return { ready: reasons.length === 0, reasons };
}

async function openHouse(config: Config, lifecycle: Lifecycle): Promise<House> {
  const clock = systemClock();
  const log = createLogger(config.logLevel);
  // Registered first, so stopped last: whoever ends the process after this cuts no line off.
  lifecycle.onStop('log', () => written(log, clock, LOG_WRITTEN_MS_MAX));
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const keyRing = KeyRing.read(config.keyRingFile);
  mkdirSync(config.dataDir, { recursive: true });
  const broker = await openBroker(config, clock, log);
  lifecycle.onStop('broker', () => broker.close());
  const store = await openSqliteStore({
    file: join(config.dataDir, 'store.db'),
    clock,
    healthPolicy: config.autoDisable,
    log,
  });
  lifecycle.onStop('store', () => store.close());
  const directory = new Directory();
  const follower = await broker.followDirectory((change) => directory.apply(change));
  lifecycle.onStop('directory', () => follower.close());
  return { config, clock, log, registry, keyRing, broker, store, directory, follower, lifecycle };
}

async function startRecording(house: House): Promise<void> {
  const { config, lifecycle } = house;
  const recorder = await startRecorder(house);
  lifecycle.onStop('recorder', () => recorder.stop(SETTLE_MS));
  const stopRetention = new AbortController();
  const retention = runRetention({ ...house, retentionMs: config.retentionMs, signal: stopRetention.signal });
  lifecycle.onStop('retention', () => {
    stopRetention.abort();
    return retention;
  });
}

async function startSending(house: House): Promise<void> {
  const { config, lifecycle } = house;
  const transport = openTransport({
    clock: house.clock,
    totalTimeoutMs: config.sender.totalTimeoutMs,
    connectTimeoutMs: config.sender.connectTimeoutMs,
    egress: egressOf(config),
    extraCa: config.egress.extraCaFile === '' ? null : readCa(config.egress.extraCaFile),
  });
  lifecycle.onStop('transport', () => transport.close());
  const sender = await startSender({
    ...house,
    transport,
    ready: () => isFresh(house),
    retryScale: config.sender.retryScale,
    options: { inFlightMax: config.sender.inFlightMax },
  });
  lifecycle.onStop('sender', () => sender.stop(config.sender.totalTimeoutMs + SETTLE_MS));
}

function egressOf({ egress }: Config) {
  return { ports: egress.ports, allow: parseEgressAllow(egress.allow) };
}

function isFresh(house: Pick<House, 'follower'>): boolean {
  return house.follower.stalenessMs() < STALENESS_MS_MAX;
}

function readCa(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`HOOKRAIL_EXTRA_CA_FILE cannot be read: ${why}`);
  }
}

/** Runs until a signal or a failure; the exit code says which. A second signal ends at once. */
async function main(): Promise<void> {
  const hookrail = await startHookrail(process.env);
  const signalled = new Promise<null>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve(null);
      });
    }
  });
  const failure = await Promise.race([hookrail.failed, signalled]);
  if (failure) console.error(`hookrail cannot go on: ${failure.message}`);
  await hookrail.stop();
  process.exit(failure ? 1 : 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error: unknown) => {
    console.error(`hookrail did not start: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  });
}
