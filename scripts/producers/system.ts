/** The system under test: hookrail as one process with all roles, a merchant, and its HTTPS receiver. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import { runOperator } from '../../services/operator.ts';
import { createAuthority, issueCertificate } from '../../simulator/receiver/certificate-authority.ts';
import { freePort } from '../free-ports.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const READY_MS_MAX = 90_000;
const POLL_MS = 100;
/** The time until the router knows a new endpoint. */
const IN_FORCE_MS = 1500;
const PAGE = 1000;

export interface Arrival {
  readonly body: string;
  /** The number of requests with this event id. */
  readonly times: number;
  /** The time at which the first of them was complete, milliseconds since the epoch. */
  readonly at: number;
}

/** A record in the quarantine, as the operator's tool lists it. */
export interface QuarantineEntry {
  readonly position: string;
  readonly reason: string;
  readonly detail: string;
  readonly eventId: string | null;
  /** topic/partition@offset */
  readonly place?: string | null;
}

export interface System {
  readonly eventsTopic: string;
  readonly merchantId: string;
  /** The receiver's requests, by event id. */
  readonly arrivals: ReadonlyMap<string, Arrival>;
  quarantine(): Promise<readonly QuarantineEntry[]>;
  /** Lines of its log at error level or above. */
  readonly errors: readonly string[];
  stop(): Promise<void>;
}

export interface SystemOptions {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  /** The prefix of all topic names. */
  readonly topicPrefix: string;
  /** The number of partitions of the events topic. */
  readonly partitions: number;
}

/** Starts the system and resolves when published events are delivered. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hookrail-producers-'));
  const arrivals = new Map<string, Arrival>();
  const errors: string[] = [];
  const stops: (() => Promise<void> | void)[] = [() => rmSync(dataDir, { recursive: true, force: true })];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const receiver = await startReceiver(dataDir, arrivals);
    stops.push(receiver.close);
    const environment = await environmentOf(dataDir, options);
    await createEventsTopic(environment.HOOKRAIL_EVENTS_TOPIC, options);
    await operator(environment, 'keyring', 'create', '--out', environment.HOOKRAIL_KEYRING);
    const service = startService(environment, errors);
    stops.push(service.stop);
    await Promise.race([untilReady(environment.HOOKRAIL_OPS_PORT, errors), service.failed]);
    const { merchantId } = (await operator(environment, 'merchants', 'create', '--name', 'Producers')) as {
      merchantId: string;
    };
    const { key } = (await operator(environment, 'keys', 'create', '--merchant', merchantId)) as {
      key: string;
    };
    await createEndpoint(environment.HOOKRAIL_API_PORT, key, receiver.url);
    return {
      eventsTopic: environment.HOOKRAIL_EVENTS_TOPIC,
      ...{ merchantId, arrivals, errors, stop },
      quarantine: () => quarantineOf(environment),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type ServiceEnvironment = Awaited<ReturnType<typeof environmentOf>>;

async function environmentOf(dataDir: string, options: SystemOptions) {
  const { brokers, registryUrl, topicPrefix, partitions } = options;
  const own = 'retry.3s=1,retry.66s=1,retry.731s=1,retry.4098s=1,retry.15627s=1,retry.46658s=1';
  return {
    HOOKRAIL_DATA_DIR: dataDir,
    HOOKRAIL_KEYRING: join(dataDir, 'keyring.json'),
    HOOKRAIL_API_PORT: `${await freePort()}`,
    HOOKRAIL_OPS_PORT: `${await freePort()}`,
    HOOKRAIL_EXTRA_CA_FILE: join(dataDir, 'ca.crt'),
    HOOKRAIL_EGRESS_ALLOW: '127.0.0.0/8,localhost',
    HOOKRAIL_LOG_LEVEL: 'error',
    HOOKRAIL_ENGINE: 'kafka',
    HOOKRAIL_KAFKA_BROKERS: brokers.join(','),
    HOOKRAIL_SCHEMA_REGISTRY_URL: registryUrl,
    HOOKRAIL_TOPIC_PREFIX: topicPrefix,
    HOOKRAIL_EVENTS_TOPIC: `${topicPrefix}payments.events`,
    HOOKRAIL_KAFKA_PARTITIONS: `events=${partitions},deliver=3,${own},test=1,replay=1,journal=2,dead=1,quarantine=2`,
  };
}

/** Creates the events topic as the platform's administrator does, with the default settings of a cluster. */
export async function createEventsTopic(
  topic: string,
  { brokers, partitions }: Pick<SystemOptions, 'brokers' | 'partitions'>,
): Promise<void> {
  const kafka = new Kafka({ clientId: 'administrator', brokers: [...brokers], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions }], waitForLeaders: false });
  await admin.disconnect();
}

async function startReceiver(dataDir: string, arrivals: Map<string, Arrival>) {
  const authority = await createAuthority();
  writeFileSync(join(dataDir, 'ca.crt'), authority.certPem);
  const { certPem, keyPem } = await issueCertificate(authority, { hosts: ['localhost', '127.0.0.1'] });
  const server: Server = createServer({ cert: certPem, key: keyPem }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const eventId = `${request.headers['webhook-id']}`;
    const { times = 0, at = Date.now() } = arrivals.get(eventId) ?? {};
    arrivals.set(eventId, { body: Buffer.concat(chunks).toString(), times: times + 1, at });
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}/webhooks`, close };
}

function startService(environment: ServiceEnvironment, errors: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'services/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => errors.push(line));
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let isStopping = false;
  const failed = exited.then(() => {
    if (isStopping) return new Promise<never>(() => {});
    throw new Error(`hookrail exited:\n${errors.slice(-10).join('\n')}`);
  });
  failed.catch(() => {});
  return {
    failed,
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      const late = setTimeout(kill, 15_000);
      await exited;
      clearTimeout(late);
      process.off('exit', kill);
    },
  };
}

async function untilReady(opsPort: string, errors: readonly string[]): Promise<void> {
  for (const until = Date.now() + READY_MS_MAX; Date.now() < until; await sleep(POLL_MS)) {
    const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`).catch(() => null);
    if (answer?.status === 200) return;
  }
  throw new Error(`hookrail was not ready after ${READY_MS_MAX / 1000} s:\n${errors.slice(-10).join('\n')}`);
}

async function createEndpoint(apiPort: string, key: string, url: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${apiPort}/merchant/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `API-Key ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, description: 'producers' }),
  });
  if (answer.status !== 201) throw new Error(`creating an endpoint failed: ${await answer.text()}`);
  await sleep(IN_FORCE_MS);
}

/** Returns all pages of the quarantine. */
async function quarantineOf(environment: ServiceEnvironment): Promise<readonly QuarantineEntry[]> {
  const entries: QuarantineEntry[] = [];
  for (;;) {
    const after = entries.at(-1)?.position;
    const page = [
      'quarantine',
      'list',
      '--limit',
      `${PAGE}`,
      ...(after === undefined ? [] : ['--after', after]),
    ];
    const found = (await operator(environment, ...page)) as readonly QuarantineEntry[];
    entries.push(...found);
    if (found.length < PAGE) return entries;
  }
}

async function operator(
  environment: Readonly<Record<string, string>>,
  ...command: string[]
): Promise<unknown> {
  const printed: string[] = [];
  const print = (line: string) => void printed.push(line);
  const code = await runOperator([...command, '--output', 'json'], environment, print, print);
  const text = printed.join('\n');
  if (code !== 0) throw new Error(`operator ${command.join(' ')}: ${text}`);
  return /^[[{]/.test(text) ? JSON.parse(text) : {};
}
