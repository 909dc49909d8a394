import { TIERS } from '../../../domain/retry.ts';
import type { Right } from '../../../kafka-client/rights/missing-rights.ts';
import type { TopicNames, TopicSpec } from './topic-spec.ts';
import { topicList, topicNames } from './topics.ts';

/** Commands of Kafka's own tools, for clusters where applications may not create topics or grant themselves ACLs. */

/** Returns one `kafka-topics.sh` command per topic, which does nothing when the topic exists. */
export function topicCommands(specs: readonly TopicSpec[], brokers: readonly string[]): string[] {
  return specs.map(({ topic, partitions, replicationFactor, settings }) =>
    [
      `kafka-topics.sh --bootstrap-server ${brokers.join(',')} --create --if-not-exists --topic ${topic}`,
      `--partitions ${partitions} --replication-factor ${replicationFactor}`,
      ...Object.entries(settings).map(([name, value]) => `--config ${name}=${value}`),
    ].join(' '),
  );
}

interface Access {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

export type Role = 'api' | 'router' | 'sender' | 'recorder';

/**
 * Returns the topics that the stations read and write. Every role follows the directory, quarantines records that it
 * cannot decode, and has a watchdog.
 */
function accessOf(role: Role, names: TopicNames): Access {
  const retries = TIERS.map((tier) => names.retry[tier]);
  switch (role) {
    case 'api':
      return {
        reads: [names.directory, names.stalls, names.dead, names.quarantine],
        // All topics that quarantined records may have come from, and the store itself: a null removes a record from
        // it.
        writes: topicList(names).filter((name) => name !== names.dead),
      };
    case 'router':
      return {
        reads: [names.events, names.directory, names.stalls],
        writes: [names.deliver, names.journal, names.quarantine, names.stalls],
      };
    case 'sender':
      return {
        reads: [names.deliver, ...retries, names.test, names.replay, names.directory, names.stalls],
        writes: [...retries, names.journal, names.dead, names.quarantine, names.stalls],
      };
    case 'recorder':
      return {
        reads: [names.journal, names.directory, names.stalls],
        writes: [names.quarantine, names.stalls],
      };
  }
}

/** The names that kafka-acls.sh uses. */
const OPERATIONS = { READ: 'Read', WRITE: 'Write', DESCRIBE: 'Describe' } as const;

/** Returns the command that grants a permission to the configured user. */
export function grantCommand(
  {
    brokers,
    sasl,
  }: {
    readonly brokers: readonly string[];
    readonly sasl: { readonly mechanism: string; readonly username?: string } | null;
  },
  { operation, resource, name, isPrefix = false }: Right,
): string {
  const principal = sasl?.username === undefined ? '<our principal>' : `User:${sasl.username}`;
  return (
    `kafka-acls.sh --bootstrap-server ${brokers.join(',')} --add --allow-principal ${principal} ` +
    `--operation ${OPERATIONS[operation]} --${resource} ${name}${isPrefix ? ' --resource-pattern-type prefixed' : ''}`
  );
}

export interface AclOptions {
  readonly brokers: readonly string[];
  readonly topicPrefix: string;
  readonly eventsTopic: string;
  readonly createTopics: boolean;
  /** E.g. `User:hookrail-sender`. */
  readonly principal: string;
}

/** Returns the `kafka-acls.sh` commands for a principal whose process runs these roles: what it needs, and no more. */
export function aclCommands(roles: readonly Role[], options: AclOptions): string[] {
  const names = topicNames(options.topicPrefix, options.eventsTopic);
  const access = roles.map((role) => accessOf(role, names));
  const own = topicList(names);
  const allow = (operations: readonly string[], resource: string) =>
    `kafka-acls.sh --bootstrap-server ${options.brokers.join(',')} --add --allow-principal ${options.principal} ` +
    `${operations.map((operation) => `--operation ${operation}`).join(' ')} ${resource}`;
  const allowTopics = (operations: readonly string[], topics: readonly string[]) =>
    topics.length === 0
      ? []
      : [allow(operations, [...new Set(topics)].map((name) => `--topic ${name}`).join(' '))];
  const prefixed = (kind: 'topic' | 'group') =>
    options.topicPrefix === ''
      ? `--${kind} '*'`
      : `--${kind} ${options.topicPrefix} --resource-pattern-type prefixed`;
  return [
    ...allowTopics(
      ['Read'],
      access.flatMap(({ reads }) => reads),
    ),
    ...allowTopics(
      ['Write'],
      access.flatMap(({ writes }) => writes),
    ),
    // Verified at every start, by every process.
    ...allowTopics(['Describe', 'DescribeConfigs'], own),
    allow(['DescribeConfigs'], '--cluster'),
    allow(['Read'], prefixed('group')),
    ...(options.createTopics ? [allow(['Create'], prefixed('topic'))] : []),
  ];
}
