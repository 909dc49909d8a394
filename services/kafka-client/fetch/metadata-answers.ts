/**
 * Replaces kafkajs's handling of metadata responses, and of a broker that cannot be reached. kafkajs throws for all
 * topics and partitions when one partition has no leader, and a consumer fetches nothing from any broker while one
 * refuses connections: none could start or continue until that broker is back. Here a partition without a leader stays in
 * the response, so that it is assigned to a member of its group, but is not fetched until a later response names its
 * leader. A response that lacks a requested topic is an error, like one with a topic's error.
 *
 * kafkajs does not export these functions; the paths are those of the version pinned in package.json.
 */
import { createRequire } from 'node:module';
import { UNREACHABLE } from '../client/silent-brokers.ts';

/** The leader of a partition that has none. */
export const NO_LEADER = -1;
const UNKNOWN_TOPIC_OR_PARTITION = 3;
/** LEADER_NOT_AVAILABLE; LISTENER_NOT_FOUND, when the leader has no listener that we can reach. */
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

/** `topics`: the requested ones; empty = all. */
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
  readonly prototype: {
    readonly cluster: { refreshMetadata(): Promise<void> };
    recoverFromFetch(error: Error): Promise<void>;
  };
}

interface RunnerClass {
  readonly prototype: {
    readonly running: boolean;
    readonly fetchManager: { stop(): Promise<void> };
    fetch(nodeId: number): Promise<object[]>;
  };
}

/** The pause before a broker that cannot be reached is tried again. */
const UNREACHABLE_MS = 500;

const require = createRequire(import.meta.url);
const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
  readonly createErrorFromCode: (code: number) => Error;
};

const sleep: (ms: number) => Promise<void> = require('kafkajs/src/utils/sleep');

let isReplaced = false;

/** Makes every client of this process read metadata in this way. May be called again. */
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

/** Throws for a topic with an error or without partitions, and for a partition that lacks more than a leader. */
function usable(answer: MetadataAnswer, asked: readonly string[]): MetadataAnswer {
  for (const { topic, topicErrorCode, partitionMetadata } of answer.topicMetadata) {
    const codes = partitionMetadata.map(({ partitionErrorCode }) => partitionErrorCode);
    const [code] = [topicErrorCode, ...codes.filter((one) => !LEADERLESS.includes(one))].filter(Boolean);
    if (code !== undefined) throw errorOf(code, topic);
  }
  const withPartitions = answer.topicMetadata.filter(({ partitionMetadata }) => partitionMetadata.length > 0);
  const missing = asked.find((topic) => !withPartitions.some((one) => one.topic === topic));
  if (missing !== undefined) throw errorOf(UNKNOWN_TOPIC_OR_PARTITION, missing);
  return answer;
}

const errorOf = (code: number, topic: string) => Object.assign(createErrorFromCode(code), { topic });

/** Requests offsets only from existing leaders; a partition without one is omitted from the response. */
function askLeadersOnly({ prototype }: ClusterClass): void {
  const { findLeaderForPartitions, fetchTopicsOffset } = prototype;
  prototype.findLeaderForPartitions = function (topic, partitions) {
    const { [NO_LEADER]: _waiting, ...led } = findLeaderForPartitions.call(this, topic, partitions);
    return led;
  };
  // kafkajs's consumers and admins read every topic that they requested from the response.
  prototype.fetchTopicsOffset = async function (topics) {
    const answers = await fetchTopicsOffset.call(this, topics);
    const answered = new Set(answers.map(({ topic }) => topic));
    const silent = topics.filter(({ topic }) => !answered.has(topic));
    return [...answers, ...silent.map(({ topic }) => ({ topic, partitions: [] }))];
  };
}

/**
 * Continues after a broker's error. Each broker is fetched from in a loop of its own; an error in one would end all.
 */
function fetchFromOthers({ prototype }: ConsumerGroupClass): void {
  const { recoverFromFetch } = prototype;
  prototype.recoverFromFetch = async function (error) {
    if (!UNREACHABLE.includes(error.name)) return await recoverFromFetch.call(this, error);
    await sleep(UNREACHABLE_MS);
    // Another broker may lead its partitions by now.
    await this.cluster.refreshMetadata().catch(() => {});
  };
}

/**
 * Ends fetch loops that a consumer starts after the old ones were ended, when it is stopped while brokers come or go:
 * they would request nothing, without a pause, and block the process for ever.
 */
function endFetchLoops({ prototype }: RunnerClass): void {
  const { fetch } = prototype;
  prototype.fetch = async function (nodeId) {
    if (!this.running) void this.fetchManager.stop();
    return await fetch.call(this, nodeId);
  };
}
