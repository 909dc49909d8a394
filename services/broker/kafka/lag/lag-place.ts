import type { Partition } from '../../../kafka-client/consumer/partition.ts';
import type { PartitionStatus } from '../../broker-status.ts';
import type { LagTopic } from './lag-topics.ts';

/** A partition is stalled when its end grows but its position has not moved for this long. */
const STALLED_MS = 60_000;

/** One partition: its end, its progress and, while it is ours, its waiting records. */
export class PartitionLag {
  readonly #id: number;
  /** The offset after the newest record. */
  #end = 0;
  /** Everything before it is done, as far as is known. */
  #done = 0;
  #holder: Partition | null = null;
  /** The append time of each record that is read and not settled, by offset, in that order. */
  readonly #waiting = new Map<number, number>();
  /** The append time of the record that was read last. */
  #newestReadAt = 0;
  /** Since when records have waited at this position without progress, or null. */
  waitingSince: number | null = null;
  /** The time of the brokers' last answer that includes the group's commit. */
  answeredAt = Number.NEGATIVE_INFINITY;
  /** The position when it last moved, when that was, and the end when records first waited there. */
  #stand = { position: -1, since: 0, end: 0 };
  #committed = 0;
  /** Since when there has been progress that is not committed, or null. */
  #uncommittedSince: number | null = null;
  commitFailures = 0;
  lost = 0;
  outOfRange = 0;

  constructor(id: number) {
    this.#id = id;
  }

  get isHeld(): boolean {
    return this.#holder?.isAlive === true && this.#holder.next !== null;
  }

  /** Unprocessed records. */
  get left(): number {
    const holder = this.isHeld ? this.#holder : null;
    if (holder) return Math.max(0, this.#end - holder.prefix - holder.doneAhead);
    return Math.max(0, this.#end - this.#done);
  }

  heldBy(partition: Partition, now: number): void {
    this.#holder = partition;
    this.#waiting.clear();
    this.#newestReadAt = 0;
    this.#stand = { position: -1, since: now, end: this.#end };
    this.#committed = partition.prefix;
    this.#uncommittedSince = null;
  }

  taken(partition: Partition, offset: number, timestamp: number): void {
    if (partition !== this.#holder) return;
    this.#waiting.set(offset, timestamp);
    this.#newestReadAt = timestamp;
  }

  settled(partition: Partition, offset: number): void {
    if (partition === this.#holder) this.#waiting.delete(offset);
  }

  appended(offset: number, now: number): void {
    if (offset < this.#end) return;
    this.#end = offset + 1;
    this.#noteWaiting(now);
  }

  committed(offset: number, now: number): void {
    this.#committed = Math.max(this.#committed, offset);
    if (this.#holder && this.#holder.prefix <= this.#committed) this.#uncommittedSince = null;
    this.#progress(offset, now);
  }

  /** The brokers returned bounds. `done`: the group's commit, where that was requested too. */
  asked(end: number, now: number, done?: number): void {
    this.#end = Math.max(this.#end, end);
    if (done !== undefined) {
      this.answeredAt = now;
      this.#progress(done, now);
    }
    this.#noteWaiting(now);
    if (!this.isHeld || !this.#holder) return;
    const { prefix, doneAhead, next } = this.#holder;
    const position = prefix + doneAhead + (next ?? 0);
    if (position !== this.#stand.position || this.left === 0) {
      this.#stand = { position, since: now, end: this.#end };
    }
    if (prefix > this.#committed) this.#uncommittedSince ??= now;
  }

  /** `wall`: the time that record times are compared with. */
  status(
    { topic, stream, delayMs }: LagTopic,
    retentionMs: number | null,
    { now, wall }: { readonly now: number; readonly wall: number },
  ): PartitionStatus {
    const [oldest] = this.#waiting.values();
    const lag = this.#due(delayMs, wall);
    return {
      stream,
      topic,
      partition: this.#id,
      isHeld: this.isHeld,
      lag,
      oldestMs: lag === 0 ? 0 : Math.max(0, this.#ageMs(delayMs, now, wall)),
      stalled: this.#stalled(lag, now),
      // The brokers delete by a record's age, whether it is due or not.
      retentionLeftMs: oldest === undefined || retentionMs === null ? null : retentionMs - (wall - oldest),
      uncommittedMs: this.#uncommittedSince === null ? 0 : now - this.#uncommittedSince,
      commitFailures: this.commitFailures,
      lost: this.lost,
      unacknowledged: this.isHeld ? (this.#holder?.lost ?? null) : null,
      outOfRange: this.outOfRange,
    };
  }

  /**
   * Returns the age of the oldest waiting record; while none is read, the time since records were first known to wait.
   */
  #ageMs(delayMs: number, now: number, wall: number): number {
    const [oldest] = this.#waiting.values();
    if (oldest !== undefined) return wall - oldest - delayMs;
    return now - (this.waitingSince ?? now);
  }

  /** Returns the unprocessed records that are due. Those not read yet count when all before them are due. */
  #due(delayMs: number, wall: number): number {
    if (delayMs === 0 || !this.#holder) return this.left;
    let due = 0;
    for (const appendedAt of this.#waiting.values()) if (appendedAt + delayMs <= wall) due += 1;
    const unread = Math.max(0, this.#end - (this.#holder.next ?? this.#end));
    return due + (this.#waiting.size === due && this.#newestReadAt + delayMs <= wall ? unread : 0);
  }

  #stalled(lag: number, now: number): PartitionStatus['stalled'] {
    const { since, end } = this.#stand;
    if (!this.isHeld || lag === 0 || this.#end <= end || now - since < STALLED_MS) return null;
    const what =
      this.#waiting.size === 0
        ? `no record arrives at offset ${this.#holder?.next}, although the log ends at ${this.#end}`
        : `${this.#waiting.size} records were read and none is settled, the first at offset ${this.#waiting.keys().next().value}`;
    return { forMs: now - since, reason: what };
  }

  #progress(done: number, now: number): void {
    if (done <= this.#done) return;
    this.#done = done;
    this.waitingSince = null;
    this.#noteWaiting(now);
  }

  #noteWaiting(now: number): void {
    if (this.#end > this.#done) this.waitingSince ??= now;
    else this.waitingSince = null;
  }
}
