import { Kafka, type LogEntry, logLevel } from 'kafkajs';
import { ConfigError } from '../../../config/config.ts';
import { hushNegativeTimeouts } from '../../../messages/timer-warnings.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { readFetchAnswersOurselves } from '../fetch/fetch-answers.ts';
import { readMetadataAnswersOurselves } from '../fetch/metadata-answers.ts';
import { connectionOf, type KafkaAccess } from './access.ts';
import { ANSWER_MS_MAX, doNotWaitForSilentBrokers } from './silent-brokers.ts';

/** The connection to the brokers. */
export interface KafkaOptions extends KafkaAccess {
  readonly log: Logger;
}

const CONNECTION_TIMEOUT_MS = 3000;
/**
 * Six tries within about 6 s: longer than a broker needs to come back from a restart of its listener, short enough to
 * report a wrong address at start. Callers that must outlast an outage retry by themselves.
 */
const RETRY = { retries: 5, initialRetryTime: 200, maxRetryTime: 5000 } as const;

/** Returns a kafkajs client that writes into our log. Connects to nothing yet. */
export function kafkaClient(options: KafkaOptions): Kafka {
  hushNegativeTimeouts();
  readFetchAnswersOurselves();
  readMetadataAnswersOurselves();
  doNotWaitForSilentBrokers();
  return new Kafka({
    ...connectionOf(options),
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    // Requests that take longer have time-outs of their own.
    requestTimeout: ANSWER_MS_MAX,
    retry: RETRY,
    // kafkajs creates its debug lines in any case and drops them here; they may contain payloads.
    logLevel: options.log.isLevelEnabled('debug') ? logLevel.INFO : logLevel.WARN,
    logCreator: () => (entry) => writeLog(options.log, entry),
  });
}

/** Levels of kafkajs's lines. Its errors are steps of its own retries: the engine reports them in its own messages. */
const LEVELS = {
  [logLevel.NOTHING]: 'trace',
  [logLevel.ERROR]: 'info',
  [logLevel.WARN]: 'debug',
  [logLevel.INFO]: 'debug',
  [logLevel.DEBUG]: 'trace',
} as const;

/** Logged fields: the others may contain payloads, or useless stacks. */
const FIELDS = [
  'broker',
  'clientId',
  'groupId',
  'topic',
  'partition',
  'retryCount',
  'retryTime',
  'error',
] as const;

function writeLog(log: Logger, { namespace, level, log: entry }: LogEntry): void {
  const fields = FIELDS.filter((name) => entry[name] !== undefined).map((name) => [name, entry[name]]);
  log[LEVELS[level]](
    { part: 'kafkajs', namespace, ...Object.fromEntries(fields) },
    oneLine(String(entry.message)),
  );
}

/** An unusable cluster. The message is the one line that an operator reads. */
export class KafkaUnusable extends Error {
  override readonly name = 'KafkaUnusable';
}

/** The fields of a kafkajs error. Its classes are recognised by name, because instanceof fails in some bundles. */
interface KafkaFailure extends Error {
  readonly type?: string;
  readonly code?: string | number;
  readonly broker?: string;
  readonly topic?: string;
}

/** Returns the error under retries and aggregates. */
export function rootOf(error: unknown): KafkaFailure {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error.name === 'KafkaJSAggregateError' && 'errors' in error && Array.isArray(error.errors)) {
    const telling = error.errors.find((each) => each?.type !== 'TOPIC_ALREADY_EXISTS');
    return rootOf(telling ?? error.errors[0]);
  }
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}

const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'];
const CUT_OFF = ['ECONNRESET', 'EPIPE'];

/**
 * Explains an error in one line for an operator: what is wrong, where, and which variable or permission to check. No
 * secrets.
 */
export function explainKafkaError(error: unknown, brokers: readonly string[]): string {
  if (error instanceof KafkaUnusable || error instanceof ConfigError) return error.message;
  const root = rootOf(error);
  const said = oneLine(root.message);
  if (root.name.startsWith('KafkaJSConnection')) return explainConnection(root, said, brokers);
  if (root.name === 'KafkaJSSASLAuthenticationError' || /SASL/.test(root.type ?? '')) {
    return (
      `Kafka authentication failed (${said}): check HOOKRAIL_KAFKA_SASL_MECHANISM, ` +
      'HOOKRAIL_KAFKA_SASL_USERNAME and HOOKRAIL_KAFKA_SASL_PASSWORD'
    );
  }
  if (root.type?.endsWith('_AUTHORIZATION_FAILED')) return explainRefusal(root.type, root.topic);
  switch (root.type) {
    case 'UNKNOWN_TOPIC_OR_PARTITION':
      return `a topic${root.topic ? ` (${root.topic})` : ''} is missing or hidden from the Kafka user: \`hookrail operator topics\` lists topics and permissions`;
    case 'LEADER_NOT_AVAILABLE':
      return 'a partition has no leader: its brokers are down, or it was created a moment ago';
    case 'INVALID_REPLICATION_FACTOR':
      return `${root.topic ?? 'a topic'} cannot have so many replicas: the cluster has fewer brokers than HOOKRAIL_KAFKA_REPLICATION_FACTOR`;
    default:
      return `Kafka at ${brokers.join(',')}: ${root.topic ? `${root.topic}: ` : ''}${said}`;
  }
}

function explainConnection(root: KafkaFailure, said: string, brokers: readonly string[]): string {
  const code = String(root.code ?? '');
  const where = root.broker ?? brokers.join(',');
  if (UNREACHABLE.includes(code) || /connection timeout/i.test(said)) {
    if (brokers.includes(where) || root.broker === undefined) {
      return `no Kafka broker answers at ${brokers.join(',')}: check HOOKRAIL_KAFKA_BROKERS (${said})`;
    }
    return `Kafka advertises a broker at ${where} that cannot be reached from here: check its advertised.listeners (${said})`;
  }
  if (code === '' || CUT_OFF.includes(code)) {
    return (
      `the broker at ${where} closes the connection (${said}): check whether its listener expects ` +
      'TLS (HOOKRAIL_KAFKA_TLS) or a user (HOOKRAIL_KAFKA_SASL_MECHANISM)'
    );
  }
  return (
    `TLS with the broker at ${where} fails (${code}, ${said}): check HOOKRAIL_KAFKA_TLS, ` +
    'HOOKRAIL_KAFKA_TLS_CA_FILE, HOOKRAIL_KAFKA_TLS_CERT_FILE and HOOKRAIL_KAFKA_TLS_KEY_FILE'
  );
}

/**
 * Explains `TOPIC_AUTHORIZATION_FAILED` and the like: Kafka names the kind of resource, and only sometimes the
 * resource.
 */
function explainRefusal(type: string, topic: string | undefined): string {
  const kind = type.replace('_AUTHORIZATION_FAILED', '').replaceAll('_', ' ').toLowerCase();
  return (
    `the Kafka user has no permission for this ${kind}${topic ? ` (${topic})` : ''}: ` +
    'grant the ACLs that `hookrail operator topics` prints'
  );
}

function oneLine(text: string): string {
  return text
    .split(/[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}
