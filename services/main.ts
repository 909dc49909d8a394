import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { startApi } from './api/api.ts';
import { apiJobs } from './api-jobs.ts';
import type { Broker } from './broker/broker.ts';
import { openBroker } from './broker/open.ts';
import { type Config, ConfigError, readConfig } from './config/config.ts';
import { consoleUrlOf } from './config/console-config.ts';
import { Culprits } from './domain/stalls/stall.ts';
import { parseEgressAllow } from './egress/egress.ts';
import { readExtraCa } from './egress/extra-ca.ts';
import type { Hookrail, HookrailProcess } from './hookrail.ts';
import { KeyRing } from './keys/keyring.ts';
import { observeBroker } from './observability/broker-metrics.ts';
import { exportBuildInfo } from './observability/build-info.ts';
import { refuseMissingKeys } from './observability/missing-keys.ts';
import { reportPlainConnections } from './observability/plain-connections.ts';
import { isFresh, observeReadiness, type Phase, readinessOf } from './observability/readiness.ts';
import { exportSigningKeys } from './observability/signing-keys.ts';
import { observeStore } from './observability/store-metrics.ts';
import { sandboxTime } from './operator/commands/clock.ts';
import { operatorService } from './operator/commands/operator-service.ts';
import { operatorRoutes } from './operator/commands/routes.ts';
import { operatorConsole } from './operator/console/operator-console.ts';
import type { Clock } from './process/clock.ts';
import { Descriptors } from './process/descriptors.ts';
import { Lifecycle } from './process/lifecycle.ts';
import { LogOutput } from './process/log-output.ts';
import { openDataDir } from './process/private-files.ts';
import { systemRandom } from './process/random.ts';
import { runProcess } from './process/run-process.ts';
import { openClock } from './process/sandbox-clock.ts';
import { ownVersion } from './process/version.ts';
import { startRecording } from './recording.ts';
import { applyPending } from './relay/pending-changes.ts';
import type { PublishChecks } from './relay/publishable.ts';
import { PublishedChanges } from './relay/published-changes.ts';
import { type Following, startFollowing } from './relay/start-following.ts';
import { startRouter } from './router/router.ts';
import { EndpointChecker } from './sender/http/check/endpoint-checker.ts';
import { Tunnels } from './sender/http/egress-proxy.ts';
import { NameServers } from './sender/http/names/name-servers.ts';
import { openTransport } from './sender/http/transport.ts';
import { startSender } from './sender/sender.ts';
import { isStorePlain, openStore } from './store/open.ts';
import type { Store } from './store/store.ts';
import { countDroppedLines, createLogger, type Logger, written } from './telemetry/logger.ts';
import { startOperations } from './telemetry/operations.ts';
import type { Tracing } from './telemetry/tracer.ts';
import { startTracing } from './telemetry/tracing.ts';
import { watch } from './watch.ts';
import { SharedActivity } from './watchdog/activity.ts';

export type { Hookrail, HookrailProcess } from './hookrail.ts';

/** The time, after the attempts' own deadline, in which settlements become durable. */
const SETTLE_MS = 5000;
/** The longest wait for the log at the end: a reader that has stopped reading does not keep the process. */
const LOG_WRITTEN_MS_MAX = 2000;

/** The dependencies of this process's stations. */
interface ProcessDeps extends StationDeps {
  /** Present with the api and recorder roles; null in a process with routers and senders only. */
  readonly store: Store | null;
}

/** The dependencies of every station, without the store. */
interface StationDeps extends Following {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly keyRing: KeyRing;
  readonly broker: Broker;
  readonly lifecycle: Lifecycle;
  readonly tracer: Tracing['tracer'];
  readonly descriptors: Descriptors;
  readonly activity: SharedActivity;
  readonly culprits: Culprits;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Starts a process with an api; see startProcess. */
export async function startHookrail(environment: Environment): Promise<Hookrail> {
  const started = await startProcess(environment);
  const { apiUrl, docs, consoleLink, store } = started;
  if (apiUrl !== null && docs !== null && consoleLink !== null && store !== null)
    return { ...started, apiUrl, docs, consoleLink, store };
  await started.stop();
  throw new ConfigError('HOOKRAIL_ROLES must include `api`');
}

/**
 * Starts the configured roles on the chosen engine. Rejects with one clear message when the configuration, the key
 * ring, a file or a port is not usable; parts started until then are stopped again.
 */
export async function startProcess(environment: Environment): Promise<HookrailProcess> {
  const lifecycle = new Lifecycle();
  try {
    return await start(readConfig(environment), lifecycle);
  } catch (error) {
    await lifecycle.stop().catch(() => {});
    throw error;
  }
}

async function start(config: Config, lifecycle: Lifecycle): Promise<HookrailProcess> {
  const deps = await openDeps(config, lifecycle);
  const { broker, store } = deps;
  let phase: Phase = 'starting';
  const waysOut = openWaysOut(config, deps.clock);
  // Only senders open secrets, and connect to receivers.
  const parts = has(config, 'sender')
    ? { ...deps, waysOut: Object.values(waysOut).filter((way) => way !== null) }
    : { ...deps, keyRing: null, waysOut: [] };
  const readiness = () => readinessOf(parts, phase);
  observeReadiness(deps.registry, readiness);
  observeBroker(deps.registry, broker, deps.follower);
  if (store) observeStore(deps.registry, store);
  exportSigningKeys(deps.registry, { ...deps, environment: config.environment });
  if (config.ignored.length > 0)
    deps.log.warn(
      { variables: config.ignored },
      'variables that Kubernetes or Docker sets for a Service of that name are ignored; `enableServiceLinks: false` in the pod removes them',
    );
  reportPlainConnections(config, { ...deps, isStorePlain: store !== null && isStorePlain(config) });
  const operations = await startOperations({
    ...config.operations,
    registry: deps.registry,
    readiness,
    isShort: () => deps.descriptors.isShort,
    ...(store && has(config, 'api') ? { routes: operatorRoutesOf({ ...deps, store }) } : {}),
  });
  lifecycle.onStop('operations', () => operations.stop());
  // Consumers start before producers, so that a start has no backlog of its own.
  if (store && has(config, 'recorder')) await startRecording({ ...deps, store });
  // What was changed while no relay ran holds before the first attempt.
  if (store && has(config, 'sender')) await applyPending(store, deps);
  if (has(config, 'sender')) await startSending({ ...deps, ...waysOut });
  // The api starts before the router: a stream created anew must have the merchants before events are routed.
  const { checks } = deps;
  const api =
    store && checks && has(config, 'api') ? await startServing({ ...deps, ...waysOut, store, checks }) : null;
  if (has(config, 'router')) await startRouting(deps);
  phase = 'running';
  const { engine, roles, postgres } = config;
  const stores = store && { store: postgres ? 'postgres' : 'sqlite' };
  deps.log.info(
    { api: api?.url, operations: operations.url, engine, ...stores, roles },
    'hookrail is running',
  );
  return {
    apiUrl: api?.url ?? null,
    docs: api?.docs ?? null,
    consoleLink: api?.consoleLink ?? null,
    operationsUrl: operations.url,
    store,
    broker,
    failed: Promise.race(store ? [broker.failed, store.failed] : [broker.failed]),
    stop: (signal) => {
      phase = 'draining';
      deps.log.info({ event: 'stopping', signal }, 'hookrail is stopping: what is under way ends first');
      return lifecycle.stop();
    },
  };
}

function has(config: Config, role: Config['roles'][number]): boolean {
  return config.roles.includes(role);
}

function operatorRoutesOf(deps: StationDeps & { readonly store: Store }) {
  const { environment, dataDir, operatorTokenFile } = deps.config;
  const keyRing = () => deps.keyRing;
  const clock = environment === 'sandbox' ? { sandboxTime: sandboxTime(deps) } : {};
  const service = operatorService({
    ...deps,
    ...clock,
    keyRing,
    random: systemRandom,
    environment,
    consoleUrl: consoleUrlOf(deps.config),
    dataDir,
    operatorTokenFile,
  });
  return { '/operator': operatorRoutes(service), '/console': operatorConsole(service) };
}

async function openDeps(config: Config, lifecycle: Lifecycle): Promise<ProcessDeps> {
  const clock = openClock(config);
  const output = new LogOutput(1);
  const log = createLogger(config.logLevel, output);
  // Registered first, so stopped last: a program that ends the process after this loses no line.
  lifecycle.onStop('log', () => written(log, clock, LOG_WRITTEN_MS_MAX));
  const tracing = await startTracing(config.tracing, { clock, log });
  lifecycle.onStop('tracing', () => tracing.stop());
  const { tracer } = tracing;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  exportBuildInfo(registry, ownVersion());
  countDroppedLines(output, registry);
  const descriptors = new Descriptors({ clock, log, registry });
  lifecycle.onStop('descriptors', async () => descriptors.stop());
  const keyRing = config.usesKeys ? KeyRing.read(config.keyRingFile) : KeyRing.empty(config.keyRingFile);
  if (config.keepsFiles) openDataDir(config.dataDir, log);
  const watched = { activity: new SharedActivity(), culprits: new Culprits() };
  const broker = await openBroker(config, clock, log, watched);
  lifecycle.onStop('broker', () => broker.close());
  await watch({ ...watched, config, broker, clock, log, registry, lifecycle });
  const sealing = config.usesKeys ? keyRing : null;
  const isStored = has(config, 'api') || has(config, 'recorder');
  const store = isStored ? await openStore(config, clock, log, sealing) : null;
  if (store) {
    lifecycle.onStop('store', () => store.close());
    if (sealing) await refuseMissingKeys(store, sealing, clock);
  }
  const parts = { config, clock, log, registry, keyRing, broker, store, lifecycle };
  const following = await startFollowing(parts);
  return { ...parts, ...watched, ...following, tracer, descriptors };
}

interface ServingDeps extends StationDeps, WaysOut {
  readonly store: Store;
  readonly checks: PublishChecks;
}

async function startServing(deps: ServingDeps) {
  const { config, lifecycle } = deps;
  const relay = new PublishedChanges(deps.store.outbox, deps.clock);
  const { check: checkUrl, certificateEnd } = new EndpointChecker({ ...deps, ...destinationsOf(config) });
  const jobs = apiJobs({ ...deps, certificateEnd, published: relay });
  const lease = await deps.store.leases.hold('api', jobs);
  lifecycle.onStop('api jobs', async () => {
    await lease.stop();
    relay.stop();
  });
  const api = await startApi({
    ...deps,
    ...{ relay, checkUrl, random: systemRandom, environment: config.environment },
    options: { ...config.api, egress: egressOf(config), autoDisable: config.autoDisable },
  });
  lifecycle.onStop('api', () => api.stop());
  return api;
}

async function startRouting(deps: StationDeps): Promise<void> {
  const router = await startRouter({ ...deps, acceptsSimulated: deps.config.environment === 'sandbox' });
  deps.lifecycle.onStop('router', () => router.stop(SETTLE_MS));
}

function openWaysOut({ sender, egress }: Config, clock: Clock) {
  const { connectTimeoutMs } = sender;
  const nameServers = new NameServers({ clock, connectTimeoutMs });
  return { nameServers, tunnels: Tunnels.through(egress.proxy, clock, connectTimeoutMs) };
}

type WaysOut = ReturnType<typeof openWaysOut>;

async function startSending(deps: StationDeps & WaysOut): Promise<void> {
  const { config, lifecycle } = deps;
  const transport = openTransport({
    clock: deps.clock,
    ...destinationsOf(config),
    descriptors: deps.descriptors,
    activity: deps.activity,
    nameServers: deps.nameServers,
    tunnels: deps.tunnels,
  });
  lifecycle.onStop('transport', () => transport.close());
  const sender = await startSender({
    ...deps,
    transport,
    environment: config.environment,
    ready: () => isFresh(deps),
    retryScale: config.sender.retryScale,
    options: { inFlightMax: config.sender.inFlightMax },
  });
  lifecycle.onStop('sender', () => sender.stop(config.sender.totalTimeoutMs + SETTLE_MS));
}

/** Where attempts and checks may lead, and how long they may take. */
function destinationsOf(config: Config) {
  const { totalTimeoutMs, connectTimeoutMs } = config.sender;
  const extraCa = readExtraCa(config.egress.extraCaFile);
  return { totalTimeoutMs, connectTimeoutMs, egress: egressOf(config), extraCa };
}

function egressOf({ egress }: Config) {
  return { ports: egress.ports, allow: parseEgressAllow(egress.allow) };
}

/** Runs the service as this process. */
export function runService(): void {
  runProcess('hookrail', () => startProcess(process.env));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) runService();
