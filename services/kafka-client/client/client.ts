import { Kafka, type LogEntry, logLevel } from 'kafkajs';
import { oneLine } from '../../messages/one-line.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { readFetchAnswersOurselves } from '../fetch/fetch-answers.ts';
import { readMetadataAnswersOurselves } from '../fetch/metadata-answers.ts';
import { connectionOf, type KafkaAccess } from './access.ts';
import { lookOnlyForWaitingRequests } from './request-queue.ts';
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
  readFetchAnswersOurselves();
  readMetadataAnswersOurselves();
  doNotWaitForSilentBrokers();
  lookOnlyForWaitingRequests();
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

/** The fields of a kafkajs error. Its classes are recognised by name, because instanceof fails in some bundles. */
export interface KafkaFailure extends Error {
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
