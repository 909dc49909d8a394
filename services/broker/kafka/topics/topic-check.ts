import kafkajs, { type Admin } from 'kafkajs';
import { rootOf } from '../../../kafka-client/client/client.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { type Finding, type PrepareOptions, SINGLE, type TopicSpec } from './topic-spec.ts';

// A default import, because Node does not see these two named exports of the package.
const { ConfigResourceTypes } = kafkajs;

/** A topic in its actual state. */
export interface FoundTopic {
  readonly partitions: number;
  /** The replicas of the partition that has the fewest. */
  readonly replicas: number;
  /** Settings by their Kafka names; null = we may not read them. */
  readonly settings: ReadonlyMap<string, string> | null;
}

type CheckOptions = Pick<PrepareOptions, 'environment' | 'brokers' | 'replicationFactor'>;

const SETTINGS_READ = [
  'cleanup.policy',
  'delete.retention.ms',
  'max.message.bytes',
  'message.timestamp.type',
  'min.insync.replicas',
  'retention.bytes',
  'retention.ms',
  'segment.ms',
  'unclean.leader.election.enable',
];

/** Returns partitions, replicas and settings of every topic. Rejects when the broker does not know one of them. */
export async function readTopics(
  admin: Admin,
  specs: readonly TopicSpec[],
  log: Logger,
): Promise<ReadonlyMap<string, FoundTopic>> {
  const names = specs.map(({ topic }) => topic);
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  const settings = await readSettings(admin, specs, log);
  return new Map(
    topics.map(({ name, partitions }) => [
      name,
      {
        partitions: partitions.length,
        replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        settings: settings?.get(name) ?? null,
      },
    ]),
  );
}

async function readSettings(
  admin: Admin,
  specs: readonly TopicSpec[],
  log: Logger,
): Promise<Map<string, Map<string, string>> | null> {
  const own = specs.filter(({ isPlatform }) => !isPlatform);
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: own.map(({ topic }) => ({
        type: ConfigResourceTypes.TOPIC,
        name: topic,
        configNames: SETTINGS_READ,
      })),
    });
    return new Map(
      resources.map(({ resourceName, configEntries }) => [
        resourceName,
        new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
      ]),
    );
  } catch (error) {
    if (!rootOf(error).type?.endsWith('_AUTHORIZATION_FAILED')) throw error;
    log.warn(
      'the settings of hookrail’s topics cannot be verified: the Kafka user needs DESCRIBE_CONFIGS; ' +
        '`hookrail operator topics` prints the ACLs',
    );
    return null;
  }
}

/**
 * Returns how long groups without members keep their offsets, milliseconds: the shortest of all brokers; null = not
 * known.
 */
export async function readOffsetsRetentionMs(
  admin: Admin,
  nodes: readonly number[],
  log: Logger,
): Promise<number | null> {
  const name = 'offsets.retention.minutes';
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: nodes.map((node) => ({
        type: ConfigResourceTypes.BROKER,
        name: String(node),
        configNames: [name],
      })),
    });
    const minutes = resources.flatMap(({ configEntries }) =>
      configEntries
        .filter(({ configName }) => configName === name)
        .map(({ configValue }) => Number(configValue)),
    );
    if (minutes.length > 0 && minutes.every(Number.isFinite)) return Math.min(...minutes) * 60_000;
    log.warn(`the brokers do not report ${name}: make sure that it exceeds the retention of every topic`);
  } catch (error) {
    log.warn(
      { error: rootOf(error).message },
      `${name} of the brokers cannot be read: make sure that it exceeds the retention of every topic`,
    );
  }
  return null;
}

/** Returns every deviation of a topic from its specification. Pure. */
export function checkTopic(spec: TopicSpec, found: FoundTopic | undefined, options: CheckOptions): Finding[] {
  // The events topic belongs to its owner; its existence was checked before, and events-topic-check.ts warns.
  if (found === undefined || spec.isPlatform) return [];
  return [
    ...checkPartitions(spec, found),
    ...checkReplicas(spec, found, options),
    ...(found.settings === null ? [] : checkSettings(spec, found.settings, options)),
  ];
}

function checkPartitions({ topic, shortName, partitions }: TopicSpec, found: FoundTopic): Finding[] {
  if (found.partitions === partitions) return [];
  const says = `${topic} has ${found.partitions} partitions, not ${partitions}`;
  const repair = SINGLE.includes(shortName)
    ? 'its records keep their order in a single partition only: stop every process, delete the topic and start again'
    : 'keys would move to other partitions and lose their order: if it was created with that count, set ' +
      `HOOKRAIL_KAFKA_PARTITIONS=${shortName}=${found.partitions} everywhere; if the count was changed later, let every process drain the topic first`;
  return [{ refuses: true, says: `${says}: ${repair}` }];
}

function checkReplicas(
  { topic, replicationFactor }: TopicSpec,
  found: FoundTopic,
  { replicationFactor: asked }: CheckOptions,
): Finding[] {
  // No factor is configured (sandbox): a cluster that has grown since is no reason to stop.
  if (asked === null || found.replicas >= replicationFactor) return [];
  const says =
    `${topic} has ${found.replicas} ${found.replicas === 1 ? 'replica' : 'replicas'}, not ${replicationFactor}: ` +
    'raise it with kafka-reassign-partitions.sh, or lower HOOKRAIL_KAFKA_REPLICATION_FACTOR';
  return [{ refuses: true, says }];
}

interface Rule {
  readonly isGood: (found: string, spec: TopicSpec) => boolean;
  readonly refuses: (found: string, spec: TopicSpec) => boolean;
  readonly because: string;
}

const always = () => true;
const never = () => false;
/** Kafka's −1 is "no limit". */
const amount = (text: string): number => (text === '-1' ? Number.POSITIVE_INFINITY : Number(text));
const wanted = (spec: TopicSpec, name: string): string => spec.settings[name] ?? '';

/** Rules by setting; only the settings in a topic's specification are checked. */
const RULES: Readonly<Record<string, Rule>> = {
  'cleanup.policy': {
    isGood: (found, spec) => found === wanted(spec, 'cleanup.policy'),
    refuses: always,
    because: 'records would vanish, or accumulate without end',
  },
  'message.timestamp.type': {
    isGood: (found, spec) => found === wanted(spec, 'message.timestamp.type'),
    refuses: always,
    because: 'delays are counted from the time of append',
  },
  'max.message.bytes': {
    isGood: (found, spec) => Number(found) >= Number(wanted(spec, 'max.message.bytes')),
    refuses: always,
    because: 'a record that does not fit would stop its partition',
  },
  'retention.ms': {
    isGood: (found, spec) => amount(found) >= Number(wanted(spec, 'retention.ms')),
    refuses: (found, spec) => amount(found) <= spec.delayMs,
    because: 'records that wait longer are deleted before they are sent',
  },
  'delete.retention.ms': {
    isGood: (found, spec) => Number(found) >= Number(wanted(spec, 'delete.retention.ms')),
    refuses: never,
    because: 'a process that was stopped for longer would miss deletions',
  },
  'segment.ms': {
    isGood: (found, spec) => Number(found) <= Number(wanted(spec, 'segment.ms')),
    refuses: never,
    because: 'old records stay on disk and are read again',
  },
};

/** Rules for production: with a single broker there is nothing to be in sync with. */
const RULES_OF_PRODUCTION: Readonly<Record<string, Rule>> = {
  'min.insync.replicas': {
    isGood: (found, spec) => Number(found) >= Number(wanted(spec, 'min.insync.replicas')),
    refuses: always,
    because: 'acknowledged records could be lost with one broker',
  },
  'unclean.leader.election.enable': {
    isGood: (found) => found === 'false',
    refuses: always,
    because: 'acknowledged records could be lost in an election',
  },
};

function checkSettings(
  spec: TopicSpec,
  settings: ReadonlyMap<string, string>,
  { environment, brokers }: CheckOptions,
): Finding[] {
  const rules = environment === 'production' ? { ...RULES, ...RULES_OF_PRODUCTION } : RULES;
  const findings = Object.entries(rules).flatMap(([name, { isGood, refuses, because }]) => {
    const found = settings.get(name);
    const value = spec.settings[name];
    if (found === undefined || value === undefined || isGood(found, spec)) return [];
    const says =
      `${spec.topic} has ${name}=${found}, not ${value}: ${because}; set it with kafka-configs.sh ` +
      `--bootstrap-server ${brokers.join(',')} --alter --topic ${spec.topic} --add-config ${name}=${value}`;
    return [{ refuses: refuses(found, spec), says }];
  });
  const bytes = settings.get('retention.bytes');
  if (bytes === undefined || bytes === '-1' || spec.settings['cleanup.policy'] === 'compact') return findings;
  const says = `${spec.topic} has retention.bytes=${bytes}: a busy day deletes records before they are sent; unset it`;
  return [...findings, { refuses: false, says }];
}

/**
 * Checks how long offsets are kept. A group without members for longer than that starts again from the beginning, and
 * would resend whatever the topic still holds. A warning in the sandbox, where Kafka's own default (7 days) applies.
 */
export function checkOffsetsRetention(
  specs: readonly TopicSpec[],
  found: ReadonlyMap<string, FoundTopic>,
  offsetsMs: number | null,
  { environment }: CheckOptions,
): Finding[] {
  if (offsetsMs === null) return [];
  const kept = specs
    .filter(({ hasGroup, isPlatform }) => hasGroup && !isPlatform)
    .map((spec) => {
      const retention = found.get(spec.topic)?.settings?.get('retention.ms') ?? wanted(spec, 'retention.ms');
      return { topic: spec.topic, ms: amount(retention) };
    });
  const longest = kept.reduce((a, b) => (b.ms > a.ms ? b : a));
  if (offsetsMs > longest.ms) return [];
  const repair = Number.isFinite(longest.ms)
    ? `set it to more than ${Math.ceil(longest.ms / 60_000)} on every broker`
    : `limit the retention of ${longest.topic}`;
  const says =
    `offsets.retention.minutes of the brokers is ${offsetsMs / 60_000}, and ${longest.topic} keeps records ` +
    `${Number.isFinite(longest.ms) ? `for ${Math.ceil(longest.ms / 60_000)} minutes` : 'for ever'}: ` +
    `old webhooks would be sent again after a long stop; ${repair}`;
  return [{ refuses: environment === 'production', says }];
}
