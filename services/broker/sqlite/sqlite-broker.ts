/**
 * The embedded engine: one process, one file, no server. A thread of its own owns the file, so that the main thread
 * never waits for the disk; publications and settlements during a commit go into the next commit together.
 *
 * Streams are logs of batch rows (one per commit), so a record costs very little; committed records are
 * handed over from memory. Delayed tasks are a table with an index on the due time.
 */

import type { DirectoryChange } from '../../domain/directory.ts';
import type { DomainEvent } from '../../domain/event.ts';
import type { QuarantineReason } from '../../domain/quarantine.ts';
import { attemptLabel, eventLabel } from '../../domain/stalls/stall.ts';
import type { DeliveryTask, TaskClass } from '../../domain/task.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type Activity, NOT_WATCHED } from '../../watchdog/activity.ts';
import type {
  Broker,
  BrokerCapabilities,
  Delays,
  Follower,
  PublishedEvent,
  PublishedTask,
  PublishOptions,
  ReceivedEvent,
  RouterResult,
} from '../broker.ts';
import { type BrokerStatus, stuckOf } from '../broker-status.ts';
import { WorkSource } from '../work-source.ts';
import { noteClockChanges } from './clock-note.ts';
import { CommitQueue } from './commit-queue.ts';
import { DirectoryTable } from './directory-table.ts';
import { EventPublisher } from './event-publisher.ts';
import { EngineThread, type OpenedBroker } from './file/engine-thread.ts';
import { EVENTS, JOURNAL, streamOf } from './file/wire.ts';
import { Forgetting } from './forgetting.ts';
import { SqliteJournal } from './journal-reader.ts';
import { Purging, remnantsOf } from './purging.ts';
import { deadLetterStore, quarantineStore } from './record-stores.ts';
import { EmbeddedEvent, settleEvent, settleTask } from './settle.ts';
import { SETTLEMENTS_WAIT_MS } from './settlements-wait.ts';
import { StallFile } from './stalls/stall-file.ts';
import { directoryChangesOf, Streams } from './streams.ts';
import { FileTaskSource } from './task-source.ts';
import { type FileItem, markSettled } from './work.ts';

const CLOSE_GRACE_MS = 5_000;
/**
 * No event is routed while this many first attempts wait in memory: further tasks would have to be read back from the
 * file, and an event takes less space than its tasks.
 */
const TASKS_AHEAD_MAX = 2048;

export interface SqliteBrokerOptions {
  /** The data file; `<file>.lock` beside it is held while it is open. */
  readonly file: string;
  readonly clock: Clock;
  /** Divides the delays of parked tasks (1 in production). */
  readonly retryScale: number;
  readonly log?: Logger;
  readonly recentEventsRetentionMs?: number;
  /** Tells a watchdog what the main thread is busy with. */
  readonly activity?: Activity;
}

/** The broker, with a way to end a process at once. */
export interface SqliteBroker extends Broker {
  /** Releases the file at once. Nothing more is made durable; unsettled work is delivered again. */
  abandon(): Promise<void>;
}

/** Opens the data file. Rejects with one line for an operator: in use, damaged, written by a newer version. */
export async function openSqliteBroker(options: SqliteBrokerOptions): Promise<SqliteBroker> {
  const { thread, opened } = await EngineThread.open(options.file);
  return new SqliteEngine(options, thread, opened);
}

class SqliteEngine implements SqliteBroker {
  readonly capabilities: BrokerCapabilities = {
    redeliveryMs: 0,
    repeatsMs: SETTLEMENTS_WAIT_MS,
    recognisesRepeatedEvents: true,
    multipleProcesses: false,
    hasRetention: false,
    keepsJournal: false,
  };
  readonly events: WorkSource<FileItem<DomainEvent>, ReceivedEvent, RouterResult>;
  readonly tasks: Readonly<Record<TaskClass, FileTaskSource>>;
  readonly journal: SqliteJournal;
  readonly quarantine: Broker['quarantine'];
  readonly deadLetters: Broker['deadLetters'];
  readonly stalls: StallFile;
  readonly delays: Delays;
  readonly remnants: Broker['remnants'];
  readonly failed: Promise<Error>;
  readonly #options: SqliteBrokerOptions;
  readonly #thread: EngineThread;
  readonly #queue: CommitQueue;
  readonly #streams: Streams;
  readonly #directory: DirectoryTable;
  readonly #publisher: EventPublisher;
  #fail: (error: Error) => void = () => {};
  readonly #endClockNote: () => void;
  readonly #quarantined = new Map<QuarantineReason, number>();
  readonly #forgetting: Forgetting;
  readonly #purging: Purging;
  #closing: Promise<void> | null = null;

  constructor(options: SqliteBrokerOptions, thread: EngineThread, opened: OpenedBroker) {
    const { clock, log, activity = NOT_WATCHED } = options;
    this.#options = options;
    this.#thread = thread;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    const failed = (error: Error) => {
      this.#queue.end(error);
      this.#fail(error);
    };
    thread.onGone = failed;
    this.#streams = new Streams(thread, opened, clock, failed);
    this.#directory = new DirectoryTable(thread, this.#streams.decoderOf);
    this.#queue = new CommitQueue({
      ...{ thread, clock, log, file: options.file, sequence: opened.sequence },
      fatal: failed,
      committed: (settlements, publications, at, reply) => {
        this.#streams.committed(settlements, publications, at, reply);
        this.#purging.committed();
        if (publications && publications.directory.length > 0)
          this.#directory.committed(directoryChangesOf(publications, reply));
      },
    });
    this.events = this.#eventSource();
    this.#publisher = new EventPublisher({
      ...{ clock, thread, queue: this.#queue, source: this.events, activity },
      stream: this.#streams.log<DomainEvent>(EVENTS),
      quarantined: (reason, count) => this.#countQuarantined(reason, count),
    });
    this.tasks = {
      live: this.#taskSource('live'),
      test: this.#taskSource('test'),
      replay: this.#taskSource('replay'),
    };
    this.journal = new SqliteJournal({
      partition: `sqlite:${opened.instance}`,
      log: this.#streams.log<Buffer>(JOURNAL),
      queue: this.#queue,
      clock,
      logger: log,
    });
    this.quarantine = quarantineStore(thread, this.#queue, this.#streams.decoderOf, clock);
    this.deadLetters = deadLetterStore(thread, this.#queue, this.#streams.decoderOf);
    this.stalls = new StallFile(options.file, clock);
    this.delays = {
      nextDue: () => this.#streams.nextDue(),
      isQuiet: () => this.#isQuiet(),
      bringForward: async (ms, moved) => {
        await this.#queue.publish((part) => part.bringForward(ms, moved));
      },
    };
    const retentionMs = options.recentEventsRetentionMs;
    this.#forgetting = new Forgetting({ clock, queue: this.#queue, thread, retentionMs });
    this.#purging = new Purging({ clock, thread, isQuiet: () => this.#isQuiet() });
    const isEmpty = () => this.#isQuiet() && this.delays.nextDue() === null;
    this.remnants = remnantsOf(this.#purging, isEmpty, options.retryScale);
    this.#endClockNote = noteClockChanges(clock, this.#queue);
  }

  publishEvents(events: readonly DomainEvent[], options?: PublishOptions): Promise<PublishedEvent[]> {
    return this.#publisher.publish(events, options);
  }

  async publishTasks(tasks: readonly PublishedTask[]): Promise<void> {
    if (tasks.length === 0) return;
    await this.#queue.publish((part) => {
      const now = this.#options.clock.now();
      for (const { journal } of tasks) for (const entry of journal) part.append(JOURNAL, entry);
      for (const { task } of tasks) part.appendTask(task, now);
    });
  }

  async publishDirectory(changes: readonly DirectoryChange[]): Promise<void> {
    if (changes.length === 0) return;
    await this.#queue.publish((part) => {
      for (const change of changes) part.putDirectory(change);
    });
  }

  followDirectory(apply: (change: DirectoryChange) => unknown): Promise<Follower> {
    return this.#directory.follow(apply);
  }

  status(): BrokerStatus {
    return {
      reachable: this.#queue.reachable,
      joining: [],
      waiting: [],
      oldestOverdueMs: this.#streams.oldestOverdueMs(),
      ...{ clockOffsetMs: 0, parked: this.#streams.parked() },
      backlog: this.#streams.backlog(),
      partitions: this.#streams.partitions(),
      producer: { waitingBytes: 0, oldestWaitingMs: this.#queue.waitingMs },
      schemasWaiting: 0,
      quarantined: this.#quarantined,
      stuck: stuckOf(this.#sources(), this.#options.clock.now()),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async abandon(): Promise<void> {
    this.#closing ??= Promise.resolve();
    this.#release();
    // Results are no longer stored; work that waits out a pause must not keep the process alive.
    for (const source of this.#sources()) void source.stop(0);
    await this.#thread.terminate();
  }

  async #close(): Promise<void> {
    const { clock } = this.#options;
    await Promise.all(this.#sources().map((source) => source.stop(CLOSE_GRACE_MS)));
    // A full disk must not keep the process from ending: work that cannot be made durable is delivered again.
    const ended = new AbortController();
    await Promise.race([this.#queue.drained(), clock.sleep(CLOSE_GRACE_MS, ended.signal)]);
    ended.abort();
    this.#release();
    await this.#purging.end();
    await this.#thread.close();
  }

  #release(): void {
    this.#forgetting.end();
    this.#purging.cancel();
    this.#endClockNote();
    this.#streams.close();
    this.#queue.end(new Error('the broker is closed'));
  }

  #isQuiet(): boolean {
    if (this.#queue.isIdle) return this.#streams.isQuiet();
    // The caller waits until it is.
    this.#queue.hurry();
    return false;
  }

  #sources() {
    return [this.events, this.tasks.live, this.tasks.test, this.tasks.replay, this.journal];
  }

  #eventSource(): SqliteEngine['events'] {
    const { clock, log, activity = NOT_WATCHED } = this.#options;
    const live = this.#streams.log<DeliveryTask>(streamOf('live'));
    return new WorkSource<FileItem<DomainEvent>, ReceivedEvent, RouterResult>({
      name: 'events',
      feeds: [this.#streams.log<DomainEvent>(EVENTS)],
      input: ({ record, row }) => new EmbeddedEvent(record, row?.at ?? 0),
      settle: (result, item) => {
        const { settlements } = this.#queue;
        activity.within(eventLabel(item.record), () => settleEvent(result, settlements, clock.now()));
        if (result.kind === 'quarantined') this.#countQuarantined(result.record.reason, 1);
        return markSettled(item, this.#queue);
      },
      awaited: () => this.#queue.hurry(),
      mayHandOver: () => live.ahead < TASKS_AHEAD_MAX || !this.tasks.live.isConsumed,
      clock,
      log,
    });
  }

  #taskSource(name: TaskClass): FileTaskSource {
    const { clock, log, retryScale, activity = NOT_WATCHED } = this.#options;
    const stream = streamOf(name);
    return new FileTaskSource(this.#streams.log<DeliveryTask>(stream), this.#streams.delayed(stream), {
      name,
      settle: (out, item) => {
        const options = { now: clock.now(), retryScale };
        const { record } = item;
        const settle = () => settleTask(out, record, this.#queue.settlements, options);
        if (!activity.within(attemptLabel(record), settle)) return false;
        if (out.kind === 'settled' && out.aside) this.#countQuarantined(out.aside.reason, 1);
        markSettled(item, this.#queue);
        // A replay goes on when its attempts are recorded, and somebody watches a test or a resend.
        if (name !== 'live') this.#queue.hurry();
        if (name === 'test') this.#queue.settled({ durable: () => this.journal.onAwaited() });
        return true;
      },
      awaited: () => this.#queue.hurry(),
      progressed: () => this.events.pump(),
      clock,
      log,
    });
  }

  #countQuarantined(reason: QuarantineReason, count: number): void {
    this.#quarantined.set(reason, (this.#quarantined.get(reason) ?? 0) + count);
  }
}
