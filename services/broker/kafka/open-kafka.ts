import type { KafkaConfig } from '../../config/kafka-config.ts';
import { readRegistryCa, readTlsFiles } from '../../config/kafka-config.ts';
import { readSasl } from '../../config/kafka-sasl.ts';
import type { Culprits } from '../../domain/stalls/stall.ts';
import { kafkaClient, rootOf } from '../../kafka-client/client/client.ts';
import type { Clock } from '../../process/clock.ts';
import type { Random } from '../../process/random.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Activity } from '../../watchdog/activity.ts';
import { explainKafkaError, isTokenFailure } from './explain-error.ts';
import { type KafkaBroker, startKafkaBroker } from './kafka-broker.ts';
import { KafkaRecords } from './registry/records.ts';
import { SchemaRegistry } from './registry/registry.ts';
import { grantCommand } from './topics/topic-commands.ts';
import { prepareTopics, topicNames } from './topics/topics.ts';

/** The time that a registry started together with us may take. */
const REGISTRY_MS_MAX = 30_000;

export interface OpenKafkaOptions {
  readonly kafka: KafkaConfig;
  readonly environment: 'sandbox' | 'production';
  readonly retryScale: number;
  readonly clientId: string;
  /** Whether this process publishes directory changes: it then restores those that a late one overwrote. */
  readonly publishesDirectory: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly activity?: Activity;
  readonly culprits?: Culprits;
}

/** Connects to brokers and registry, and prepares the topics. Rejects with one line for an operator. */
export async function openKafkaBroker(options: OpenKafkaOptions): Promise<KafkaBroker> {
  const { kafka: config, clock, log, random, activity, culprits } = options;
  const { brokers, registry, topicPrefix, eventsTopic } = config;
  const tls = readTlsFiles(config.tls);
  const sasl = readSasl(config.sasl);
  const registryCa = readRegistryCa(registry);
  const access = { brokers, clientId: options.clientId, tls, sasl };
  const kafka = kafkaClient({ ...access, log });
  // A failed start prints one line, without kafkajs's account of every try.
  const quiet = log.isLevelEnabled('debug') ? log : log.child({}, { level: 'silent' });
  const admin = kafkaClient({ ...access, log: quiet }).admin();
  try {
    await admin.connect();
    const partitions = await prepareTopics(admin, {
      ...config,
      ...options,
      grant: (right) => grantCommand(config, right),
    });
    const { clusterId } = await admin.describeCluster();
    const records = await KafkaRecords.open(
      new SchemaRegistry({ url: registry.url, auth: registry.credentials, ca: registryCa, clock }),
      { clock, log, mayRegister: registry.mayRegister, giveUpMs: REGISTRY_MS_MAX },
    );
    return await startKafkaBroker({
      kafka,
      access,
      activity,
      culprits,
      records,
      topics: topicNames(topicPrefix, eventsTopic),
      partitions,
      groupPrefix: topicPrefix,
      clusterId,
      grant: (right) => grantCommand(config, right),
      clock,
      random,
      retryScale: options.retryScale,
      repeats: config.repeats,
      publishesDirectory: options.publishesDirectory,
      log,
    });
  } catch (error) {
    throw isKafkaError(error) ? new Error(explainKafkaError(error, brokers)) : error;
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

function isKafkaError(error: unknown): boolean {
  return error instanceof Error && (error.name.startsWith('KafkaJS') || isTokenFailure(rootOf(error)));
}
