import { connect, createServer } from 'node:net';
import { withoutTrailing } from '../../services/domain/text/trimmed.ts';
import type { Session } from '../session.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const ANSWER_MS_MAX = 3000;
const PORTS = [
  { variable: 'HOOKRAIL_API_PORT', port: 8080 },
  { variable: 'HOOKRAIL_OPS_PORT', port: 8081 },
] as const;

/** Checks, while no sandbox answers, whether one could start: its ports must be free. */
export async function checkPorts({ surroundings: { environment } }: Session): Promise<readonly Finding[]> {
  const checks = PORTS.map(async ({ variable, port: usual }) => {
    const port = Number(environment[variable] ?? usual);
    if (await isFree(port)) return ok('port', `${port} is free`);
    return warn(
      'port',
      `another program uses port ${port}`,
      `let the sandbox take any free one: ${variable}=0 hookrail start`,
    );
  });
  return Promise.all(checks);
}

/** Checks the brokers and the schema registry of a service on Kafka. */
export async function checkKafka(session: Session): Promise<readonly Finding[]> {
  const { settings, signal } = session;
  const brokers = settings.find('kafkaBrokers');
  const registry = settings.find('schemaRegistryUrl');
  const help = 'start Kafka: npm run kafka:local';
  const ofBrokers = (brokers?.value.split(',') ?? []).map(async (broker) => {
    const where = /^(.+):(\d+)$/.exec(broker.trim());
    if (where === null) return fail('Kafka', `"${broker}" (from ${brokers?.source}) is not host:port`, help);
    const reason = await reached(where[1] ?? '', Number(where[2]));
    return reason === null ? ok('Kafka', `${broker} answers`) : fail('Kafka', `${broker}: ${reason}`, help);
  });
  const ofRegistry = registry === undefined ? [] : [checkRegistry(registry.value, signal, help)];
  const findings = await Promise.all([...ofBrokers, ...ofRegistry]);
  return brokers === undefined
    ? [
        warn(
          'Kafka',
          'the service runs on Kafka, and this shell does not name its brokers',
          '--kafka-brokers …',
        ),
      ]
    : findings;
}

async function checkRegistry(url: string, signal: AbortSignal, help: string): Promise<Finding> {
  const within = AbortSignal.any([AbortSignal.timeout(ANSWER_MS_MAX), signal]);
  try {
    const response = await fetch(`${withoutTrailing(url, '/')}/subjects`, { signal: within });
    await response.body?.cancel();
    if (response.ok) return ok('registry', `${url} answers`);
    return fail('registry', `${url} answers ${response.status}`, help);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = (cause as NodeJS.ErrnoException).code ?? 'no answer in time';
    return fail('registry', `${url} cannot be reached (${reason})`, help);
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Returns why a port cannot be reached; null when it can. */
function reached(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_MS_MAX });
    const done = (reason: string | null) => {
      socket.destroy();
      resolve(reason);
    };
    socket.once('connect', () => done(null));
    socket.once('timeout', () => done('no answer in time'));
    socket.once('error', (error: NodeJS.ErrnoException) => done(`cannot be reached (${error.code})`));
  });
}
