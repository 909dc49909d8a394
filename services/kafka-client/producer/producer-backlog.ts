import { growingPause } from '../../process/growing-pause.ts';
import type { OutgoingRecord } from './record-sender.ts';
import type { Waiting } from './waiting.ts';

/** Limits of one request: records, bytes in all, and bytes of one partition (a broker refuses a larger batch). */
const RECORDS_MAX = 2000;
const BYTES_MAX = 4 * 1024 * 1024;
const PARTITION_BYTES_MAX = 900 * 1024;
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 2000;

/** A record that waits for its acknowledgement. */
export interface Pending {
  readonly record: OutgoingRecord;
  /** In a batch, headers and lengths included. */
  readonly bytes: number;
  /** When it was added. */
  readonly at: number;
  readonly giveUpAt: number;
  readonly waiting: Waiting;
  /** Its sender has been notified. */
  isOver: boolean;
}

/**
 * Why a partition's records wait: its broker does not accept them, it has no leader, or the Kafka user may not write
 * them.
 */
export type TroubleKind = 'unacknowledged' | 'leaderless' | 'forbidden';

interface Trouble {
  readonly kind: TroubleKind;
  readonly since: number;
  readonly detail: string;
}

/**
 * The records of one partition, in order. At most one request with some of them is in progress.
 *
 *     waiting ── take ──► in flight ──► settled: acknowledged, what was wrong is over
 *        ▲                    ├── again: not acknowledged; sent again after a pause that grows
 *        └────────────────────┴── split: refused; half as many at once, until the record at fault is alone
 */
export class PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  readonly name: string;
  pending: Pending[] = [];
  underWay: readonly Pending[] = [];
  /** The number of next records that were refused together: one of them is at fault, or they are too many. */
  #suspects = 0;
  /** The most of them that are sent at once: half as many after each refusal, twice as many after each success. */
  #suspectsMax = 1;
  readonly #troubled: Set<PartitionQueue>;
  #trouble: Trouble | null = null;
  #failures = 0;
  #pausedUntil = 0;

  /** `troubled`: the queues whose trouble is set. */
  constructor(topic: string, partition: number, troubled: Set<PartitionQueue>) {
    this.#troubled = troubled;
    this.topic = topic;
    this.partition = partition;
    this.name = `${topic}/${partition}`;
  }

  get trouble(): Trouble | null {
    return this.#trouble;
  }

  set trouble(trouble: Trouble | null) {
    this.#trouble = trouble;
    if (trouble) this.#troubled.add(this);
    else this.#troubled.delete(this);
  }

  mayGo(now: number): boolean {
    return this.underWay.length === 0 && this.pending.length > 0 && now >= this.#pausedUntil;
  }

  /** Puts the records in flight back to the front, to be sent after a growing pause. */
  again(now: number, kind: TroubleKind, detail: string): void {
    this.#restore();
    this.#failures += 1;
    this.#pausedUntil = now + growingPause(this.#failures, PAUSE_MS, PAUSE_MS_MAX);
    const since = this.trouble?.since ?? now;
    this.trouble = this.pending.length > 0 ? { kind, since, detail } : null;
  }

  /** Sends the records in flight again, half as many at once. */
  split(): void {
    this.#suspects += this.underWay.length;
    this.#suspectsMax = Math.ceil(this.underWay.length / 2);
    this.#restore();
  }

  settled(): void {
    this.underWay = [];
    this.#suspectsMax *= 2;
    this.#failures = 0;
    this.#pausedUntil = 0;
    this.trouble = null;
  }

  /** Ends the pause, because conditions have changed. */
  hurry(): void {
    this.#pausedUntil = 0;
  }

  /** Takes as many from the front as fit beside the `records` and `bytes` already in the request. */
  take(records: number, bytes: number): readonly Pending[] {
    let length = 0;
    let own = 0;
    const max = Math.min(RECORDS_MAX - records, this.#suspects > 0 ? this.#suspectsMax : RECORDS_MAX);
    for (const pending of this.pending) {
      own += pending.bytes;
      const isFull = length >= max || bytes + own > BYTES_MAX || own > PARTITION_BYTES_MAX;
      if (isFull && (length > 0 || records > 0)) break;
      length += 1;
    }
    this.#suspects = Math.max(0, this.#suspects - length);
    this.underWay = this.pending.splice(0, length);
    return this.underWay;
  }

  #restore(): void {
    this.pending = [...this.underWay.filter(({ isOver }) => !isOver), ...this.pending];
    this.underWay = [];
  }
}

export interface Batch {
  readonly leader: number;
  readonly queues: readonly PartitionQueue[];
}

/** The records waiting to be sent, one queue per partition. */
export class ProducerBacklog {
  readonly #queues = new Map<string, PartitionQueue>();
  /** Queues whose records wait for a reason. */
  readonly troubled = new Set<PartitionQueue>();
  /** Queues with records that are not in flight, the longest waiting first. */
  readonly #waiting = new Set<PartitionQueue>();
  #bytes = 0;

  /** Bytes waiting or in flight. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the oldest unacknowledged record was added; Infinity = there is none. */
  get oldestAt(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { underWay, pending } of this.#queues.values()) {
      const first = underWay.find(({ isOver }) => !isOver) ?? pending[0];
      if (first) oldest = Math.min(oldest, first.at);
    }
    return oldest;
  }

  queueOf(topic: string, partition: number): PartitionQueue | undefined {
    return this.#queues.get(`${topic}/${partition}`);
  }

  get queues(): Iterable<PartitionQueue> {
    return this.#queues.values();
  }

  add(pending: Pending): void {
    const { topic, partition } = pending.record;
    let queue = this.queueOf(topic, partition);
    if (!queue) {
      queue = new PartitionQueue(topic, partition, this.troubled);
      this.#queues.set(queue.name, queue);
    }
    this.#bytes += pending.bytes + 1;
    queue.pending.push(pending);
    this.#waiting.add(queue);
  }

  /** Returns one batch for every leader that is free and has records to receive. Call `waits` when it has ended. */
  takeBatches(now: number, leaderOf: (queue: PartitionQueue) => number | undefined): Batch[] {
    const byLeader = new Map<number, { queues: PartitionQueue[]; records: number; bytes: number }>();
    for (const queue of [...this.#waiting]) {
      const leader = queue.mayGo(now) ? leaderOf(queue) : undefined;
      if (leader === undefined) continue;
      let batch = byLeader.get(leader);
      if (!batch) {
        batch = { queues: [], records: 0, bytes: 0 };
        byLeader.set(leader, batch);
      }
      const taken = queue.take(batch.records, batch.bytes);
      if (taken.length === 0) continue;
      batch.queues.push(queue);
      batch.records += taken.length;
      for (const { bytes } of taken) batch.bytes += bytes;
      // Moves behind the others, whatever is added to it meanwhile.
      this.#waiting.delete(queue);
    }
    return [...byLeader].map(([leader, { queues }]) => ({ leader, queues }));
  }

  /** A queue's request has ended. */
  waits(queue: PartitionQueue): void {
    if (queue.pending.length > 0) this.#waiting.add(queue);
  }

  /** A record was acknowledged, refused or given up. */
  over(pending: Pending): void {
    if (pending.isOver) return;
    pending.isOver = true;
    this.#bytes -= pending.bytes + 1;
  }

  /** The queue's records in flight will never be acknowledged. */
  reject(queue: PartitionQueue, errorOf: (record: OutgoingRecord) => Error): void {
    const { underWay } = queue;
    queue.settled();
    for (const pending of underWay) {
      this.over(pending);
      pending.waiting.reject(errorOf(pending.record));
    }
  }

  /** Removes and returns records that have waited too long, in flight or not. */
  takeOverdue(now: number): Pending[] {
    const overdue: Pending[] = [];
    for (const queue of this.#queues.values()) {
      const isLate = ({ giveUpAt, isOver }: Pending) => !isOver && giveUpAt <= now;
      if (!queue.pending.some(isLate) && !queue.underWay.some(isLate)) continue;
      overdue.push(...queue.pending.filter(isLate), ...queue.underWay.filter(isLate));
      queue.pending = queue.pending.filter((pending) => !isLate(pending));
      if (queue.pending.length === 0 && queue.underWay.length === 0) queue.trouble = null;
    }
    for (const pending of overdue) this.over(pending);
    return overdue;
  }

  takeAll(): Pending[] {
    const all = [...this.#queues.values()].flatMap(({ underWay, pending }) => [...underWay, ...pending]);
    const open = all.filter(({ isOver }) => !isOver);
    for (const pending of open) this.over(pending);
    this.#queues.clear();
    this.troubled.clear();
    this.#waiting.clear();
    return open;
  }
}
