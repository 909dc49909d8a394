import type { Kafka } from 'kafkajs';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Admins } from '../client/admins.ts';
import type { UnreadableBatch } from '../fetch/record-reader.ts';
import type { MissingRights } from '../rights/missing-rights.ts';
import type { Partition, ReadRecord } from './partition.ts';

/** Why a batch cannot be read. */
export interface WhyUnusable {
  readonly reason: UnreadableBatch['reason'];
  readonly detail: string;
}

export interface TopicConsumerOptions {
  readonly kafka: Kafka;
  readonly admins: Admins;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  readonly groupId: string;
  /** Receives missing permissions. */
  readonly rights?: MissingRights;
  /** The longest wait of a fetch for records, milliseconds. */
  readonly maxWaitMs: number;
  /** The limit of unfinished records per partition: reading pauses above it, and continues below half of it. */
  readonly heldMax: number;
  readonly heldBytesMax: number;
  /**
   * Called for every record of the partition in order, done ones included, before `take`. True = a copy of an earlier
   * one.
   */
  readonly isCopy?: (record: ReadRecord) => boolean;
  /** Takes a record to be processed. `done` must be called for it eventually. */
  readonly take: (record: ReadRecord) => void;
  /** A batch cannot be read; `done` must be called for it once it is kept elsewhere. */
  readonly unreadable: (record: ReadRecord, why: WhyUnusable) => void;
  /** Whether `take` also gets, in order, records of the window that are already done. */
  readonly takesDone?: boolean;
  /** A partition is ours now. */
  readonly assigned?: (partition: Partition) => void;
  /** Everything before `offset` is committed. */
  readonly committed?: (partition: number, offset: number) => void;
  /** A record that was taken is done. */
  readonly settled?: (record: ReadRecord) => void;
  readonly commitFailed?: () => void;
  /** Records were deleted before they were read: at most this many. */
  readonly lost?: (partition: number, count: number) => void;
  /** The log has no record at our position. */
  readonly outOfRange?: (partition: number) => void;
  /** Returns the offset up to which losses are known to an operator; absent = none are. */
  readonly acknowledged?: (partition: number, topicId: string | null) => Promise<number>;
  /** Partitions were taken away, or heartbeats are answered again: held-back work may be allowed now. */
  readonly changed?: () => void;
  /** Returns whether results of new work can be written; absent = always. */
  readonly mayBegin?: () => boolean;
  /** Returns where to start, when the position is not kept by the group; undefined = at the oldest record. */
  readonly startOf?: (partition: number, topicId: string | null) => Promise<number | undefined>;
  /** Returns the topic's present id; null = brokers do not return one. */
  readonly topicId: () => Promise<string | null>;
}
