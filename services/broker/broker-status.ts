/** The state of the broker, for readiness, metrics and the operator: a part of the broker port (broker.ts). */
import type { QuarantineReason } from '../domain/quarantine.ts';
import type { ParkedReason } from '../domain/task.ts';
import type { LostRange } from './losses.ts';

export interface BrokerStatus {
  readonly reachable: boolean;
  /** Streams consumed here whose group does not count this process among its members now, by name; empty = none. */
  readonly joining: readonly string[];
  /** Writes that wait although the engine is reachable, one line each, with the remedy. */
  readonly waiting: readonly string[];
  /**
   * How long the oldest due task has waited to be handed over, milliseconds; 0 = none, null = the servers have not said
   * it lately. Where several processes share the work, it includes what none of them reads.
   */
  readonly oldestOverdueMs: number | null;
  /** The servers' time minus this process's clock, as far as they provably differ, milliseconds; 0 without servers. */
  readonly clockOffsetMs: number;
  /** The parked tasks that this process knows, by reason: those that it will hand over itself. Others have none. */
  readonly parked: readonly ParkedStatus[];
  /**
   * Records waiting per stream, whoever reads it, as far as the engine knows. An engine with several processes has to
   * ask its servers for it; `partitions` covers those that this process reads.
   */
  readonly backlog: Readonly<Record<StreamName, number>>;
  /** The partitions that this process reads. */
  readonly partitions: readonly PartitionStatus[];
  readonly producer: { readonly waitingBytes: number; readonly oldestWaitingMs: number };
  /** Missing schemas for which records wait. */
  readonly schemasWaiting: number;
  /** Records put into quarantine by this process since its start. */
  readonly quarantined: ReadonlyMap<QuarantineReason, number>;
  /** Inputs whose handler keeps throwing. */
  readonly stuck: { readonly count: number; readonly oldestMs: number };
}

/** The tasks that are parked for one reason. */
export interface ParkedStatus {
  readonly reason: ParkedReason;
  readonly count: number;
  /** For how long the attempt of the oldest has been put off, milliseconds. */
  readonly oldestMs: number;
}

export const STREAM_NAMES = ['events', 'tasks', 'delayed', 'journal'] as const;
export type StreamName = (typeof STREAM_NAMES)[number];

/** A partition of a stream; where streams have none, the stream itself. */
export interface PartitionStatus {
  readonly stream: StreamName;
  readonly topic: string;
  readonly partition: number;
  /** Whether this process reads it now. */
  readonly isHeld: boolean;
  /** Unprocessed records, of the delayed stream only those that are due; null = not known. */
  readonly lag: number | null;
  /** How long the oldest of them has waited, milliseconds; of the delayed stream since it was due. */
  readonly oldestMs: number;
  /** Set when records arrive but none was processed for a minute. */
  readonly stalled: { readonly forMs: number; readonly reason: string } | null;
  /**
   * The time until retention deletes the oldest unprocessed record, milliseconds; null = not known, or nothing waits.
   */
  readonly retentionLeftMs: number | null;
  /** The time for which progress has not been committed, milliseconds. */
  readonly uncommittedMs: number;
  readonly commitFailures: number;
  /** Records deleted before they were read, since the start. */
  readonly lost: number;
  /** Losses that no operator has acknowledged; null = none. */
  readonly unacknowledged: LostRange | null;
  /** How often the position was outside the log, since the start. */
  readonly outOfRange: number;
}

/** Returns how many inputs wait for another try, and for how long the oldest has; `since` is a time of the same clock. */
export function stuckOf(
  sources: readonly { readonly stuck: { readonly count: number; readonly since: number } }[],
  now: number,
): BrokerStatus['stuck'] {
  const count = sources.reduce((sum, { stuck }) => sum + stuck.count, 0);
  const since = Math.min(...sources.map(({ stuck }) => stuck.since));
  return { count, oldestMs: count === 0 ? 0 : Math.max(0, now - since) };
}
