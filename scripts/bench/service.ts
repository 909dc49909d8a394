import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import type { DomainEvent } from '../../services/domain/event.ts';
import { runOperator } from '../../services/operator.ts';
import { startChild } from './child.ts';
import { DATA_DIR, type Engine, ROOT } from './engines.ts';
import { sleep } from './load.ts';
import { wallClock } from './measure.ts';

const READY_MS_MAX = 60_000;
const READY_POLL_MS = 100;
const STOP_MS_MAX = 30_000;
/** So much of the end of a failed service's log is shown, in characters. */
const LOG_SHOWN = 4000;
/** Time for a new endpoint to be known to the router (design: the directory, one second when healthy). */
const DIRECTORY_MS = 1500;

/** A service of its own data directory, running as its own process. */
export interface Service {
  readonly pid: number;
  readonly apiUrl: string;
  readonly producerKey: string;
  readonly merchantIds: readonly string[];
  /** Makes durable so many events like these, in turn, with a producer inside the service; see `prepare`. */
  publish(count: number): Promise<void>;
  prepare(templates: readonly DomainEvent[]): Promise<void>;
  /** Registers one endpoint for each merchant, by REST. */
  createEndpoints(url: (index: number) => string): Promise<void>;
  /** Entries of the delivery log so far: one per routed event, one per attempt. */
  recordedEntries(): Promise<number>;
  /** Tasks put back so far because their endpoint's window and queue were full. */
  parkedTasks(): Promise<number>;
  /** Rejects when the process ends before it is told to, with the end of what it wrote. */
  readonly failed: Promise<never>;
  /** Ends the process and removes its data. */
  stop(): Promise<void>;
}

interface Merchant {
  readonly merchantId: string;
  readonly apiKey: string;
}

/** Starts the built service with so many merchants, on the disk that holds the checkout. */
export async function startService(engine: Engine, ca: string, merchantCount: number): Promise<Service> {
  mkdirSync(DATA_DIR, { recursive: true });
  const dataDir = mkdtempSync(join(DATA_DIR, 'bench-'));
  writeFileSync(join(dataDir, 'ca.crt'), ca);
  const [apiPort, opsPort] = await freePorts();
  const environment = { ...environmentOf(dataDir, apiPort, opsPort), ...engine.environment() };
  await operator(environment, 'keyring', 'create', '--out', join(dataDir, 'keyring.json'));
  const logFile = join(dataDir, 'service.log');
  const log = openSync(logFile, 'w');
  const started = startChild('./service-process.mjs', {
    cwd: ROOT,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, ...environment },
  });
  const child = started.process;
  // However the benchmark ends, the service does not outlive it, nor do its files.
  const cleanUp = () => {
    child.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  };
  process.once('exit', cleanUp);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let isTold = false;
  const failed = exited.then(() => {
    if (isTold) return new Promise<never>(() => {});
    throw new Error(`the service ended:\n${readFileSync(logFile, 'utf8').slice(-LOG_SHOWN)}`);
  });
  failed.catch(() => {});
  const operationsUrl = `http://127.0.0.1:${opsPort}`;
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const stop = async () => {
    isTold = true;
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    await exited;
    clearTimeout(kill);
    process.removeListener('exit', cleanUp);
    cleanUp();
  };
  const setUp = async () => {
    await Promise.race([untilReady(operationsUrl), failed]);
    return createMerchants(environment, merchantCount);
  };
  // A service that did not become usable must not go on running behind the error.
  const { merchants, producerKey } = await setUp().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    pid: child.pid ?? 0,
    apiUrl,
    producerKey,
    prepare: (templates) => started.ask('prepare', templates),
    publish: (count) => started.ask('publish', count),
    merchantIds: merchants.map(({ merchantId }) => merchantId),
    async createEndpoints(url) {
      for (const [index, merchant] of merchants.entries()) await createEndpoint(apiUrl, merchant, url(index));
      await sleep(DIRECTORY_MS);
    },
    recordedEntries: () => readCounter(operationsUrl, 'hookrail_journal_entries_recorded_total'),
    parkedTasks: () => readCounter(operationsUrl, 'hookrail_parked_total'),
    failed,
    stop,
  };
}

/** Limits that would stop the load are raised; everything else is as a user gets it, the log's level included. */
function environmentOf(dataDir: string, apiPort: number, opsPort: number): Record<string, string> {
  return {
    HOOKRAIL_DATA_DIR: dataDir,
    HOOKRAIL_KEYRING: join(dataDir, 'keyring.json'),
    HOOKRAIL_API_PORT: `${apiPort}`,
    HOOKRAIL_OPS_PORT: `${opsPort}`,
    HOOKRAIL_EXTRA_CA_FILE: join(dataDir, 'ca.crt'),
    HOOKRAIL_EGRESS_ALLOW: '127.0.0.0/8,localhost',
    HOOKRAIL_RATE_LIMIT_PER_MINUTE: '1000000',
  };
}

/** Makes merchants and their keys with the operator's tool, as an operator would. */
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

async function createEndpoint(apiUrl: string, merchant: Merchant, url: string): Promise<void> {
  const answer = await request(`${apiUrl}/merchant/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `API-Key ${merchant.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, description: 'benchmark' }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 201)
    throw new Error(`creating an endpoint answered ${answer.statusCode}: ${text}`);
}

/** A counter's value, summed over its labels. */
async function readCounter(operationsUrl: string, name: string): Promise<number> {
  const answer = await request(`${operationsUrl}/metrics`);
  const lines = (await answer.body.text()).matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'));
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

/** Two ports that were free a moment ago. Both are held until both are known, so that they differ. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            resolve(typeof address === 'object' && address ? address.port : 0);
          });
        }),
    ),
  );
  for (const server of servers) server.close();
  return [ports[0] ?? 0, ports[1] ?? 0];
}
