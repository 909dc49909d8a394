/**
 * The engine on Apache Kafka: any number of processes. Every stream is a topic, every delay a topic of its own, each read
 * by a consumer group of its own. A handler's results are acknowledged by all in-sync replicas before its input's
 * offset may be committed. No transactions: ids are deterministic, so work repeated by a crash is recognised.
 */
import { setMaxListeners } from 'node:events';
import type { DirectoryChange } from '../../domain/directory.ts';
import type { DeliveryTask, TaskClass } from '../../domain/task.ts';
import { Admins } from '../../kafka-client/client/admins.ts';
import { BrokerTime } from '../../kafka-client/client/broker-time.ts';
import { brokersOf } from '../../kafka-client/client/kafkajs-brokers.ts';
import { Retentions } from '../../kafka-client/client/retentions.ts';
import { TopicIds } from '../../kafka-client/client/topic-ids.ts';
import { TopicReader } from '../../kafka-client/client/topic-reader.ts';
import { COMMIT_MS } from '../../kafka-client/consumer/commits.ts';
import { SESSION_MS } from '../../kafka-client/consumer/group-member.ts';
import type { ReadRecord } from '../../kafka-client/consumer/partition.ts';
import { TopicConsumer } from '../../kafka-client/consumer/topic-consumer.ts';
import type { WhyUnusable } from '../../kafka-client/consumer/topic-consumer-options.ts';
import { KafkaProducer } from '../../kafka-client/producer/producer.ts';
import { MissingRights } from '../../kafka-client/rights/missing-rights.ts';
import type {
  Broker,
  BrokerCapabilities,
  Follower,
  ReceivedEvent,
  RouterResult,
  Settlement,
  Source,
} from '../broker.ts';
import type { BrokerStatus } from '../broker-status.ts';
import { KafkaDirectory } from './directory/directory.ts';
import { engineStatus } from './engine-status.ts';
import type { KafkaBrokerOptions } from './kafka-broker-options.ts';
import { Lag } from './lag/lag.ts';
import { lagTopics } from './lag/lag-topics.ts';
import { KafkaLosses } from './losses/kafka-losses.ts';
import { originOf, placeText, undecodable } from './quarantine/origin.ts';
import { QuarantineStore } from './quarantine/quarantine-store.ts';
import { deadLetterStore } from './quarantine/topic-record-store.ts';
import { windowsOf } from './seen/windows.ts';
import { StallTopic } from './stalls/stall-topic.ts';
import { EventsTopic } from './streams/events-topic.ts';
import { KafkaJournal } from './streams/journal-source.ts';
import { Publisher } from './streams/publisher.ts';
import { Outgoing } from './streams/settle.ts';
import { Sources } from './streams/sources.ts';
import { type OpenTopic, TaskStreams } from './streams/task-streams.ts';
import { timeQuestion } from './time/ask-time.ts';
import { keptRecords } from './topics/kept-records.ts';

const CLOSE_GRACE_MS = 5000;

/** The broker, with a way to end a process at once. */
export interface KafkaBroker extends Broker {
  /** Closes at once: nothing more is committed or sent. Unacknowledged work is delivered again. */
  abandon(): Promise<void>;
}

/** Connects. Rejects when the cluster cannot be reached. */
export async function startKafkaBroker(options: KafkaBrokerOptions): Promise<KafkaBroker> {
  const engine = new KafkaEngine(options);
  try {
    await engine.open();
    return engine;
  } catch (error) {
    await engine.abandon();
    throw error;
  }
}

class KafkaEngine implements KafkaBroker {
  readonly capabilities: BrokerCapabilities = {
    redeliveryMs: SESSION_MS + 5000,
    // A commit, and the one that may be under way.
    repeatsMs: 2 * COMMIT_MS,
    recognisesRepeatedEvents: false,
    multipleProcesses: true,
    hasRetention: true,
    keepsJournal: true,
  };
  readonly events: Source<ReceivedEvent, RouterResult>;
  readonly tasks: Readonly<Record<TaskClass, Source<DeliveryTask, Settlement>>>;
  readonly journal: KafkaJournal;
  readonly quarantine: QuarantineStore;
  readonly deadLetters: Broker['deadLetters'];
  readonly stalls: StallTopic;
  readonly remnants: Broker['remnants'];
  readonly losses: KafkaLosses;
  /** Never resolves: outages pass, and this engine waits for their end. */
  readonly failed = new Promise<Error>(() => {});
  readonly #options: KafkaBrokerOptions;
  readonly #closing = new AbortController();
  readonly #admins: Admins;
  /** Separate, so that proofs of freshness do not queue behind other requests. */
  readonly #directoryAdmins: Admins;
  readonly #topicIds: TopicIds;
  readonly #producer: KafkaProducer;
  readonly #lag: Lag;
  readonly #time: BrokerTime;
  readonly #rights: MissingRights;
  readonly #retentions: Retentions;
  readonly #outgoing: Outgoing;
  readonly #publisher: Publisher;
  readonly #directory: KafkaDirectory;
  readonly #reader: TopicReader;
  readonly #taskStreams: TaskStreams;
  readonly #sources: Sources;
  /** Everything that reads a topic as a member of a group. */
  readonly #consumers = new Set<TopicConsumer>();
  #end: Promise<void> | null = null;

  constructor(options: KafkaBrokerOptions) {
    const { kafka, records, topics, clock, log, partitions, retryScale } = options;
    this.#options = options;
    this.#time = new BrokerTime(options);
    // Every partition that waits for a schema listens.
    setMaxListeners(0, this.#closing.signal);
    this.#admins = new Admins(kafka, clock, log);
    this.#directoryAdmins = new Admins(kafka, clock, log);
    this.#topicIds = new TopicIds(kafka, clock, [...partitions.keys()]);
    const lagged = lagTopics(topics, (topic) => this.#groupOf(topic), retryScale);
    const retained = lagged.map(({ topic }) => topic);
    this.#retentions = new Retentions({ admins: this.#admins, clock, log, topics: retained });
    const time = this.#time;
    this.#lag = new Lag(this.#admins, clock, lagged, (topic) => this.#retentions.of(topic), time);
    this.#producer = new KafkaProducer({
      cluster: () => brokersOf(kafka, clock),
      clock,
      log,
      partitions,
      grant: (name) => options.grant({ operation: 'WRITE', resource: 'topic', name }),
      acknowledged: (topic, { partition, offset }) => this.#lag.appended(topic, partition, offset),
      appended: (broker, appendedAt, sentAt) => time.acknowledged(broker, appendedAt, sentAt),
    });
    const partitionOf = (topic: string, key: string) => this.#producer.partitionOf(topic, key);
    this.#outgoing = new Outgoing({ records, topics, partitionOf, retryScale, time });
    this.#rights = new MissingRights(log, options.grant);
    const deps = { ...options, sender: this.#producer, admins: this.#admins, rights: this.#rights };
    this.#publisher = new Publisher({ ...deps, outgoing: this.#outgoing, eventsTopic: topics.events });
    this.#directory = new KafkaDirectory({ ...deps, admins: this.#directoryAdmins, topic: topics.directory });
    this.#reader = new TopicReader(deps);
    const stored = { ...deps, reader: this.#reader };
    this.quarantine = new QuarantineStore({ ...stored, topic: topics.quarantine, outgoing: this.#outgoing });
    this.deadLetters = deadLetterStore({ ...stored, topic: topics.dead });
    this.stalls = new StallTopic({ ...stored, topic: topics.stalls });
    this.remnants = keptRecords({ admins: this.#admins, topics, log });
    const closing = this.#closing.signal;
    const open: OpenTopic = (topic, rest) => this.#openTopic(topic, rest);
    const poison = (record: ReadRecord, detail: string, done: () => void) =>
      this.#poison(record, undecodable(detail), done);
    const windows = windowsOf(options.repeats, options);
    const brokersNow = () => time.fromClock(clock.now());
    const events = { ...options, topic: topics.events, open, seen: windows.events, brokersNow, closing };
    const eventStream = new EventsTopic(events);
    const mayBegin = () => this.#producer.isPrompt;
    const mayWrite = (topic: string, key: string) => this.#producer.isPromptFor(topic, key);
    const seen = windows.tasks;
    const askTime = timeQuestion(this.#producer, topics.quarantine, options.random);
    const streams = { ...options, time, askTime, mayBegin, mayWrite, open, poison, seen, closing };
    this.#taskStreams = new TaskStreams(streams);
    this.#sources = new Sources({
      ...deps,
      eventStream,
      taskStreams: this.#taskStreams,
      outgoing: this.#outgoing,
      quarantine: this.quarantine,
    });
    this.events = this.#sources.events;
    this.tasks = this.#sources.tasks;
    this.journal = this.#journalOf(options);
    this.losses = new KafkaLosses({
      ...deps,
      topics: lagged,
      directory: topics.directory,
      topicId: (topic) => this.#topicIds.idOf(topic),
      consumers: this.#consumers,
    });
  }

  #journalOf({ records, clock, log, clusterId, topics }: KafkaBrokerOptions): KafkaJournal {
    return new KafkaJournal({
      records,
      clock,
      log,
      clusterId,
      topic: topics.journal,
      open: (rest) => this.#openTopic(topics.journal, rest),
      quarantine: (record, detail) => new Promise((done) => this.#poison(record, undecodable(detail), done)),
      closing: this.#closing.signal,
    });
  }

  async open(): Promise<void> {
    await this.#producer.open();
    await this.#lag.open();
    this.#retentions.start();
    this.losses.start();
  }

  publishEvents: Broker['publishEvents'] = (...args) => this.#publisher.publishEvents(...args);

  publishTasks: Broker['publishTasks'] = (tasks) => this.#publisher.publishTasks(tasks);

  publishDirectory(changes: readonly DirectoryChange[]): Promise<void> {
    return this.#directory.publish(changes);
  }

  followDirectory(apply: (change: DirectoryChange) => unknown): Promise<Follower> {
    return this.#directory.follow(apply, { republish: this.#options.publishesDirectory });
  }

  status(): BrokerStatus {
    return engineStatus({
      now: this.#options.clock.now(),
      time: this.#time,
      isOpen: this.#end === null,
      consumers: this.#consumers,
      rights: this.#rights,
      lag: this.#lag,
      producer: this.#producer,
      admins: [this.#admins, this.#directoryAdmins],
      records: this.#options.records,
      quarantine: this.quarantine,
      sources: this.#sources,
      journal: this.journal,
      taskStreams: this.#taskStreams,
    });
  }

  close(): Promise<void> {
    this.#end ??= this.#close();
    return this.#end;
  }

  abandon(): Promise<void> {
    this.#end ??= this.#abandon();
    return this.#end;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#sources.stop(CLOSE_GRACE_MS), this.journal.stop(CLOSE_GRACE_MS)]);
    await this.#producer.close(CLOSE_GRACE_MS);
    await this.#release();
  }

  async #abandon(): Promise<void> {
    await Promise.all([this.journal.abandon(), this.#producer.abandon()]);
    await this.#release();
  }

  async #release(): Promise<void> {
    this.#closing.abort();
    this.#lag.close();
    this.#time.close();
    this.#retentions.close();
    this.losses.close();
    await Promise.all([
      this.#sources.abandon(),
      this.#directory.close(),
      this.#reader.close(),
      this.#producer.abandon(),
    ]);
    await Promise.all([this.#admins.close(), this.#directoryAdmins.close(), this.#topicIds.close()]);
  }

  /** Keeps one of our own records that cannot be read for operators: nothing is dropped. */
  #poison(record: ReadRecord, why: WhyUnusable, done: () => void): void {
    const { clock, log } = this.#options;
    const origin = originOf(record);
    log.error({ place: placeText(origin), ...why }, 'an unreadable record was put into quarantine');
    const stored = { ...why, at: clock.wall(), bytes: record.value ?? Buffer.alloc(0), origin };
    this.quarantine.put({ ...stored, eventId: null, merchantId: null }).then(done, () => {});
  }

  #openTopic(topic: string, rest: Parameters<OpenTopic>[1]): TopicConsumer {
    const { kafka, clock, log } = this.#options;
    const consumer: TopicConsumer = new TopicConsumer({
      kafka,
      clock,
      log,
      admins: this.#admins,
      topic,
      groupId: this.#groupOf(topic),
      rights: this.#rights,
      topicId: () => this.#topicIds.idOf(topic),
      unreadable: (record, why) => this.#poison(record, why, () => consumer.done(record)),
      ...rest,
      ...this.#lag.watching(topic, rest),
      ...this.losses.watching(topic),
    });
    this.#consumers.add(consumer);
    return consumer;
  }

  #groupOf(topic: string): string {
    const { groupPrefix } = this.#options;
    return topic.startsWith(groupPrefix) ? topic : `${groupPrefix}${topic}`;
  }
}
