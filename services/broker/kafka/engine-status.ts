import type { Admins } from '../../kafka-client/client/admins.ts';
import type { BrokerTime } from '../../kafka-client/client/broker-time.ts';
import type { TopicConsumer } from '../../kafka-client/consumer/topic-consumer.ts';
import type { KafkaProducer } from '../../kafka-client/producer/producer.ts';
import type { MissingRights } from '../../kafka-client/rights/missing-rights.ts';
import { type BrokerStatus, stuckOf } from '../broker-status.ts';
import type { Lag } from './lag/lag.ts';
import type { QuarantineStore } from './quarantine/quarantine-store.ts';
import type { KafkaRecords } from './registry/records.ts';
import type { KafkaJournal } from './streams/journal-source.ts';
import type { Sources } from './streams/sources.ts';
import type { TaskStreams } from './streams/task-streams.ts';

export interface EngineParts {
  readonly now: number;
  readonly time: BrokerTime;
  readonly isOpen: boolean;
  /** Removed once they have ended. */
  readonly consumers: Set<TopicConsumer>;
  readonly rights: MissingRights;
  readonly lag: Lag;
  readonly producer: KafkaProducer;
  readonly admins: readonly Admins[];
  readonly records: KafkaRecords;
  readonly quarantine: QuarantineStore;
  readonly sources: Sources;
  readonly journal: KafkaJournal;
  readonly taskStreams: TaskStreams;
}

export function engineStatus(parts: EngineParts): BrokerStatus {
  const { now, time, lag, producer, sources, journal, taskStreams } = parts;
  const brokerNow = time.isKnown ? time.now() : now;
  const overdueMs = brokerNow - (taskStreams.oldestDue(brokerNow) ?? brokerNow);
  return {
    reachable: parts.isOpen && producer.isReachable && lag.isAnswered,
    joining: joiningOf(parts),
    waiting: [
      ...producer.troubles,
      ...parts.admins.flatMap(({ troubles }) => troubles),
      ...parts.rights.lines,
    ],
    // The other processes' part is requested only while it is being read.
    get oldestOverdueMs() {
      const own = Math.max(0, overdueMs);
      const others = lag.othersWaitingMs();
      return others === null && own === 0 ? null : Math.max(own, others ?? 0);
    },
    clockOffsetMs: time.offsetMs,
    get parked() {
      return taskStreams.parked(now);
    },
    get backlog() {
      return lag.backlog();
    },
    partitions: lag.partitions(),
    producer: { waitingBytes: producer.waitingBytes, oldestWaitingMs: producer.oldestWaitingMs },
    schemasWaiting: parts.records.schemasWaiting,
    quarantined: parts.quarantine.putByReason,
    stuck: stuckOf([...sources.all, journal], now),
  };
}

/**
 * Returns the topics that are not being read now. Without permission to read one, its consumer joins the group but
 * reads nothing.
 */
function joiningOf({ consumers, rights }: EngineParts): string[] {
  for (const consumer of consumers) if (consumer.isEnded) consumers.delete(consumer);
  return [...consumers]
    .filter(({ isMember, topic }) => !isMember || rights.has(topic))
    .map(({ topic }) => topic);
}
