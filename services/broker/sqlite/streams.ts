import type { RecordDecoder } from '../../codec/record-codec.ts';
import type { DirectoryChange } from '../../domain/directory.ts';
import type { Clock } from '../../process/clock.ts';
import type { BrokerStatus, PartitionStatus, StreamName } from '../broker-status.ts';
import { ParkedTally } from '../parked-tally.ts';
import type { CommitHalf } from './commit-half.ts';
import { DelayedTasks } from './delayed-tasks.ts';
import type { EngineThread, OpenedBroker } from './file/engine-thread.ts';
import { type CommitReply, EVENTS, JOURNAL, STREAMS } from './file/wire.ts';
import { LogStream } from './log-stream.ts';

/** Every stream of the file: the logs, their delayed tasks, and the decoders of stored records. */
export class Streams {
  readonly #decoders: OpenedBroker['decoders'];
  readonly #clock: Clock;
  readonly #logs: readonly LogStream<unknown>[];
  readonly #delayed: readonly DelayedTasks[];

  constructor(thread: EngineThread, opened: OpenedBroker, clock: Clock, failed: (error: Error) => void) {
    this.#clock = clock;
    this.#decoders = opened.decoders;
    this.#logs = STREAMS.map((_, stream) => {
      const pending = opened.pending[stream] ?? 0;
      const oldest = opened.oldest[stream] ?? -1;
      return new LogStream({ stream, thread, decoderOf: this.decoderOf<unknown>, pending, oldest, failed });
    });
    this.#delayed = STREAMS.map((_, taskClass) => {
      const pending = opened.delayed[taskClass] ?? 0;
      return new DelayedTasks({ taskClass, thread, clock, decoderOf: this.decoderOf, pending, failed });
    });
  }

  /** Returns the decoder of records stored under a writer schema of the file. */
  readonly decoderOf = <T>(schema: number): RecordDecoder<T> => {
    const decoder = this.#decoders.get(schema);
    if (!decoder) throw new Error(`the file does not say what schema ${schema} is`);
    return decoder as RecordDecoder<T>;
  };

  log<T>(stream: number): LogStream<T> {
    return this.#logs[stream] as LogStream<T>;
  }

  delayed(taskClass: number): DelayedTasks {
    return this.#delayed[taskClass] as DelayedTasks;
  }

  /** Passes a commit's durable records to the streams, in the order they were written. */
  committed(settlements: CommitHalf, publications: CommitHalf | null, at: number, reply: CommitReply): void {
    const known = new Set(reply.repeats.filter((_, index) => index % 2 === 0));
    let checked = 0;
    let order = 0;
    let id = reply.delayedFirst;
    const touched = new Set<LogStream<unknown>>();
    for (const half of publications ? [settlements, publications] : [settlements]) {
      for (const row of half.rows) {
        const first = reply.firsts[order++] ?? -1;
        const repeated: number[] = [];
        if (row.checked && known.size > 0) {
          for (let index = 0; index < row.records.length; index += 1) {
            if (known.has(checked + index)) repeated.push(index);
          }
        }
        if (row.checked) checked += row.records.length;
        const log = this.#logs[row.stream];
        if (first < 0 || !log) continue;
        log.committed(first, at, row.length, row.records, repeated);
        touched.add(log);
      }
      for (const { stream, task, bytes } of half.delayed) this.#delayed[stream]?.committed(id++, task, bytes);
    }
    for (const log of touched) log.onAvailable();
    const { forward } = publications ?? {};
    if (!forward) return;
    forward.moved();
    for (const delayed of this.#delayed) delayed.bringForward(forward.ms);
  }

  /** When the next delayed task is due; null = none waits. */
  nextDue(): number | null {
    const due = this.#delayed.flatMap(({ nextDue }) => nextDue ?? []);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** Whether every record is done and recorded, and nothing is due or handed over. */
  isQuiet(): boolean {
    const now = this.#clock.now();
    const isDone = this.#logs.every(({ pending }) => pending === 0);
    return isDone && this.#delayed.every((delayed) => delayed.isWaiting(now));
  }

  backlog(): BrokerStatus['backlog'] {
    const logs = this.#logs.map(({ pending }) => pending);
    const tasks = logs.slice(EVENTS + 1, JOURNAL).reduce((sum, pending) => sum + pending, 0);
    const delayed = this.#delayed.reduce((sum, { pending }) => sum + pending, 0);
    return { events: logs[EVENTS] ?? 0, tasks, delayed, journal: logs[JOURNAL] ?? 0 };
  }

  partitions(): PartitionStatus[] {
    const now = this.#clock.now();
    const logs = this.#logs.map(({ pending, oldestAt }, stream) => {
      const topic = STREAMS[stream] ?? '';
      const at = pending > 0 ? oldestAt : undefined;
      return { ...IDLE, stream: streamNameOf(stream), topic, lag: pending, oldestMs: ageOf(at, now) };
    });
    const delayed = this.#delayed.flatMap(({ nextDue }, taskClass) => {
      if (taskClass <= EVENTS || taskClass >= JOURNAL) return [];
      const topic = `${STREAMS[taskClass]}.delayed`;
      return [{ ...IDLE, stream: 'delayed' as const, topic, lag: null, oldestMs: ageOf(nextDue, now) }];
    });
    return [...logs, ...delayed];
  }

  parked(): BrokerStatus['parked'] {
    return ParkedTally.read(
      this.#delayed.map(({ tally }) => tally),
      this.#clock.now(),
    );
  }

  oldestOverdueMs(): number {
    const now = this.#clock.now();
    const setBy = this.#clock.wall(now) - now;
    const waiting = this.#logs
      .slice(EVENTS + 1, JOURNAL)
      .map(({ oldestAt }) => (oldestAt === undefined ? now : oldestAt - setBy));
    const due = this.#delayed.map(({ nextDue }) => nextDue ?? now);
    return Math.max(0, now - Math.min(now, ...waiting, ...due));
  }

  close(): void {
    for (const delayed of this.#delayed) delayed.close();
  }
}

/** Returns the directory changes of a commit that were not stale: settlements contain none. */
export function directoryChangesOf(publications: CommitHalf, reply: CommitReply): readonly DirectoryChange[] {
  return publications.directory.filter((_, order) => !reply.stale.includes(order));
}

/** The status of streams in a file with a single process: nothing is lost, taken over or committed separately. */
const IDLE = {
  partition: 0,
  isHeld: true,
  stalled: null,
  retentionLeftMs: null,
  uncommittedMs: 0,
  commitFailures: 0,
  lost: 0,
  unacknowledged: null,
  outOfRange: 0,
} as const;

function streamNameOf(stream: number): StreamName {
  if (stream === EVENTS) return 'events';
  return stream === JOURNAL ? 'journal' : 'tasks';
}

function ageOf(at: number | undefined, now: number): number {
  return at === undefined ? 0 : Math.max(0, now - at);
}
