/**
 * The connections under kafkajs's producer, without that producer: its way of sending loses records when leaders move
 * (see producer.ts), and its encoding takes most of a busy process's time. kafkajs does not export them; they are
 * those of the version pinned in package.json: run the producer's tests when you raise it.
 */
import { createRequire } from 'node:module';
import type { Kafka, KafkaMessage } from 'kafkajs';

/** A request of Kafka's protocol in kafkajs's form. */
export interface Protocol<Answer> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly expectResponse: () => boolean;
    /** The fields of kafkajs's Encoder: the bytes as `buf` and `buffer`. */
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    readonly decode: (bytes: Buffer) => Promise<object>;
    /** Converts the decoded response. */
    readonly parse: (decoded: object) => Promise<Answer>;
  };
}

/** Connections to a cluster's brokers, with its topics' leaders as of the last request. */
export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  /** Requests the leaders of these topics' partitions. */
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  findTopicPartitionMetadata(
    topic: string,
  ): readonly { readonly partitionId: number; readonly leader: number }[];
  /** Returns a broker that is connected and authenticated. Rejects when it cannot be reached. */
  findBroker(node: { readonly nodeId: number }): Promise<{
    readonly connectionPool: { send<Answer>(protocol: Protocol<Answer>): Promise<Answer> };
    fetch(request: FetchRequest): Promise<FetchAnswer>;
  }>;
  /** Sends one ListOffsets request to each leader, whatever the number of topics. */
  fetchTopicsOffset(
    topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number }[];
      readonly fromBeginning: boolean;
    }[],
  ): Promise<
    readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[]
  >;
  /** Returns the broker that keeps a group's offsets. Retries for some seconds. */
  findGroupCoordinator(group: { readonly groupId: string }): Promise<{
    offsetCommit(request: OffsetCommitRequest): Promise<unknown>;
  }>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
}

interface OffsetCommitRequest {
  readonly groupId: string;
  readonly groupGenerationId: number;
  readonly memberId: string;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly Omit<OffsetCommit, 'topic'>[];
  }[];
}

export interface FetchRequest {
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly fetchOffset: string;
      readonly maxBytes: number;
    }[];
  }[];
}

/** An offset to commit. */
export interface OffsetCommit {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly metadata: string;
}

/** The response for one partition, as kafkajs decodes it. */
export interface FetchedPartition {
  readonly partition: number;
  readonly highWatermark: string;
}

interface FetchAnswer {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly FetchedPartition[];
  }[];
}

export interface FetchedBatch {
  /** Without control records and records of aborted transactions. */
  readonly messages: readonly KafkaMessage[];
  /** With them. */
  readonly rawMessages: readonly { readonly offset: string }[];
}

const require = createRequire(import.meta.url);

const Batch: new (
  topic: string,
  fetchOffset: string,
  fetched: FetchedPartition,
) => FetchedBatch = require('kafkajs/src/consumer/batch');

/** Returns the records of one partition's response, from `fetchOffset` on. */
export function batchOf(topic: string, fetchOffset: number, fetched: FetchedPartition): FetchedBatch {
  return new Batch(topic, `${fetchOffset}`, fetched);
}

/** Connects to nothing yet; uses the client's addresses, TLS, SASL and time-outs. */
export function clusterOf(kafka: Kafka): Cluster {
  return internalsOf<Cluster>(kafka, METADATA_MS_MAX);
}

/** Returns kafkajs's own cluster object, which it does not export. `metadataMaxAge`: milliseconds. */
export function internalsOf<Internals>(kafka: Kafka, metadataMaxAge: number): Internals {
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (!symbol)
    throw new Error('this version of kafkajs stores its connections differently: use the pinned version');
  const create = (kafka as unknown as Record<symbol, (options: object) => Internals>)[symbol];
  if (!create)
    throw new Error('this version of kafkajs creates its connections differently: use the pinned version');
  return create({ allowAutoTopicCreation: false, metadataMaxAge });
}

/** Leaders are requested after every failure; nothing else shows that they moved. */
const METADATA_MS_MAX = 300_000;
