import type { Kafka } from 'kafkajs';
import type { Culprits } from '../../domain/stalls/stall.ts';
import type { KafkaAccess } from '../../kafka-client/client/access.ts';
import type { Right } from '../../kafka-client/rights/missing-rights.ts';
import type { Clock } from '../../process/clock.ts';
import type { Random } from '../../process/random.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Activity } from '../../watchdog/activity.ts';
import type { KafkaRecords } from './registry/records.ts';
import type { RepeatWindow } from './seen/windows.ts';
import type { TopicNames } from './topics/topic-spec.ts';

export interface KafkaBrokerOptions {
  readonly kafka: Kafka;
  /** The same, for the thread of the watchdog. */
  readonly access: KafkaAccess;
  readonly records: KafkaRecords;
  readonly topics: TopicNames;
  /** Partition counts of every topic. */
  readonly partitions: ReadonlyMap<string, number>;
  /** Prefix of our groups' names. */
  readonly groupPrefix: string;
  readonly clusterId: string;
  /** The command that grants the Kafka user a permission. */
  readonly grant: (right: Right) => string;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether this process publishes directory changes. */
  readonly publishesDirectory: boolean;
  /** Divides the delays of retries and parked tasks (1 in production). */
  readonly retryScale: number;
  /** The limits for recognising a repeated event. */
  readonly repeats: RepeatWindow;
  readonly log: Logger;
  /** Tells the watchdog what this process is busy with; absent: there is none. */
  readonly activity?: Activity | undefined;
  /** Knows what stops processes; absent: nothing is known to. */
  readonly culprits?: Culprits | undefined;
}
