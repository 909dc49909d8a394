import type { KafkaForTests } from './address.ts';

/** Fewer than in production, so that a process in a test joins its groups quickly. */
const PARTITIONS =
  'events=3,deliver=3,retry.3s=2,retry.66s=2,retry.731s=1,retry.4098s=1,retry.15627s=1,retry.46658s=1,' +
  'test=1,replay=1,journal=2,dead=2,quarantine=2';

/** Returns the environment variables of a process that runs on a Kafka shared by tests. */
export function kafkaEnvironment({ brokers, registryUrl }: KafkaForTests, prefix: string) {
  return {
    HOOKRAIL_ENGINE: 'kafka',
    HOOKRAIL_KAFKA_BROKERS: brokers.join(','),
    HOOKRAIL_SCHEMA_REGISTRY_URL: registryUrl,
    HOOKRAIL_TOPIC_PREFIX: prefix,
    HOOKRAIL_EVENTS_TOPIC: `${prefix}events.in`,
    HOOKRAIL_KAFKA_PARTITIONS: PARTITIONS,
  };
}
