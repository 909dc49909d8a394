import type { Admin } from 'kafkajs';
import { ConfigError } from '../../../config/config.ts';
import { TIERS, type Tier } from '../../../domain/retry.ts';
import { rootOf } from '../../../kafka-client/client/client.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { explainKafkaError, KafkaUnusable } from '../explain-error.ts';
import { checkEventsTopic, readEventsSettings } from './events-topic-check.ts';
import { checkOffsetsRetention, checkTopic, readOffsetsRetentionMs, readTopics } from './topic-check.ts';
import { createMissingTopics, LOOK_AGAIN_MS, SEEN_WITHIN_MS } from './topic-creation.ts';
import {
  type Finding,
  type PrepareOptions,
  SINGLE,
  type TopicNames,
  type TopicOptions,
  type TopicSpec,
} from './topic-spec.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const REPLICATION_FACTOR_MAX = 3;
export function topicNames(prefix: string, eventsTopic: string): TopicNames {
  const own = (name: string) => `${prefix}${name}`;
  const retry = Object.fromEntries(TIERS.map((tier) => [tier, own(`retry.${tier}s`)]));
  return {
    events: eventsTopic,
    deliver: own('deliver'),
    retry: retry as Record<Tier, string>,
    test: own('test'),
    replay: own('replay'),
    journal: own('journal'),
    dead: own('dead'),
    quarantine: own('quarantine'),
    directory: own('directory'),
    stalls: own('stalls'),
  };
}

/** Returns the names of all topics. */
export function topicList(names: TopicNames): string[] {
  const { retry, ...rest } = names;
  return [...Object.values<string>(rest), ...Object.values<string>(retry)];
}

/** The short tiers are the busiest: most failing deliveries fail only once or twice. */
const retryPartitions = (tier: Tier): number => (tier <= 66 ? 24 : 12);

/** Append time, so that a record is due and expires by the broker's clock, not by its producer's. */
const APPENDED = { 'message.timestamp.type': 'LogAppendTime' };
const ROLLED_HOURLY = { 'segment.ms': String(HOUR_MS) };
const kept = (ms: number) => ({ 'cleanup.policy': 'delete', 'retention.ms': String(ms) });
/** Kafka's own default, set explicitly: a cluster may have another. */
const BATCH_BYTES_MAX = 1_048_588;
const RECORD_BYTES = { 'max.message.bytes': String(BATCH_BYTES_MAX) };
/** The limit of a record's key and value: a batch without its own fields and the headers. */
export const RECORD_BYTES_MAX = BATCH_BYTES_MAX - 4 * 1024;
/** A bad record is stored whole, with the reason, up to the size that the platform's topic may allow. */
const WHOLE_RECORD_BYTES = { 'max.message.bytes': String(4 * 1024 * 1024) };

/**
 * Returns the specification of every topic. Throws ConfigError for a count of an unknown topic, and for two topics of
 * one name.
 */
export function topicSpecs(options: TopicOptions, replicationFactor: number): TopicSpec[] {
  const names = topicNames(options.topicPrefix, options.eventsTopic);
  const safe = {
    'min.insync.replicas': String(Math.max(1, replicationFactor - 1)),
    'unclean.leader.election.enable': 'false',
  };
  type Rest = Partial<Pick<TopicSpec, 'topic' | 'delayMs' | 'hasGroup' | 'isPlatform'>>;
  const spec = (
    shortName: string,
    partitions: number,
    settings: TopicSpec['settings'],
    rest: Rest = {},
  ): TopicSpec => ({
    topic: `${options.topicPrefix}${shortName}`,
    shortName,
    partitions: options.partitions[shortName] ?? partitions,
    replicationFactor,
    settings: { ...RECORD_BYTES, ...settings, ...safe },
    delayMs: 0,
    hasGroup: true,
    isPlatform: false,
    ...rest,
  });
  const week = { ...kept(7 * DAY_MS), ...APPENDED };
  const records = { ...kept(30 * DAY_MS), ...APPENDED };
  const specs = [
    spec('events', 12, week, { topic: names.events, isPlatform: true }),
    spec('deliver', 24, week),
    ...TIERS.map((tier) => {
      const delayMs = tier * 1000;
      const settings = { ...kept(7 * DAY_MS + delayMs), ...APPENDED, ...ROLLED_HOURLY };
      return spec(`retry.${tier}s`, retryPartitions(tier), settings, { delayMs });
    }),
    spec('test', 6, week),
    spec('replay', 12, week),
    spec('journal', 12, week),
    spec('dead', 6, records, { hasGroup: false }),
    // Retention deletes by age although nulls remove single records: records are deleted after a month in any case.
    spec('quarantine', 6, { ...records, ...WHOLE_RECORD_BYTES }, { hasGroup: false }),
    spec('directory', 1, directorySettings(), { hasGroup: false }),
    spec('stalls', 1, week, { hasGroup: false }),
  ];
  refuseMisnamed(specs, options);
  return specs;
}

function directorySettings(): TopicSpec['settings'] {
  return { 'cleanup.policy': 'compact', 'delete.retention.ms': String(7 * DAY_MS), ...ROLLED_HOURLY };
}

function refuseMisnamed(specs: readonly TopicSpec[], options: TopicOptions): void {
  // One partition: each has one order.
  const known = specs.map(({ shortName }) => shortName).filter((name) => !SINGLE.includes(name));
  for (const name of Object.keys(options.partitions)) {
    if (known.includes(name)) continue;
    throw new ConfigError(
      `HOOKRAIL_KAFKA_PARTITIONS names ${name}, whose count cannot be set: it accepts ${known.join(', ')}`,
    );
  }
  if (specs.filter(({ topic }) => topic === options.eventsTopic).length > 1) {
    throw new ConfigError(
      `HOOKRAIL_EVENTS_TOPIC="${options.eventsTopic}" is also the name of a topic that hookrail creates: choose another name`,
    );
  }
}

/**
 * Creates missing topics, where that is allowed, and verifies all of them; never changes an existing one. Returns the
 * partition count of every topic, the platform's included. Rejects with one clear line; lesser faults are logged as
 * warnings. Several processes may do this at once.
 */
export async function prepareTopics(
  admin: Admin,
  options: PrepareOptions,
): Promise<ReadonlyMap<string, number>> {
  try {
    return await prepare(admin, options);
  } catch (error) {
    if (error instanceof KafkaUnusable || error instanceof ConfigError) throw error;
    throw new KafkaUnusable(explainKafkaError(error, options.brokers), { cause: error });
  }
}

async function prepare(admin: Admin, options: PrepareOptions): Promise<ReadonlyMap<string, number>> {
  const { clock, log } = options;
  const nodes = (await admin.describeCluster()).brokers.map(({ nodeId }) => nodeId);
  const replicationFactor = options.replicationFactor ?? Math.min(REPLICATION_FACTOR_MAX, nodes.length);
  const specs = topicSpecs(options, replicationFactor);
  const deadline = clock.now() + SEEN_WITHIN_MS;
  await createMissingTopics(admin, specs, nodes.length, deadline, options);
  const found = await onceSeen(() => readTopics(admin, specs, log), deadline, clock);
  const offsetsMs = await readOffsetsRetentionMs(admin, nodes, log);
  const eventsSettings = await onceSeen(
    () => readEventsSettings(admin, options.eventsTopic),
    deadline,
    clock,
  );
  const findings = [
    ...specs.filter(({ isPlatform }) => isPlatform).flatMap((spec) => checkEventsTopic(spec, eventsSettings)),
    ...specs.flatMap((spec) => checkTopic(spec, found.get(spec.topic), options)),
    ...checkOffsetsRetention(specs, found, offsetsMs, options),
  ];
  report(findings, log);
  return new Map(specs.map(({ topic }) => [topic, found.get(topic)?.partitions ?? 0]));
}

/** The most faults in one line; the next start reports the others. */
const TOLD_AT_ONCE_MAX = 5;

function report(findings: readonly Finding[], log: Logger): void {
  for (const { says } of findings.filter(({ refuses }) => !refuses)) log.warn(says);
  const refused = findings.filter(({ refuses }) => refuses).map(({ says }) => says);
  if (refused.length === 0) return;
  const more = refused.length - TOLD_AT_ONCE_MAX;
  const end = more > 0 ? `; and ${more} more` : '';
  throw new KafkaUnusable(`${refused.slice(0, TOLD_AT_ONCE_MAX).join('; ')}${end}`);
}

const NOT_SEEN_YET = ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'];

async function onceSeen<Found>(read: () => Promise<Found>, deadline: number, clock: Clock): Promise<Found> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!NOT_SEEN_YET.includes(rootOf(error).type ?? '') || clock.now() > deadline) throw error;
      await clock.sleep(LOOK_AGAIN_MS);
    }
  }
}
