/**
 * The broker port: the streams between the stations. One folder beside this file per engine; broker/open.ts
 * is the only place that chooses one. test/contract/broker.contract.ts states these guarantees as tests.
 *
 * The rule that carries all crash safety: what a handler returns is durable before its input is acknowledged.
 * So a crash at any instant repeats work and never loses it; ids are deterministic, so repeats are recognised.
 *
 * - At least once: what is not acknowledged is offered again after a restart, within `capabilities.redeliveryMs`.
 *   "Acknowledged" means "will normally not come again": an engine may repeat what was settled just before a crash,
 *   within the bound it states.
 * - Never early: a task is handed over at or after its `dueAt`. The engine may raise a due time, never lower it, but for
 *   a parked task that is woken.
 * - A handler that throws leaves its input unacknowledged; it is offered again after a growing pause and shown in
 *   status().stuck. Stations do not throw to steer the flow.
 * - No stream behind a source starves another (retries and first attempts of `live` share one source).
 * - Publishing resolves when durable. A rejection means "outcome unknown", never "not written".
 * - Memory is bounded: what is read ahead is the engine's business, within its own limits in records and bytes.
 */
import type { DirectoryChange } from '../domain/directory.ts';
import type { DomainEvent } from '../domain/event.ts';
import type { DeadLetter, JournalEntry, Routed } from '../domain/journal.ts';
import type { Loss, LostRange, TopicLosses } from '../domain/losses.ts';
import type { Quarantined, QuarantineReason, RecordOrigin } from '../domain/quarantine.ts';
import type { Tier } from '../domain/retry.ts';
import type { DeliveryTask, TaskClass } from '../domain/task.ts';

export interface Broker {
  readonly capabilities: BrokerCapabilities;
  /** Domain events in the order of each entity. The router is the only reader. */
  readonly events: Source<ReceivedEvent, RouterResult>;
  /** Tasks, handed over when due, one source per class. The sender is the only reader. */
  readonly tasks: Readonly<Record<TaskClass, TaskSource>>;
  /** What happened. The recorder is the only reader. */
  readonly journal: JournalSource;
  /**
   * One answer per event, in order. An engine that cannot know says `accepted`. At most 500 events a call.
   * `traceparent` (W3C) travels with them where events have headers; elsewhere their trace begins at the router.
   */
  publishEvents(events: readonly DomainEvent[], traceparent?: string): Promise<PublishedEvent[]>;
  /** Tests, resends and replays: the task and its journal entry become durable together. */
  publishTasks(tasks: readonly PublishedTask[]): Promise<void>;
  /** Keeps the order of one call. Concurrent calls for one key are the caller's to serialise. */
  publishDirectory(changes: readonly DirectoryChange[]): Promise<void>;
  /** Resolves when the whole table as it stood at the call has been applied; `apply` is synchronous and never throws. */
  followDirectory(apply: (change: DirectoryChange) => void): Promise<Follower>;
  readonly quarantine: Shelf<Quarantined> & {
    /** The record at a position; undefined when there is none. Throws RangeError when it is no position. */
    read(position: string): Promise<Quarantined | undefined>;
    /**
     * Puts records back where they came from, as they arrived, and takes them off the shelf; any number of them. Those that
     * cannot be put back stay there and are named with the reason. Unknown positions are ignored.
     */
    requeue(positions: readonly string[]): Promise<Requeued>;
  };
  readonly deadLetters: Shelf<DeadLetter>;
  /** Absent where an engine deletes nothing that is not done. */
  readonly losses?: Losses;
  status(): BrokerStatus;
  /** Resolves (never rejects) with the reason when the engine cannot go on; the process must then end. */
  readonly failed: Promise<Error>;
  /** Stops every consumer, makes durable what was settled, releases what the engine holds. May be called twice. */
  close(): Promise<void>;
}

export interface Requeued {
  readonly requeued: number;
  readonly refused: readonly { readonly position: string; readonly detail: string }[];
}

export interface BrokerCapabilities {
  /** After a kill, unacknowledged work is offered again within this time of a restart, milliseconds. */
  readonly redeliveryMs: number;
  /** What was settled at most so long before a kill may be offered again all the same, milliseconds. */
  readonly repeatsMs: number;
  /** Whether a repeated event id is recognised at publish for the whole retention. */
  readonly recognisesRepeatedEvents: boolean;
  /** Whether several processes may open it at once. */
  readonly multipleProcesses: boolean;
  /** Whether shelves forget by themselves, after a month; where they do, `forget` does nothing. */
  readonly shelvesForget: boolean;
}

export type PublishedEvent = 'accepted' | 'duplicate' | 'conflict';

export interface PublishedTask {
  readonly task: DeliveryTask;
  readonly journal: readonly JournalEntry[];
}

/** A record of EVENTS as it was read: decoded, or why it cannot be. Poison is an input, not an exception. */
export interface ReceivedEvent {
  readonly bytes: Uint8Array;
  /** When the broker had it durable, milliseconds since the epoch. */
  readonly acceptedAt: number;
  readonly decoded:
    | { readonly ok: true; readonly event: DomainEvent }
    | {
        readonly ok: false;
        readonly reason: QuarantineReason;
        readonly detail: string;
        /** From the header, where that much could be read. */
        readonly eventId?: string;
        readonly merchantId?: string;
      };
  /** The Kafka record that it was. */
  readonly origin?: RecordOrigin;
  /** An event with the same id and content came before: there is nothing to route. */
  readonly isRepeat?: boolean;
  /** W3C traceparent, well formed, if the producer sent one. */
  readonly traceparent?: string;
}

export type RouterResult =
  | { readonly kind: 'routed'; readonly tasks: readonly DeliveryTask[]; readonly journal: Routed }
  | { readonly kind: 'quarantined'; readonly record: Quarantined }
  /** A repeat of an event that came before: nothing comes of it. */
  | { readonly kind: 'repeated' };

export type Settlement =
  /** The task is over: its journal entries, the next attempt if there is one, the dead letter if it is one. */
  | {
      readonly kind: 'settled';
      readonly journal: readonly JournalEntry[];
      /** attempt + 1, hop 0, dueAt set. */
      readonly next?: DeliveryTask;
      readonly dead?: DeadLetter;
    }
  /**
   * Put back for a while without counting an attempt: comes again after the tier's delay with hop + 1. The journal is told
   * now and then.
   */
  | { readonly kind: 'parked'; readonly tier: Tier; readonly journal?: readonly JournalEntry[] }
  /** Given back because of our shutdown, or because it is lost; legal only after stop() was called, or then. */
  | { readonly kind: 'released' };

/**
 * Whether work that was handed over and has not begun may still be: another process may have it by now (`lost`: give it
 * back), or perhaps (`unsure`: wait, it will be one of the others; also while what comes of it could not be made
 * durable). Always `ours` where there is one process.
 */
export type Standing = 'ours' | 'unsure' | 'lost';

export interface Source<In, Out> {
  /**
   * Hands inputs to the handler, at most `inFlightMax` unsettled at a time. `signal` fires when the consumer
   * is stopped; `standing` is to be asked before something that cannot be undone. One consumer per source and process.
   */
  consume(
    handler: (input: In, signal: AbortSignal, standing: () => Standing) => Out | Promise<Out>,
    limits: { readonly inFlightMax: number },
  ): Promise<Consumer>;
}

export interface TaskSource extends Source<DeliveryTask, Settlement> {
  /**
   * Brings parked tasks of an endpoint back now, the longest parked first, at most so many; resolves with how many it
   * found. Delayed tasks that were not parked keep their time. Absent where the engine cannot; and an engine may know of
   * some of them only: each comes back by itself when its delay is over.
   */
  wake?(endpointId: string, most: number): Promise<number>;
}

export interface Consumer {
  /** No new handler call starts from now on; what runs goes on. */
  pause(): void;
  resume(): void;
  /**
   * Fires the handlers' signal, hands over nothing more, waits for what runs and makes it durable.
   * `abandoned`: the deadline passed first; what was unsettled will come again. May be called twice.
   */
  stop(deadlineMs: number): Promise<'drained' | 'abandoned'>;
}

export interface JournalSource {
  /**
   * Hands over batches, one at a time per partition, in order. The handler stores the effects and `last` in one
   * transaction; a batch is taken whole or the handler throws. `positionOf` answers how far the store has come,
   * so that what it has is not handed over again (a repeat is legal: the store drops what it has).
   */
  consume(
    handler: (batch: JournalBatch) => Promise<void>,
    positionOf: (partition: string) => Promise<number | undefined>,
    limits: { readonly batchMax: number },
  ): Promise<Consumer>;
}

export interface JournalBatch {
  /** Names the partition and its incarnation: a recreated stream is another partition. */
  readonly partition: string;
  /** Of the first entry and the last. Positions grow strictly within the stream; a batch leaves none out. */
  readonly first: number;
  readonly last: number;
  /** Of each entry, where they do not follow one another from `first` on. */
  readonly positions?: readonly number[];
  readonly entries: readonly JournalEntry[];
}

export interface Follower {
  /** Milliseconds since the table was last proved to be the newest; 0 where that cannot be otherwise. */
  stalenessMs(): number;
  close(): Promise<void>;
}

export interface ListOptions<Item> {
  /** A position: only what comes after it. */
  readonly after?: string;
  readonly limit: number;
  /** Only these. */
  readonly matches?: (record: Item) => boolean;
}

/** Records kept for operators. */
export interface Shelf<Item> {
  /** Oldest first. */
  list(options: ListOptions<Item>): Promise<readonly { readonly position: string; readonly record: Item }[]>;
  /** Hands over all that is on the shelf at the call, one after the other, at a cost linear in their number. */
  visit(use: (position: string, record: Item) => void | Promise<void>): Promise<void>;
  /** Takes these off for ever. Unknown positions are ignored. */
  forget(positions: readonly string[]): Promise<void>;
}

/** What was deleted of the streams before it was done. */
export interface Losses {
  /** Every topic, whoever reads it, also while nobody does. Acknowledged losses are told for as long as they are known. */
  list(): Promise<readonly TopicLosses[]>;
  /** An operator has dealt with these: nobody tells of them any more. Durable when it resolves. */
  acknowledge(topic: string, losses: readonly Loss[]): Promise<void>;
}

export interface BrokerStatus {
  readonly reachable: boolean;
  /** Streams that are consumed here and whose group does not count us among its members now, by name; empty = none. */
  readonly joining: readonly string[];
  /** Writes that wait although the engine is reachable, one line each, with what helps. */
  readonly waiting: readonly string[];
  /** How long the oldest task that is due has been waiting to be handed over, milliseconds; 0 = none. */
  readonly oldestOverdueMs: number;
  /** Servers' time minus this process's clock, as far as they provably differ, milliseconds; 0 where there are none. */
  readonly clockOffsetMs: number;
  /**
   * Records waiting per stream, whoever reads it, as far as the engine knows. Reading it costs an engine with several
   * processes questions to its servers: `partitions` has what this process reads.
   */
  readonly backlog: Readonly<Record<StreamName, number>>;
  /** The partitions that this process reads. */
  readonly partitions: readonly PartitionStatus[];
  readonly producer: { readonly waitingBytes: number; readonly oldestWaitingMs: number };
  /** Schemas that records wait for. */
  readonly schemasWaiting: number;
  /** Records put into quarantine by this process since its start. */
  readonly quarantined: ReadonlyMap<QuarantineReason, number>;
  /** Inputs whose handler keeps throwing. */
  readonly stuck: { readonly count: number; readonly oldestMs: number };
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
  /** Records not done, of the delayed stream only those that are due; null = not known. */
  readonly lag: number | null;
  /** How long the oldest of them has been waiting, milliseconds, of the delayed stream since it was due. */
  readonly oldestMs: number;
  /** Set while records come and none is done for a minute. */
  readonly stalled: { readonly forMs: number; readonly reason: string } | null;
  /** Until the oldest record that is not done is deleted by age, milliseconds; null = not known, or nothing waits. */
  readonly retentionLeftMs: number | null;
  /** How long progress has not been committed, milliseconds. */
  readonly uncommittedMs: number;
  readonly commitFailures: number;
  /** Records deleted before they were read, since the start. */
  readonly lost: number;
  /** What was lost and no operator has acknowledged; null = nothing. */
  readonly unacknowledged: LostRange | null;
  /** Times that the position was not one of the log's, since the start. */
  readonly outOfRange: number;
}
