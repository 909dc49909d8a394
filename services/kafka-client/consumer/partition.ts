import type { IHeaders, KafkaMessage } from 'kafkajs';
import { type CommitNote, type LostRange, reachOf, writeNote } from './commit-note.ts';
import { deletedBefore, joined, rangeFrom } from './lost-range.ts';

/** A record as it was read. */
export interface ReadRecord {
  readonly partition: Partition;
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** LogAppendTime where the topic has it, milliseconds since the epoch. */
  readonly timestamp: number;
  readonly headers: IHeaders;
  readonly bytes: number;
  /** The clock's time at which it was read, if known. */
  readonly readAt?: number;
  /** Already done: handed over only to be remembered. */
  readonly isDone?: boolean;
}

export function readRecord(
  partition: Partition,
  message: KafkaMessage,
  isDone: boolean,
  readAt: number,
): ReadRecord {
  return {
    partition,
    offset: Number(message.offset),
    key: message.key,
    value: message.value,
    timestamp: Number(message.timestamp),
    headers: message.headers ?? {},
    bytes: (message.value?.length ?? 0) + (message.key?.length ?? 0),
    readAt,
    isDone,
  };
}

/**
 * One partition for as long as this member holds it: which records are held or done, and how far the contiguous prefix
 * of done ones reaches, which is all that may be committed. A partition that was taken away is dead: work in progress
 * may still end and produce, but must never reach a commit.
 */
export class Partition {
  readonly topic: string;
  readonly id: number;
  isAlive = true;
  /** The offset to read next; null = its committed position is not known yet. */
  next: number | null = null;
  /** Its leader does not return the start position: others do not wait for it. */
  isSilent = false;
  /** Records held and their bytes: reading pauses when there are many. */
  held = 0;
  heldBytes = 0;
  isPaused = false;
  /** The topic's id while this partition was read; null = not known. */
  topicId: string | null = null;
  #lost: LostRange | null = null;
  /** The number that the reader stored with the position where this partition was begun. */
  mark: number | undefined;
  /** Returns the number to store with a position; set by a reader that keeps one. */
  markAt: (offset: number) => number | undefined = () => this.mark;
  /** Returns where reading must start to remember as much again; set by the memory of seen records. */
  windowStart: () => number | undefined = () => undefined;
  /** Everything before it is done. */
  #prefix = 0;
  readonly #done = new Set<number>();
  /** Offsets beyond the prefix without a record, ascending: from the first to before `to`. There may be billions. */
  #holes: { readonly from: number; readonly to: number }[] = [];
  #committed = '';

  constructor(topic: string, id: number) {
    this.topic = topic;
    this.id = id;
  }

  /** The position is known. `first`: the oldest existing record; `acknowledged`: losses before it are not reported. */
  start(note: CommitNote, first: number, acknowledged = 0): void {
    this.#lost = joined(rangeFrom(note.lost, acknowledged), deletedBefore(first, note, acknowledged));
    this.#prefix = Math.max(note.offset, first);
    this.mark = note.mark;
    for (const offset of note.done) if (offset >= this.#prefix) this.#done.add(offset);
    this.next = Math.max(note.windowStart, first);
    this.#advance();
  }

  /**
   * Adds records done while this process held the partition earlier, committed or not: they are done whoever held it
   * since. `end`: the offset after the newest record. What is known beyond it is of records that the log has lost; without
   * the topic's id, of a replaced log.
   */
  takeOver(earlier: Partition, end: number): void {
    if (earlier.topicId !== this.topicId || (this.topicId === null && earlier.reach > end)) return;
    const to = Math.min(earlier.#prefix, end);
    for (let offset = this.#prefix; offset < to; offset += 1) this.#done.add(offset);
    for (const offset of earlier.#done) if (offset >= this.#prefix && offset < end) this.#done.add(offset);
    this.#advance();
  }

  /** The offset after the last record that was read or is done: the log has been at least this long. */
  get reach(): number {
    return Math.max(this.next ?? 0, reachOf({ offset: this.#prefix, done: this.#done }));
  }

  get prefix(): number {
    return this.#prefix;
  }

  /** Records read or known from a commit that are done beyond the prefix. */
  get doneAhead(): number {
    return this.#holes.reduce((sum, { from, to }) => sum + to - from, this.#done.size);
  }

  /** A record was read. Returns false when there is nothing to do: it is done, or already held. */
  isNew(offset: number): boolean {
    if (this.next === null || offset < this.next) return false;
    this.skipTo(offset);
    this.next = offset + 1;
    return offset >= this.#prefix && !this.#done.has(offset);
  }

  /** There is no record between those read and `first`: missing offsets count as done. */
  skipTo(first: number): void {
    const from = Math.max(this.next ?? 0, this.#prefix);
    if (from < first) this.#holes.push({ from, to: first });
    this.next = Math.max(this.next ?? 0, first);
    this.#advance();
  }

  /** Records before `first` were deleted before they were read. Returns their number, at most. */
  lose(first: number): number {
    const from = Math.max(this.next ?? 0, this.#prefix);
    const count = Math.max(0, first - from);
    if (count > 0) this.#lost = joined(this.#lost, { from, to: first, count });
    this.skipTo(first);
    return count;
  }

  /** The records deleted before they were done, until an operator acknowledges the loss. */
  get lost(): LostRange | null {
    return this.#lost;
  }

  /** An operator knows of the losses before `offset`. */
  acknowledgeLost(offset: number): void {
    this.#lost = rangeFrom(this.#lost, offset);
  }

  hold(bytes: number): void {
    this.held += 1;
    this.heldBytes += bytes;
  }

  /** Releases a held record that had been done before. */
  release(bytes: number): void {
    this.held -= 1;
    this.heldBytes -= bytes;
  }

  /** A held record is done, whatever the result. */
  done(offset: number, bytes: number): void {
    this.release(bytes);
    this.#done.add(offset);
    this.#advance();
  }

  /** Returns the offset and note to commit now; null when they are already committed. */
  toCommit(): { readonly offset: string; readonly metadata: string } | null {
    if (this.next === null || !this.isAlive) return null;
    const windowStart = Math.min(this.windowStart() ?? this.#prefix, this.#prefix);
    const { topicId } = this;
    const mark = this.markAt(this.#prefix);
    const note = { offset: this.#prefix, windowStart, done: this.#done, topicId, lost: this.#lost, mark };
    const metadata = writeNote(note);
    if (`${this.#prefix};${metadata}` === this.#committed) return null;
    return { offset: `${this.#prefix}`, metadata };
  }

  committed(commit: { readonly offset: string; readonly metadata: string }): void {
    this.#committed = `${commit.offset};${commit.metadata}`;
  }

  #advance(): void {
    for (;;) {
      while (this.#done.delete(this.#prefix)) this.#prefix += 1;
      const [hole] = this.#holes;
      if (!hole || hole.from > this.#prefix) return;
      for (const one of this.#done) if (one < hole.to) this.#done.delete(one);
      this.#prefix = Math.max(this.#prefix, hole.to);
      this.#holes.shift();
    }
  }
}
