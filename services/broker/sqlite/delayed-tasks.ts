import type { RecordDecoder } from '../../codec/record-codec.ts';
import type { DeliveryTask } from '../../domain/task.ts';
import type { Clock } from '../../process/clock.ts';
import { DueHeap, type DueKey, isBefore } from '../due-heap.ts';
import { ParkedTally } from '../parked-tally.ts';
import type { CommitHalf } from './commit-half.ts';
import type { EngineThread } from './file/engine-thread.ts';
import type { StoredDelayed } from './file/wire.ts';
import { ParkedIds } from './parked-ids.ts';
import { type FileFeed, FileItem } from './work.ts';

/**
 * Limits of the memory: the next tasks due, at most twice this many, and about this many bytes. The rest stays in the
 * file.
 */
const WINDOW_TASKS = 1_000;
const WINDOW_BYTES = 16 * 1024 * 1024;

interface Entry extends DueKey {
  readonly task: DeliveryTask;
  readonly bytes: number;
}

/** Later than everything. */
const END: DueKey = { due: Number.POSITIVE_INFINITY, id: Number.POSITIVE_INFINITY };

/**
 * The delayed tasks of one class: retries, parked tasks, tasks published for later. Handed over when due, never
 * before. Invariant: every task of the file that is before `#horizon` is in memory, waiting or handed over.
 */
export class DelayedTasks implements FileFeed<DeliveryTask> {
  readonly #taskClass: number;
  readonly #thread: EngineThread;
  readonly #clock: Clock;
  readonly #decoderOf: (schema: number) => RecordDecoder<DeliveryTask>;
  readonly #failed: (error: Error) => void;
  readonly #heap = new DueHeap<Entry>();
  /** Ids in memory, waiting or handed over: a read may find them in the file again. */
  readonly #held = new Set<number>();
  readonly #parked = new ParkedIds();
  readonly tally = new ParkedTally();
  /** The first id since the file was opened. Earlier tasks are in the tally only while they are in memory. */
  #firstOwn = Number.POSITIVE_INFINITY;
  #bytes = 0;
  #horizon: DueKey;
  #reading = false;
  /** A read was asked for after due times became earlier in the file, by the horizon of before. */
  #isReadStale = false;
  #timer: { readonly due: number; readonly cancel: () => void } | null = null;
  /** Tasks that are not done. */
  pending: number;
  onAvailable: () => void = () => {};

  constructor(options: {
    readonly taskClass: number;
    readonly thread: EngineThread;
    readonly clock: Clock;
    readonly decoderOf: (schema: number) => RecordDecoder<DeliveryTask>;
    readonly pending: number;
    readonly failed: (error: Error) => void;
  }) {
    this.#taskClass = options.taskClass;
    this.#thread = options.thread;
    this.#clock = options.clock;
    this.#decoderOf = options.decoderOf;
    this.#failed = options.failed;
    this.pending = options.pending;
    this.#horizon = options.pending > 0 ? { due: Number.NEGATIVE_INFINITY, id: -1 } : END;
    this.#readAhead();
  }

  /** Adds a task that was committed. */
  committed(id: number, task: DeliveryTask, bytes: number): void {
    this.pending += 1;
    if (task.hop > 0) this.#parked.add(task.endpointId, id);
    this.#firstOwn = Math.min(this.#firstOwn, id);
    this.tally.add(task.parked);
    const entry: Entry = { due: task.dueAt, id, task, bytes };
    // Beyond the horizon it stays in the file until it is nearly due.
    if (!isBefore(entry, this.#horizon)) return;
    this.#hold(entry);
    if (this.#heap.size > 2 * WINDOW_TASKS || (this.#bytes > 2 * WINDOW_BYTES && this.#heap.size > 1))
      this.#trim();
    this.#arm();
  }

  take(): FileItem<DeliveryTask> | undefined {
    const next = this.#heap.top;
    if (!next) return undefined;
    if (next.due > this.#clock.now()) {
      this.#arm();
      return undefined;
    }
    this.#heap.pop();
    this.#bytes -= next.bytes;
    if (next.task.hop > 0) this.#parked.remove(next.task.endpointId, next.id);
    this.tally.remove(next.task.parked);
    this.#readAhead();
    return new FileItem(next.task, null, next.id, this);
  }

  complete(item: FileItem<DeliveryTask>, half: CommitHalf): void {
    half.delayedDone(item.index);
  }

  completed(item: FileItem<DeliveryTask>): void {
    this.#held.delete(item.index);
    this.pending -= 1;
  }

  /**
   * Makes parked tasks of an endpoint due now; see the port. The file keeps their time: after a crash it applies again.
   */
  async wake(endpointId: string, most: number): Promise<number> {
    const ids = this.#parked.take(endpointId, most);
    const away = ids.filter((id) => !this.#held.has(id));
    if (away.length > 0) {
      const reply = await this.#thread.read({
        kind: 'readDelayedIds',
        taskClass: this.#taskClass,
        ids: away,
      });
      // One of them may have been read ahead meanwhile: then it is already in memory.
      if (reply.kind === 'delayed') for (const row of reply.rows) this.#load(row);
      // The read failed: keep the ids for the next call.
      else for (const id of away) this.#parked.add(endpointId, id);
    }
    const now = this.#clock.now();
    const woken = this.#heap.remove(new Set(ids));
    for (const entry of woken) this.#heap.push({ ...entry, due: now, task: { ...entry.task, dueAt: now } });
    this.onAvailable();
    return woken.length;
  }

  /** Makes every task due earlier, as the commit that was just made did in the file. */
  bringForward(ms: number): void {
    const { due, id } = this.#horizon;
    if (this.#horizon !== END) this.#horizon = { due: due - ms, id };
    // The file's replies come in order: a read that is still open was made after the commit.
    this.#isReadStale = this.#reading;
    for (const entry of this.#heap.trim(0)) {
      const dueAt = entry.due - ms;
      this.#heap.push({ ...entry, due: dueAt, task: { ...entry.task, dueAt } });
    }
    this.close();
    this.#arm();
    this.onAvailable();
  }

  /** Whether all its tasks wait for a time after `now`. */
  isWaiting(now: number): boolean {
    const isInHand = this.#held.size > this.#heap.size;
    return !isInHand && !this.#reading && (this.#heap.top?.due ?? END.due) > now;
  }

  /** When the soonest waiting task is due; undefined = none is in memory. */
  get nextDue(): number | undefined {
    return this.#heap.top?.due;
  }

  /** Cancels the timer. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #hold(entry: Entry): void {
    this.#heap.push(entry);
    this.#held.add(entry.id);
    this.#bytes += entry.bytes;
  }

  /** Drops the latest ones from memory: they are in the file, and are read again when they are nearly due. */
  #trim(): void {
    const half = Math.max(1, Math.min(WINDOW_TASKS, this.#heap.size >> 1));
    const dropped = this.#heap.trim(half);
    for (const { id, bytes, task } of dropped) {
      this.#held.delete(id);
      this.#bytes -= bytes;
      if (id < this.#firstOwn) this.tally.remove(task.parked);
    }
    const [first] = dropped;
    if (first && isBefore(first, this.#horizon)) this.#horizon = { due: first.due, id: first.id };
  }

  /** Sets the one timer, for the soonest. */
  #arm(): void {
    const due = this.#heap.top?.due;
    if (due === undefined || (this.#timer && this.#timer.due <= due)) return;
    this.#timer?.cancel();
    const cancel = this.#clock.at(due, () => {
      this.#timer = null;
      this.onAvailable();
    });
    this.#timer = { due, cancel };
  }

  #readAhead(): void {
    if (this.#horizon === END || this.#reading || this.#heap.size > WINDOW_TASKS / 2) return;
    this.#reading = true;
    const { due, id } = this.#horizon;
    const request = {
      kind: 'readDelayed',
      taskClass: this.#taskClass,
      due,
      id,
      limit: WINDOW_TASKS,
      bytesMax: WINDOW_BYTES,
    } as const;
    this.#thread.send(request, [], (reply) => {
      this.#reading = false;
      const isStale = this.#isReadStale;
      this.#isReadStale = false;
      if (reply.kind === 'unreadable') this.#failed(new Error(reply.message));
      else if (isStale) this.#readAhead();
      // A trim during the read has lowered the horizon: there may be a gap before the tasks that were read.
      else if (reply.kind === 'delayed' && isBefore(this.#horizon, { due, id })) this.#readAhead();
      else if (reply.kind === 'delayed') this.#loaded(reply.rows, reply.more);
    });
  }

  #loaded(rows: readonly StoredDelayed[], more: boolean): void {
    for (const row of rows) this.#load(row);
    const last = rows.at(-1);
    this.#horizon = more && last ? { due: last.due, id: last.id + 1 } : END;
    this.#readAhead();
    this.#arm();
    this.onAvailable();
  }

  #load({ id, due, schema, blob }: StoredDelayed): void {
    if (this.#held.has(id)) return;
    const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
    try {
      const task = this.#decoderOf(schema).decode(bytes, 0);
      // The file's due time was corrected when the file was opened after the system's time had been set.
      const moved = task.dueAt === due ? task : { ...task, dueAt: due };
      this.#hold({ id, due, task: moved, bytes: bytes.length });
      if (id < this.#firstOwn) this.tally.add(task.parked);
    } catch (error) {
      this.#failed(new Error(`delayed task ${id} is damaged: ${error}`));
    }
  }
}
