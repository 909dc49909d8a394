import type { Tier } from '../../../domain/retry.ts';
import type { Right } from '../../../kafka-client/rights/missing-rights.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';

/** Full names. */
export interface TopicNames {
  readonly events: string;
  readonly deliver: string;
  readonly retry: Readonly<Record<Tier, string>>;
  readonly test: string;
  readonly replay: string;
  readonly journal: string;
  readonly dead: string;
  readonly quarantine: string;
  readonly directory: string;
  readonly stalls: string;
}

/** The topics that have one partition, so that their records have one order; by short names. */
export const SINGLE: readonly string[] = ['directory', 'stalls'];

/** The specification of one topic. */
export interface TopicSpec {
  readonly topic: string;
  /** The name in HOOKRAIL_KAFKA_PARTITIONS: without the prefix. */
  readonly shortName: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Settings given at creation, by their Kafka names. */
  readonly settings: Readonly<Record<string, string>>;
  /** The time that a record waits before it is due, milliseconds: it must not be deleted earlier. */
  readonly delayMs: number;
  /** Whether a consumer group keeps its position in it. */
  readonly hasGroup: boolean;
  /** Belongs to the platform: created by us in the sandbox only, and never verified. */
  readonly isPlatform: boolean;
}
export interface TopicOptions {
  readonly topicPrefix: string;
  readonly eventsTopic: string;
  /** Configured counts, by short name. */
  readonly partitions: Readonly<Record<string, number>>;
}
export interface PrepareOptions extends TopicOptions {
  /** For messages. */
  readonly brokers: readonly string[];
  readonly environment: 'sandbox' | 'production';
  /** Null = as many as the cluster has brokers, at most 3. */
  readonly replicationFactor: number | null;
  /** Whether missing topics may be created. */
  readonly createTopics: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** The command that grants the Kafka user a permission. */
  readonly grant?: (right: Right) => string;
}
/** A fault in the cluster's setup. */
export interface Finding {
  /** Whether the process must not start with it; otherwise it is a warning. */
  readonly refuses: boolean;
  /** The fault, its place and the remedy. */
  readonly says: string;
}
