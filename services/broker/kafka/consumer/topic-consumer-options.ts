import type { Kafka } from 'kafkajs';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Admins } from '../client/admins.ts';
import type { MissingRights } from '../rights/missing-rights.ts';
import type { Partition, ReadRecord } from './partition.ts';

/** Which of the topics that had this name a position is of. */
export interface Incarnation {
  readonly topicId: string | null;
  /** The group has committed a position in it: an earlier version, which kept no id, was in the same topic. */
  readonly isCommitted: boolean;
}

export interface TopicConsumerOptions {
  readonly kafka: Kafka;
  readonly admins: Admins;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  readonly groupId: string;
  /** Told of rights that are missing. */
  readonly rights?: MissingRights;
  /** How long a fetch waits for something to come, milliseconds. */
  readonly maxWaitMs: number;
  /** Read and not done, per partition: reading pauses above, and goes on below half of it. */
  readonly heldMax: number;
  readonly heldBytesMax: number;
  /** Every record of the partition in order, done ones included; before `take`. True = a copy of an earlier one. */
  readonly isCopy?: (record: ReadRecord) => boolean;
  /** A record that there is something to do for. `done` must be called for it, some time. */
  readonly take: (record: ReadRecord) => void;
  /** A batch cannot be read; `done` must be called for it once it is kept elsewhere. */
  readonly unreadable: (record: ReadRecord, cause: string) => void;
  /** Whether `take` also gets, in their order, records of the window that are done already. */
  readonly takesDone?: boolean;
  /** A partition is ours now. */
  readonly assigned?: (partition: Partition) => void;
  /** Everything before `offset` is committed. */
  readonly committed?: (partition: number, offset: number) => void;
  /** A record that was taken is done. */
  readonly settled?: (record: ReadRecord) => void;
  readonly commitFailed?: () => void;
  /** Records that were deleted before they were read: so many at most. */
  readonly lost?: (partition: number, count: number) => void;
  /** The log has no record at our position. */
  readonly outOfRange?: (partition: number) => void;
  /** Up to which offset losses are known to an operator; absent = none is. */
  readonly acknowledged?: (partition: number, topicId: string | null) => Promise<number>;
  /** Partitions are not ours any more, or heartbeats are answered again: what was held back may have changed. */
  readonly changed?: () => void;
  /** Whether what comes of new work can be written down; absent = always. */
  readonly mayBegin?: () => boolean;
  /** Where to start, when somebody else than the group knows; undefined = at the oldest record. */
  readonly startOf?: (partition: number, incarnation: Incarnation) => Promise<number | undefined>;
  /** The topic's id as it is now; null = brokers do not tell. */
  readonly topicId: () => Promise<string | null>;
}
