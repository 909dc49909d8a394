import { type Admin, Kafka, logLevel } from 'kafkajs';
import { pino } from 'pino';
import { type KafkaBroker, startKafkaBroker } from '../../../services/broker/kafka/kafka-broker.ts';
import { KafkaRecords } from '../../../services/broker/kafka/registry/records.ts';
import { SchemaRegistry } from '../../../services/broker/kafka/registry/registry.ts';
import type { RepeatWindow } from '../../../services/broker/kafka/seen/windows.ts';
import type { TopicSpec } from '../../../services/broker/kafka/topics/topic-spec.ts';
import { prepareTopics, topicNames, topicSpecs } from '../../../services/broker/kafka/topics/topics.ts';
import { kafkaClient } from '../../../services/kafka-client/client/client.ts';
import { type Clock, systemClock } from '../../../services/process/clock.ts';
import { systemRandom } from '../../../services/process/random.ts';
import type { Logger } from '../../../services/telemetry/logger.ts';
import type { Installation } from '../../contract/broker-bench.ts';
import type { BreakableLine } from '../faults/breakable-line.ts';
import type { KafkaForTests } from './address.ts';
import { freshPrefix } from './suites.ts';

const RETRY_SCALE = 1000;
const REPEATS: RepeatWindow = { windowMs: 3_600_000, idsMax: 100_000 };
/** Fewer than in production: each test creates and deletes its own. */
const PARTITIONS = {
  events: 3,
  deliver: 3,
  'retry.3s': 2,
  'retry.66s': 2,
  'retry.731s': 2,
  'retry.4098s': 1,
  'retry.15627s': 1,
  'retry.46658s': 1,
  test: 1,
  replay: 2,
  journal: 2,
  dead: 2,
  quarantine: 2,
};

let records: Promise<KafkaRecords> | null = null;

export interface KafkaInstallation extends Installation {
  /** The prefix of its topics; the group that reads a topic has the topic's name. */
  readonly prefix: string;
  readonly records: KafkaRecords;
  /** Opens an engine, optionally with its own clock. With a `line`, its writes go through that; its reads do not. */
  open(own?: {
    readonly clock?: Clock;
    readonly line?: BreakableLine;
    readonly repeats?: RepeatWindow;
    readonly log?: Logger;
  }): Promise<KafkaBroker>;
}

/** Creates an installation with its own topics on the shared cluster. `create`: replaces the creation by a process. */
export async function kafkaInstallation(
  { brokers, registryUrl }: KafkaForTests,
  create?: (admin: Admin, specs: readonly TopicSpec[]) => Promise<void>,
): Promise<KafkaInstallation> {
  const clock = systemClock();
  const log = pino({ level: 'silent' });
  const prefix = freshPrefix();
  const eventsTopic = `${prefix}events.in`;
  const kafka = kafkaClient({ brokers, clientId: 'hookrail-test', tls: null, sasl: null, log });
  const registry = new SchemaRegistry({ url: registryUrl, auth: null, ca: null, clock });
  records ??= KafkaRecords.open(registry, { clock, log, mayRegister: true, giveUpMs: 10_000 });
  const admin = kafka.admin();
  await admin.connect();
  const options = {
    brokers,
    environment: 'sandbox' as const,
    replicationFactor: null,
    createTopics: true,
    clock,
    log,
    topicPrefix: prefix,
    eventsTopic,
    partitions: PARTITIONS,
  };
  await create?.(admin, topicSpecs(options, 1));
  const partitions = await prepareTopics(admin, options);
  const known = await records;
  return {
    clock,
    prefix,
    records: known,
    retryScale: RETRY_SCALE,
    open: (own = {}) =>
      startKafkaBroker({
        kafka: own.line ? writingOver(own.line, brokers, kafka) : kafka,
        access: { brokers, clientId: 'hookrail-test', tls: null, sasl: null },
        records: known,
        topics: topicNames(prefix, eventsTopic),
        partitions,
        groupPrefix: '',
        clusterId: 'test',
        grant: ({ operation, name }) => `grant ${operation} on ${name}`,
        random: systemRandom,
        publishesDirectory: true,
        clock: own.clock ?? clock,
        retryScale: RETRY_SCALE,
        repeats: own.repeats ?? REPEATS,
        log: own.log ?? log,
      }),
    crash: (broker) => (broker as KafkaBroker).abandon(),
    async dispose() {
      await admin.deleteTopics({ topics: [...partitions.keys()] }).catch(() => {});
      await admin.disconnect();
    },
  };
}

function writingOver({ socketFactory }: BreakableLine, brokers: string[], reading: Kafka): Kafka {
  const writing = new Kafka({ brokers, logLevel: logLevel.NOTHING, socketFactory });
  writing.admin = (options) => reading.admin(options);
  writing.consumer = (options) => reading.consumer(options);
  return writing;
}
