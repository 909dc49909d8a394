import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import type { DomainEvent } from '../../services/domain/event.ts';
import { runOperator } from '../../services/operator.ts';
import { freePort } from '../free-ports.ts';
import { sumOf } from './counts.ts';
import { type BenchEngine, DATA_DIR } from './engines.ts';
import { sleep } from './load.ts';
import { wallClock } from './measure.ts';
import { type Parked, parkedIn } from './parked.ts';
import { type ServiceProcess, startServiceProcess } from './service-processes.ts';

const READY_MS_MAX = 60_000;
const READY_POLL_MS = 100;
/** The time until the router knows a new endpoint (docs/design.md: the directory; one second when healthy). */
const DIRECTORY_MS = 1500;

/** A service with its own data directory and processes. */
export interface Service {
  readonly pids: readonly number[];
  readonly apiUrl: string;
  readonly producerKey: string;
  readonly merchantIds: readonly string[];
  /** The merchants' keys, in the same order. */
  readonly apiKeys: readonly string[];
  /** Publishes this many of the prepared events, in turn, with a producer inside the service; see `prepare`. */
  publish(count: number): Promise<void>;
  prepare(templates: readonly DomainEvent[]): Promise<void>;
  /** Creates one endpoint for each merchant, over REST. */
  createEndpoints(url: (index: number) => string): Promise<void>;
  /** Sends a request of the merchant with this index, below its endpoint, and returns the body. Rejects on an error. */
  ask(merchant: number, method: 'GET' | 'PATCH' | 'POST', below: string, body?: object): Promise<Answer>;
  /** Makes a link that opens the console of the first merchant, once. */
  consoleLink(): Promise<string>;
  /** Returns the number of entries in the delivery log so far: one per routed event, one per attempt. */
  recordedEntries(): Promise<number>;
  /** Returns the tasks that were put back so far without an attempt. */
  parkedTasks(): Promise<Parked>;
  /** Returns what has not been done yet and where it waits, a line for each metric that is not zero. */
  unfinishedWork(): Promise<string>;
  /** Returns the number of retries so far that were handed over before they were due. */
  earlyRetries(): Promise<number>;
  /** Rejects when a process exits before `stop`, with the end of its log. */
  readonly failed: Promise<never>;
  /** Stops the processes and removes their data. */
  stop(): Promise<void>;
}

interface Merchant {
  readonly merchantId: string;
  readonly apiKey: string;
}

/** The fields of a response body. */
export type Answer = Readonly<Record<string, unknown>>;

const ENDPOINTS = '/merchant/webhook-endpoints';
/** Fills a merchant's store before the service starts, with data that the service would take too long to write. */
export type Fill = (dataDir: string, merchant: Merchant) => Promise<void>;

export interface ServiceOptions {
  readonly engine: BenchEngine;
  /** PEM of the authority that signed the receiver's certificate. */
  readonly ca: string;
  readonly merchants: number;
  readonly fill?: Fill | undefined;
  readonly traceTo?: string;
}

/** Starts the built service with this many merchants, on the disk of the checkout. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { engine, ca, merchants: count, fill, traceTo } = options;
  const { dataDir, environment, removeFiles } = await prepareDataDir(engine, ca);
  const processes: ServiceProcess[] = [];
  const stop = async () => {
    await Promise.all(processes.map((each) => each.stop()));
    removeFiles();
  };
  const sum = async (counter: string) => {
    const counts = await Promise.all(processes.map(({ opsUrl }) => readCounter(opsUrl, counter)));
    return counts.reduce((total, count) => total + count, 0);
  };
  const setUp = async () => {
    const [filled] = fill ? (await createMerchants(environment, 1)).merchants : [];
    if (filled) await fill?.(dataDir, filled);
    // One after the other, because the first creates what all need.
    for (const roles of engine.processes) {
      const started = await startServiceProcess({ environment, roles, traceTo });
      processes.push(started);
      await Promise.race([untilReady(started.opsUrl), started.failed]);
    }
    return createMerchants(environment, count);
  };
  // A service that failed to start must not keep running after the error.
  const { merchants, producerKey } = await setUp().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const [first] = processes;
  if (!first) throw new Error(`engine ${engine.name} has no processes`);
  const apiUrl = `http://127.0.0.1:${environment.HOOKRAIL_API_PORT}`;
  const endpointIds: string[] = [];
  const failed = Promise.race(processes.map((each) => each.failed));
  failed.catch(() => {});
  return {
    pids: processes.map(({ pid }) => pid),
    apiUrl,
    producerKey,
    prepare: (templates) => first.ask('prepare', templates),
    publish: (count) => first.ask('publish', count),
    merchantIds: merchants.map(({ merchantId }) => merchantId),
    apiKeys: merchants.map(({ apiKey }) => apiKey),
    async createEndpoints(url) {
      for (const [index, merchant] of merchants.entries()) {
        const body = { url: url(index), description: 'benchmark' };
        const { uuid } = await askAs(apiUrl, merchant, 'POST', ENDPOINTS, body);
        endpointIds.push(`${uuid}`);
      }
      await sleep(DIRECTORY_MS);
    },
    ask(index, method, below, body) {
      const merchant = merchants[index];
      if (!merchant) throw new Error(`there is no merchant ${index}`);
      return askAs(apiUrl, merchant, method, `${ENDPOINTS}/${endpointIds[index]}${below}`, body);
    },
    async consoleLink() {
      const link = await operator(environment, 'portal', 'link', merchants[0]?.merchantId ?? '');
      return `${link.url}`;
    },
    recordedEntries: () => sum('hookrail_journal_entries_recorded_total'),
    parkedTasks: async () =>
      sumOf((await Promise.all(processes.map(({ opsUrl }) => readMetrics(opsUrl)))).map(parkedIn)),
    unfinishedWork: () => unfinishedWorkOf(processes),
    earlyRetries: () => sum('hookrail_early_retries_total'),
    failed,
    stop,
  };
}

/** Creates a data directory with a key ring. It is removed however the benchmark ends. */
async function prepareDataDir(engine: BenchEngine, ca: string) {
  mkdirSync(DATA_DIR, { recursive: true });
  const dataDir = mkdtempSync(join(DATA_DIR, 'bench-'));
  writeFileSync(join(dataDir, 'ca.crt'), ca);
  const environment = {
    ...environmentOf(dataDir, await freePort(), await freePort()),
    ...(await engine.environment()),
  };
  await operator(environment, 'keyring', 'create', '--out', join(dataDir, 'keyring.json'));
  const removeFiles = () => {
    process.removeListener('exit', removeFiles);
    rmSync(dataDir, { recursive: true, force: true });
  };
  process.once('exit', removeFiles);
  return { dataDir, environment, removeFiles };
}

/** Raises the limits that would stop the load; everything else has its default, including the log level. */
function environmentOf(dataDir: string, apiPort: number, opsPort: number) {
  return {
    HOOKRAIL_DATA_DIR: dataDir,
    HOOKRAIL_KEYRING: join(dataDir, 'keyring.json'),
    HOOKRAIL_API_PORT: `${apiPort}`,
    HOOKRAIL_CONSOLE_URL: `http://127.0.0.1:${apiPort}/console`,
    HOOKRAIL_OPS_PORT: `${opsPort}`,
    HOOKRAIL_EXTRA_CA_FILE: join(dataDir, 'ca.crt'),
    HOOKRAIL_EGRESS_ALLOW: '127.0.0.0/8,localhost',
    HOOKRAIL_RATE_LIMIT_PER_MINUTE: '1000000',
    HOOKRAIL_STREAMS_PER_KEY: '1000',
  };
}

/** Creates merchants and their keys with the operator's tool, as an operator would. */
async function createMerchants(
  environment: Readonly<Record<string, string>>,
  count: number,
): Promise<{ readonly merchants: readonly Merchant[]; readonly producerKey: string }> {
  const merchants: Merchant[] = [];
  for (let i = 0; i < count; i += 1) {
    const { merchantId } = await operator(environment, 'merchants', 'create', '--name', `Merchant ${i}`);
    const { key } = await operator(environment, 'keys', 'create', '--merchant', `${merchantId}`);
    merchants.push({ merchantId: `${merchantId}`, apiKey: `${key}` });
  }
  const { key } = await operator(environment, 'keys', 'create', '--producer');
  return { merchants, producerKey: `${key}` };
}

async function operator(
  environment: Readonly<Record<string, string>>,
  ...command: string[]
): Promise<Record<string, unknown>> {
  const printed: string[] = [];
  const print = (line: string) => void printed.push(line);
  const exitCode = await runOperator([...command, '--output', 'json'], environment, print, print);
  const text = printed.join('\n');
  if (exitCode !== 0) throw new Error(`operator ${command.join(' ')}: ${text}`);
  return text.startsWith('{') ? JSON.parse(text) : {};
}

async function askAs(
  apiUrl: string,
  merchant: Merchant,
  method: 'GET' | 'PATCH' | 'POST',
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await request(apiUrl + path, {
    method,
    headers: {
      authorization: `API-Key ${merchant.apiKey}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path} returned ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as Answer;
}

/** Metrics of work that is not done yet. */
const WORK_METRICS =
  /^hookrail_(backlog|consumer_lag|oldest|in_flight|partition_stalled|parked|quarantined|stuck|producer_waiting)[a-z_]*(\{|\s)/;

async function unfinishedWorkOf(processes: readonly ServiceProcess[]): Promise<string> {
  const metrics = await Promise.all(processes.map(({ opsUrl }) => readMetrics(opsUrl)));
  const lines = metrics.join('\n').split('\n');
  return lines.filter((line) => WORK_METRICS.test(line) && !/ 0$/.test(line)).join('\n');
}

async function readMetrics(operationsUrl: string): Promise<string> {
  const answer = await request(`${operationsUrl}/metrics`);
  return answer.body.text();
}

/** Returns a counter's value, summed over its labels. */
async function readCounter(operationsUrl: string, name: string): Promise<number> {
  const lines = (await readMetrics(operationsUrl)).matchAll(
    new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'),
  );
  return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
}

async function untilReady(operationsUrl: string): Promise<void> {
  const giveUpAt = wallClock() + READY_MS_MAX;
  for (;;) {
    const answer = await request(`${operationsUrl}/readyz`).catch(() => null);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return;
    if (wallClock() > giveUpAt) throw new Error(`the service was not ready after ${READY_MS_MAX} ms`);
    await sleep(READY_POLL_MS);
  }
}
