import { Kafka, logLevel } from 'kafkajs';
import { onTestFinished } from 'vitest';
import { KafkaDirectory } from '../../../services/broker/kafka/directory/directory.ts';
import { QuarantineStore } from '../../../services/broker/kafka/quarantine/quarantine-store.ts';
import { deadLetterStore } from '../../../services/broker/kafka/quarantine/topic-record-store.ts';
import { KafkaRecords } from '../../../services/broker/kafka/registry/records.ts';
import { SchemaRegistry } from '../../../services/broker/kafka/registry/registry.ts';
import { Outgoing } from '../../../services/broker/kafka/streams/settle.ts';
import { topicNames } from '../../../services/broker/kafka/topics/topics.ts';
import { Admins } from '../../../services/kafka-client/client/admins.ts';
import { brokersOf } from '../../../services/kafka-client/client/kafkajs-brokers.ts';
import { TopicReader } from '../../../services/kafka-client/client/topic-reader.ts';
import { KafkaProducer } from '../../../services/kafka-client/producer/producer.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../eventually.ts';
import { BreakableLine } from '../faults/breakable-line.ts';
import { startFakeRegistry } from './fake-registry.ts';
import { SAME_TIME } from './same-time.ts';
import { freshPrefix } from './suites.ts';

const APPENDED = [{ name: 'message.timestamp.type', value: 'LogAppendTime' }];
const COMPACT = [{ name: 'cleanup.policy', value: 'compact' }];

export type Tables = Awaited<ReturnType<typeof openTables>>;

/** Opens a directory and the record stores on their own topics. Everything is closed when the test has finished. */
export async function openTables(brokers: readonly string[]) {
  const prefix = freshPrefix();
  const topics = topicsOf(prefix);
  const clock = systemClock();
  const lines: { readonly level: number; readonly msg: string; readonly [field: string]: unknown }[] = [];
  const log = createLogger('debug', { write: (line) => void lines.push(JSON.parse(line)) });
  const line = await BreakableLine.open();
  const kafka = clientOf(brokers);
  const admins = new Admins(kafka, clock, log);
  await createTopics(admins, topics);
  const partitions = new Map(
    Object.values(topics).map((topic) => [topic, topic === topics.directory ? 1 : 3]),
  );
  const sender = new KafkaProducer({ cluster: () => brokersOf(kafka, clock), clock, log, partitions });
  await sender.open();
  const fake = await startFakeRegistry();
  const registry = new SchemaRegistry({ url: fake.url, auth: null, ca: null, clock });
  const records = await KafkaRecords.open(registry, { clock, log, mayRegister: true, giveUpMs: 10_000 });
  const base = { clock, log, records, sender, random: systemRandom, groupPrefix: prefix };
  const names = topicNames(prefix, topics.events);
  const partitionOf = sender.partitionOf.bind(sender);
  const outgoing = new Outgoing({ records, topics: names, partitionOf, retryScale: 1, time: SAME_TIME });
  const readerOn = (client: Kafka) => new TopicReader({ ...base, kafka: client, admins });
  const directoryOn = (client: Kafka, asking = admins) =>
    new KafkaDirectory({ ...base, kafka: client, admins: asking, topic: topics.directory });
  const brokenKafka = clientOf(brokers, line);
  const brokenAdmins = new Admins(brokenKafka, clock, log);
  const reader = readerOn(kafka);
  const directory = directoryOn(kafka);
  const fragile = directoryOn(brokenKafka, brokenAdmins);
  onTestFinished(async () => {
    // First, because it ends the requests that wait for a response that never comes.
    line.close();
    await Promise.all([directory.close(), fragile.close(), reader.close()]);
    await Promise.all([
      sender.abandon(),
      admins.ask((admin) => admin.deleteTopics({ topics: Object.values(topics) })),
    ]);
    await Promise.all([admins.close(), brokenAdmins.close(), registry.close(), fake.down()]);
  });
  return {
    topics,
    kafka,
    admins,
    sender,
    records,
    fake,
    lines,
    /** Breaks `fragile` and everything that uses `brokenKafka`, nothing else. */
    line,
    brokenKafka,
    fragile,
    directory,
    reader,
    readerOn,
    quarantineOn: (through: TopicReader) =>
      new QuarantineStore({
        ...{ ...base, partitions, outgoing, topics: names, reader: through },
        topic: topics.quarantine,
      }),
    deadLettersOn: (through: TopicReader) =>
      deadLetterStore({ ...base, reader: through, topic: topics.dead }),
    /** Returns all records of a topic. */
    contentOf: async (topic: string) => {
      const found: Parameters<Parameters<TopicReader['read']>[2]>[0][] = [];
      await reader.read(topic, undefined, (record) => void found.push(record));
      return found;
    },
  };
}

type Topics = ReturnType<typeof topicsOf>;

const topicsOf = (prefix: string) => ({
  directory: `${prefix}directory`,
  dead: `${prefix}dead`,
  quarantine: `${prefix}quarantine`,
  events: `${prefix}events`,
  deliver: `${prefix}deliver`,
  journal: `${prefix}journal`,
});

const APPEND_ONLY = { numPartitions: 3, configEntries: APPENDED };

async function createTopics(admins: Admins, { directory, ...others }: Topics): Promise<void> {
  const topics = [
    { topic: directory, numPartitions: 1, configEntries: COMPACT },
    ...Object.values(others).map((topic) => ({ topic, ...APPEND_ONLY })),
  ];
  await admins.ask((admin) => admin.createTopics({ topics, waitForLeaders: false }));
  // Brokers learn of a new topic one after the other.
  const exist = () => Promise.all(topics.map(({ topic }) => admins.boundsOf(topic, 0))).catch(() => false);
  await eventually('the topics exist', exist);
}

function clientOf(brokers: readonly string[], line?: BreakableLine): Kafka {
  return new Kafka({
    brokers: [...brokers],
    clientId: 'tables',
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3000,
    retry: { retries: 5, initialRetryTime: 200, maxRetryTime: 5000 },
    ...(line ? { socketFactory: line.socketFactory } : {}),
  });
}
