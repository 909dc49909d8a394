/**
 * Replaces what kafkajs makes of metadata answers, and of a broker that cannot be reached. kafkajs throws for all topics
 * and partitions when one partition has no leader, and a consumer fetches nothing from any broker while one refuses
 * connections: none could start or go on until a broker that holds something else is back. Here a partition without a
 * leader stays in the answer, so that it is assigned to a member of its group, and is not fetched. It is fetched once a
 * later answer names its leader. An answer that lacks what was asked for is an error, as one with a topic's error is.
 *
 * kafkajs does not export the places; they are those of the version that package.json pins.
 */
import { createRequire } from 'node:module';

/** The leader of a partition that has none. */
export const NO_LEADER = -1;
const UNKNOWN_TOPIC_OR_PARTITION = 3;
/** LEADER_NOT_AVAILABLE; LISTENER_NOT_FOUND, of a leader that does not listen where it is to be reached. */
const LEADERLESS = [5, 72];

interface MetadataAnswer {
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly topic: string;
    readonly partitionMetadata: readonly { readonly partitionErrorCode: number }[];
  }[];
}

interface Response {
  readonly decode: (bytes: Buffer) => Promise<object>;
  readonly parse: (decoded: MetadataAnswer) => Promise<MetadataAnswer>;
}

/** `topics`: those asked for; empty = all. */
type Protocol = (options: { readonly topics: readonly string[] }) => { readonly response: Response };

interface MetadataModule {
  protocol: (wanted: { readonly version: number }) => Protocol;
}

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly object[];
}

interface ClusterClass {
  readonly prototype: {
    findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
    fetchTopicsOffset(topics: readonly TopicOffsets[]): Promise<readonly TopicOffsets[]>;
  };
}

interface ConsumerGroupClass {
  readonly prototype: { recoverFromFetch(error: Error): Promise<void> };
}

interface RunnerClass {
  readonly prototype: {
    readonly running: boolean;
    readonly fetchManager: { stop(): Promise<void> };
    fetch(nodeId: number): Promise<object[]>;
  };
}

/** A broker that cannot be reached is asked again after so long. */
const UNREACHABLE_MS = 500;
const UNREACHABLE = ['KafkaJSConnectionError', 'KafkaJSRequestTimeoutError'];

const require = createRequire(import.meta.url);
const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
  readonly createErrorFromCode: (code: number) => Error;
};

const sleep: (ms: number) => Promise<void> = require('kafkajs/src/utils/sleep');

let isReplaced = false;

/** Every client of this process reads metadata so from now on. May be called again. */
export function readMetadataAnswersOurselves(): void {
  if (isReplaced) return;
  isReplaced = true;
  const metadata: MetadataModule = require('kafkajs/src/protocol/requests/metadata');
  const protocolOf = metadata.protocol;
  metadata.protocol = (wanted) => (options) => {
    const made = protocolOf(wanted)(options);
    const parse = async (answer: MetadataAnswer) => usable(answer, options.topics);
    return { ...made, response: { decode: made.response.decode, parse } };
  };
  askLeadersOnly(require('kafkajs/src/cluster'));
  fetchFromOthers(require('kafkajs/src/consumer/consumerGroup'));
  endFetchLoops(require('kafkajs/src/consumer/runner'));
}

/** Throws for a topic that has an error or nothing to tell, and for a partition that lacks more than a leader. */
function usable(answer: MetadataAnswer, asked: readonly string[]): MetadataAnswer {
  for (const { topic, topicErrorCode, partitionMetadata } of answer.topicMetadata) {
    const codes = partitionMetadata.map(({ partitionErrorCode }) => partitionErrorCode);
    const [code] = [topicErrorCode, ...codes.filter((one) => !LEADERLESS.includes(one))].filter(Boolean);
    if (code !== undefined) throw errorOf(code, topic);
  }
  const told = answer.topicMetadata.filter(({ partitionMetadata }) => partitionMetadata.length > 0);
  const missing = asked.find((topic) => !told.some((one) => one.topic === topic));
  if (missing !== undefined) throw errorOf(UNKNOWN_TOPIC_OR_PARTITION, missing);
  return answer;
}

const errorOf = (code: number, topic: string) => Object.assign(createErrorFromCode(code), { topic });

/** Offsets are asked of the leaders that there are; a partition without one is left out of the answer. */
function askLeadersOnly({ prototype }: ClusterClass): void {
  const { findLeaderForPartitions, fetchTopicsOffset } = prototype;
  prototype.findLeaderForPartitions = function (topic, partitions) {
    const { [NO_LEADER]: _waiting, ...led } = findLeaderForPartitions.call(this, topic, partitions);
    return led;
  };
  // kafkajs's consumers and admins read the answer of every topic that they asked for.
  prototype.fetchTopicsOffset = async function (topics) {
    const answers = await fetchTopicsOffset.call(this, topics);
    const answered = new Set(answers.map(({ topic }) => topic));
    const silent = topics.filter(({ topic }) => !answered.has(topic));
    return [...answers, ...silent.map(({ topic }) => ({ topic, partitions: [] }))];
  };
}

/** Each broker is fetched from in a loop of its own; one that ends in an error ends those of all brokers. */
function fetchFromOthers({ prototype }: ConsumerGroupClass): void {
  const { recoverFromFetch } = prototype;
  prototype.recoverFromFetch = async function (error) {
    // The metadata that comes next says whether it still leads anything.
    if (UNREACHABLE.includes(error.name)) await sleep(UNREACHABLE_MS);
    else await recoverFromFetch.call(this, error);
  };
}

/**
 * A consumer that is stopped while brokers come or go begins new loops after the old ones were ended: they would ask for
 * nothing, without a pause, and the process would do nothing else for ever.
 */
function endFetchLoops({ prototype }: RunnerClass): void {
  const { fetch } = prototype;
  prototype.fetch = async function (nodeId) {
    if (!this.running) void this.fetchManager.stop();
    return await fetch.call(this, nodeId);
  };
}
