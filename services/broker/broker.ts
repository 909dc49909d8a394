/**
 * The broker port: the streams between the stations. One folder beside this file per engine; broker/open.ts is the only
 * place that chooses one. test/contract/broker.contract.ts states these guarantees as tests.
 *
 * The rule behind all crash safety: a handler's result is durable before its input is acknowledged. So a crash at any
 * moment repeats work and never loses it; ids are deterministic, so repeats are recognised.
 * - A first attempt may be handed over without being stored: its event is then acknowledged with it.
 * - At least once: unacknowledged input is delivered again after a restart, within `capabilities.redeliveryMs`.
 * "Acknowledged" means "will normally not come again": an engine may repeat input that was settled just before a crash,
 * within the bound it states.
 * - Never early: a task is handed over at or after its `dueAt`. The engine may raise a due time, but lower it only for
 * a parked task that is woken, and for all when a sandbox's clock is moved on (`delays`).
 * - A handler that throws leaves its input unacknowledged: it comes again after a growing pause, see status().stuck.
 * - No stream behind a source starves another (retries and first attempts of `live` share one source).
 * - Publishing resolves when durable. A rejection means "outcome unknown", never "not written".
 * - Memory is bounded: each engine limits what it reads ahead, in records and bytes.
 */
import type { DirectoryChange } from '../domain/directory.ts';
import type { DomainEvent } from '../domain/event.ts';
import type { DeadLetter, JournalBatch, JournalEntry, Routed } from '../domain/journal.ts';
import type { ParkedSettlement } from '../domain/parking.ts';
import type {
  EventAbout,
  Quarantined,
  QuarantineReason,
  RecordOrigin,
  Refusal,
} from '../domain/quarantine.ts';
import type { DeliveryTask, TaskClass } from '../domain/task.ts';
import type { BrokerStatus } from './broker-status.ts';
import type { ClearText } from './clear-text.ts';
import type { Inline } from './inline.ts';
import type { Loss, TopicLosses } from './losses.ts';
import type { PublishedEvent, PublishOptions } from './publish.ts';
import type { QuarantinedFound, QuarantineWanted } from './quarantine-find.ts';
import type { StallLog } from './stalls.ts';

export type * from './clear-text.ts';
export type * from './inline.ts';
export type * from './publish.ts';
export type * from './quarantine-find.ts';
export type * from './stalls.ts';

/** Returned by a follower of the directory for a record that it does not accept. */
export const REFUSED = 'refused';

export interface Broker {
  readonly capabilities: BrokerCapabilities;
  /** Domain events, in order for each entity. The router is the only reader. */
  readonly events: Source<ReceivedEvent, RouterResult>;
  /** Tasks, handed over when due, one source per class. The sender is the only reader. */
  readonly tasks: Readonly<Record<TaskClass, TaskSource>>;
  /** The journal entries. The recorder is the only reader. */
  readonly journal: JournalSource;
  /** Returns one result per event, in order; `accepted` where repeats cannot be detected. At most 500 a call. */
  publishEvents(events: readonly DomainEvent[], options?: PublishOptions): Promise<PublishedEvent[]>;
  /** Tests, resends and replays: the task and its journal entry become durable together. */
  publishTasks(tasks: readonly PublishedTask[]): Promise<void>;
  /** Keeps the order of one call. Callers must serialise calls for one key. */
  publishDirectory(changes: readonly DirectoryChange[]): Promise<void>;
  /**
   * Resolves when the whole table, as it was at the call, has been applied; `apply` is synchronous and never throws. It
   * returns REFUSED for a record that must never be published again.
   */
  followDirectory(apply: (change: DirectoryChange) => unknown): Promise<Follower>;
  readonly quarantine: RecordStore<Quarantined> & {
    /** Returns the record at a position; undefined when there is none. Throws RangeError for an invalid position. */
    read(position: string): Promise<Quarantined | undefined>;
    /** Returns what a record says, for people, without what made a process stand still. Never throws. */
    clearText(record: Quarantined): Promise<ClearText>;
    /** Returns the newest records that are stored now, newest first, at a cost that does not grow with their number. */
    find(wanted: QuarantineWanted): Promise<QuarantinedFound>;
    /**
     * Puts any number of records back where they came from, unchanged, and removes them from the store. Records that
     * cannot be put back stay there and are returned with the reason. Unknown positions are ignored.
     */
    requeue(positions: readonly string[], options?: RequeueOptions): Promise<Requeued>;
  };
  readonly deadLetters: RecordStore<DeadLetter>;
  readonly stalls: StallLog;
  readonly remnants: Remnants;
  /** Absent where an engine never deletes unprocessed records. */
  readonly losses?: Losses;
  /** Absent where delays are measured by other clocks than this process's. */
  readonly delays?: Delays;
  status(): BrokerStatus;
  /** Resolves (never rejects) with the reason when the engine cannot continue; the process must then end. */
  readonly failed: Promise<Error>;
  /** Stops every consumer, makes settlements durable, releases the engine's resources. May be called twice. */
  close(): Promise<void>;
}

export interface RequeueOptions {
  /** Returns the event id under which a record is published instead, as any new event; null = it keeps its own. */
  readonly newIdOf?: (record: Quarantined) => string | null;
  /**
   * Returns why an event would be quarantined again, or null. A record with such an event, or with one that cannot be
   * read, is not put back. Without this function neither is checked.
   */
  readonly stillRefused?: (event: DomainEvent) => Promise<string | null>;
  /** Only returns what would become of the records: nothing is put back or removed. */
  readonly isDryRun?: boolean;
}

export interface Requeued {
  readonly requeued: number;
  readonly refused: readonly { readonly position: string; readonly detail: string }[];
}

/** The remains of records that are done or deleted, and the records of an entity that are still on the streams. */
export interface Remnants {
  /** Overwrites what is left in the engine's own files. Resolves with what it could not: none where retention deletes it. */
  purge(): Promise<readonly string[]>;
  /** Returns where records that are there now, or follow from them, may be, and for how long at the most. */
  kept(): Promise<readonly { readonly where: string; readonly forMs: number }[]>;
}

export interface BrokerCapabilities {
  /** After a kill, unacknowledged work is delivered again within this time of a restart, milliseconds. */
  readonly redeliveryMs: number;
  /** Work settled up to this long before a kill may still be delivered again, milliseconds. */
  readonly repeatsMs: number;
  /** Whether a repeated event id is recognised at publish for the whole retention. */
  readonly recognisesRepeatedEvents: boolean;
  /** Whether several processes may open it at once. */
  readonly multipleProcesses: boolean;
  /** Whether retention deletes quarantined records and dead letters after a month; then `forget` does nothing. */
  readonly hasRetention: boolean;
  /** Whether journal entries that a store had and lost are handed over again. */
  readonly keepsJournal: boolean;
}

/** The delayed tasks of every class, for a sandbox whose clock is moved on. */
export interface Delays {
  /** When the next one is due, by this process's clock; null = none waits. Exact while it is quiet. */
  nextDue(): number | null;
  /** Whether nothing is due, in hand or unrecorded: all that is left waits for a later time. */
  isQuiet(): boolean;
  /**
   * Makes each due earlier by `ms`, those that are being settled excepted, and calls `moved` at that moment. Durable when
   * it resolves; a rejection means that nothing was changed.
   */
  bringForward(ms: number, moved: () => void): Promise<void>;
}

/** Why a task is put aside. */
export type PutAside = Pick<Quarantined, 'reason' | 'detail' | 'at'>;

export interface PublishedTask {
  readonly task: DeliveryTask;
  readonly journal: readonly JournalEntry[];
}

/** A record of EVENTS: decoded, or the reason why it cannot be. Poison records are input, not an exception. */
export interface ReceivedEvent {
  readonly bytes: Uint8Array;
  /** When the broker made it durable, or was about to; milliseconds since the epoch. */
  readonly acceptedAt: number;
  readonly decoded:
    | { readonly ok: true; readonly event: DomainEvent }
    | (EventAbout & {
        readonly ok: false;
        readonly reason: QuarantineReason;
        readonly detail: string;
        /** From the header, where it could be read that far. */
        readonly eventId?: string;
        readonly merchantId?: string;
        readonly publishedBy?: string | undefined;
      });
  /** The Kafka record it came from. */
  readonly origin?: RecordOrigin;
  /** An event with the same id and content came before: there is nothing to route. */
  readonly isRepeat?: boolean;
  /** It must not be routed: its publisher was told so. Absent once an operator has put it back. */
  readonly refusal?: Refusal;
  /** W3C traceparent, well formed, if the producer sent one. */
  readonly traceparent?: string;
}

export type RouterResult =
  | { readonly kind: 'routed'; readonly tasks: readonly DeliveryTask[]; readonly journal: Routed }
  | { readonly kind: 'quarantined'; readonly record: Quarantined }
  /** A repeat of an earlier event: nothing is published. */
  | { readonly kind: 'repeated' };

export type Settlement =
  /** The attempt is finished: its journal entries, the next attempt if any, the dead letter if any. */
  | {
      readonly kind: 'settled';
      readonly journal: readonly JournalEntry[];
      /** attempt + 1, hop 0, dueAt set. */
      readonly next?: DeliveryTask;
      readonly dead?: DeadLetter;
      /** The task goes to the quarantine, and is not attempted until an operator puts it back. */
      readonly aside?: PutAside;
    }
  | ParkedSettlement
  /** Given back: allowed only after stop() was called, or when the task is lost. */
  | { readonly kind: 'released' };

/**
 * Whether this process still owns work that was handed over but not started. `lost`: another process may have it: give
 * it back. `unsure`: wait until it is one of the others; also while results cannot be made durable. Always `owned` with
 * a single process.
 */
export type Ownership = 'owned' | 'unsure' | 'lost';

export interface ConsumeLimits<In, Out> {
  /** Unsettled inputs at a time. */
  readonly inFlightMax: number;
  readonly inline?: Inline<In, Out>;
}

export interface Source<In, Out> {
  /**
   * Passes inputs to the handler, at most `inFlightMax` unsettled at a time. `signal` fires when the consumer is
   * stopped; call `ownership` before anything that cannot be undone. One consumer per source and process.
   */
  consume(
    handler: (input: In, signal: AbortSignal, ownership: () => Ownership) => Out | Promise<Out>,
    limits: ConsumeLimits<In, Out>,
  ): Promise<Consumer>;
}

export interface TaskSource extends Source<DeliveryTask, Settlement> {
  /**
   * Brings parked tasks of an endpoint back now, the longest parked first, at most this many; resolves with the number
   * found. Other delayed tasks keep their time. Absent where the engine cannot do it. An engine may know only some of
   * them: each comes back by itself when its delay ends.
   */
  wake?(endpointId: string, most: number): Promise<number>;
}

export interface Consumer {
  /** Starts no new handler call; running ones continue. */
  pause(): void;
  resume(): void;
  /**
   * Fires the handlers' signal, hands over nothing more, waits for running handlers and makes their results durable.
   * `abandoned`: the deadline passed first; unsettled input will be delivered again. May be called twice.
   */
  stop(deadlineMs: number): Promise<'drained' | 'abandoned'>;
}

export interface JournalSource {
  /** Set by the recorder. An engine calls it when no more entries should gather: somebody waits for one, or there are many. */
  onAwaited: () => void;
  /** Whether so many entries wait that no more should gather. */
  readonly isFull: boolean;
  /**
   * Hands over batches as soon as there are entries, one at a time per partition, in order. The handler stores the effects
   * and `last` in one transaction; it takes a batch as a whole or throws. `positionOf` returns the store's position, so
   * that recorded entries are not handed over again (a repeat is allowed: the store ignores entries that it has). When
   * the handler throws PositionLost, the position is asked for again, and reading continues there.
   */
  consume(
    handler: (batch: JournalBatch) => Promise<void>,
    positionOf: (partition: string) => Promise<number | undefined>,
    limits: { readonly batchMax: number },
  ): Promise<Consumer>;
}

export interface Follower {
  /** Returns the milliseconds since the table was last proved to be the newest; 0 where it always is. */
  stalenessMs(): number;
  close(): Promise<void>;
}

export interface ListOptions<Item> {
  /** A position: returns only later records. */
  readonly after?: string;
  readonly limit: number;
  /** Returns only matching records. */
  readonly matches?: (record: Item) => boolean;
}

/** Records kept for operators. */
export interface RecordStore<Item> {
  /** Oldest first. */
  list(options: ListOptions<Item>): Promise<readonly { readonly position: string; readonly record: Item }[]>;
  /** Visits every record stored at the time of the call, one after the other, at linear cost. */
  visit(use: (position: string, record: Item) => void | Promise<void>): Promise<void>;
  /** Removes these permanently. Unknown positions are ignored. */
  forget(positions: readonly string[]): Promise<void>;
}

/** Records that retention deleted from the streams before they were processed. */
export interface Losses {
  /**
   * Returns every topic, whoever reads it, also while nobody does. Acknowledged losses are included while they are
   * known.
   */
  list(): Promise<readonly TopicLosses[]>;
  /** Marks losses as dealt with by an operator, so that they are no longer reported. Durable when it resolves. */
  acknowledge(topic: string, losses: readonly Loss[]): Promise<void>;
}
