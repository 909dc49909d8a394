import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { Doubt } from '../client/doubt.ts';
import { fetchedOffset, isOutOfRange, unreadableBatch } from '../fetch/fetch-answers.ts';
import { Commits } from './commits.ts';
import { GroupMember } from './group-member.ts';
import { Partition, type ReadRecord, readRecord } from './partition.ts';
import { Positions } from './positions.ts';
import type { TopicConsumerOptions } from './topic-consumer-options.ts';

/** The interval of checks that the topic is still the same one. */
const VERIFY_MS = 10_000;

/**
 * One topic, read by one member of its own consumer group (a rebalance of one topic must not stop another). Batches are
 * passed on at once: kafkajs fetches nothing while a handler runs.
 */
export class TopicConsumer {
  readonly #options: TopicConsumerOptions;
  readonly #member: GroupMember;
  #partitions = new Map<number, Partition>();
  #hasRead = false;
  /** The number of fetches from each node since all positions are known. */
  readonly #asked = new Map<number, number>();
  readonly #commits: Commits;
  readonly #positions: Positions;
  #cancelWatch: () => void = () => {};

  constructor(options: TopicConsumerOptions) {
    this.#options = options;
    this.#commits = new Commits({ ...options, partitions: () => this.#partitions.values() });
    this.#positions = new Positions({
      ...options,
      isEnded: () => this.#member.isEnded,
      pause: ({ id }) => this.#member.pause(id),
      fetchFrom: (partition) => this.#fetchFrom(partition),
      replaced: (partition, doubt) => this.#replace(partition, { earlier: partition, doubt }),
    });
    this.#member = new GroupMember({
      ...options,
      bytesPerPartition: options.heldBytesMax,
      joined: (partitions, isSame) => this.#joined(partitions, isSame),
      rebalancing: () => void this.#commits.commit(),
      fetching: (node) => this.#fetching(node),
      read: (payload) => this.#read(payload),
      passed: (partition, first, last) => this.#passed(partition, first, last),
      crashed: () => this.#commits.sendBy(null),
      revived: () => options.changed?.(),
    });
  }

  #watch(): void {
    const { clock } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + VERIFY_MS, () => {
      void this.#positions.verify(this.#partitions.values());
      if (!this.#member.isEnded) this.#watch();
    });
  }

  get topic(): string {
    return this.#options.topic;
  }

  get partitions(): Iterable<Partition> {
    return this.#partitions.values();
  }

  /** Joins the group. Resolves when joining has begun, so that several consumers join at a time. */
  async start(): Promise<void> {
    this.#commits.start();
    this.#watch();
    await this.#member.start();
  }

  /** Whether every partition was read from once: the records present at the start are available. */
  get isReady(): boolean {
    return this.#hasRead;
  }

  /** Whether the group counts this process among its members, with partitions or without. */
  get isMember(): boolean {
    return this.#member.isMember;
  }

  get isEnded(): boolean {
    return this.#member.isEnded;
  }

  /**
   * False while another member may have our partitions, or results of work could not be written: then nothing new may
   * be started.
   */
  get isTrusted(): boolean {
    return this.#member.isTrusted && (this.#options.mayBegin?.() ?? true);
  }

  /** A record is done: it may be committed, if its partition is still ours. */
  done(record: ReadRecord): void {
    const { partition, offset, bytes, isDone } = record;
    if (isDone) partition.release(bytes);
    else {
      partition.done(offset, bytes);
      this.#options.settled?.(record);
    }
    if (partition.isPaused && partition.isAlive) this.#resumeWhenLow(partition);
  }

  /** Commits progress, leaves the group and closes the connections, within `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    await this.#commits.commitLast(deadlineMs);
    await this.abandon();
  }

  /** Closes without a commit. */
  async abandon(): Promise<void> {
    this.#cancelWatch();
    this.#commits.end();
    const ending = this.#member.end();
    for (const partition of this.#partitions.values()) partition.isAlive = false;
    this.#partitions.clear();
    await ending;
  }

  /** A node is fetched from again once everything that it returned was passed on. */
  #fetching(node: number): void {
    if (this.#hasRead) return;
    if ([...this.#partitions.values()].some(({ next, isSilent }) => next === null && !isSilent)) return;
    this.#asked.set(node, (this.#asked.get(node) ?? 0) + 1);
    if ([...this.#asked.values()].some((times) => times < 2)) return;
    this.#hasRead = true;
    this.#asked.clear();
    this.#options.changed?.();
  }

  /** Runs before the first fetch of a new generation. */
  #joined(assigned: readonly number[], isSame: boolean): void {
    const before = this.#partitions;
    this.#partitions = new Map();
    let isKept = false;
    for (const id of assigned) {
      const kept = isSame ? before.get(id) : undefined;
      if (kept) before.delete(id);
      const partition = kept ?? new Partition(this.topic, id);
      this.#partitions.set(id, partition);
      if (kept && kept.next !== null) {
        this.#fetchFrom(kept);
        isKept = true;
        continue;
      }
      this.#member.pause(id);
      // A kept partition whose position is still being requested continues by itself.
      if (!kept) void this.#positions.find(partition, before.get(id));
    }
    for (const gone of before.values()) gone.isAlive = false;
    if (isKept) void this.#positions.verify(this.#partitions.values());
    this.#options.changed?.();
  }

  /** Resumes and seeks: pause flags of an earlier generation are still set. */
  #fetchFrom(partition: Partition): void {
    if (partition.next !== null) this.#member.seek(partition.id, partition.next);
    if (partition.isPaused) this.#member.pause(partition.id);
    else this.#member.resume(partition.id);
  }

  #read({ batch, commitOffsetsIfNecessary }: EachBatchPayload): void {
    this.#commits.sendBy(commitOffsetsIfNecessary);
    const partition = this.#partitions.get(batch.partition);
    if (!partition || partition.next === null) return;
    const fetchedFrom = fetchedOffset(batch);
    const isOutside = batch.messages.some(isOutOfRange);
    if (isOutside) this.#options.outOfRange?.(partition.id);
    if (isOutside || fetchedFrom > partition.next) {
      void this.#positions.check(partition, isOutside ? 'out of range' : { fetchedFrom });
      return;
    }
    for (const message of batch.messages) this.#readMessage(partition, message);
    partition.skipTo(Number(batch.lastOffset()) + 1);
    this.#pauseWhenFull(partition);
  }

  /** Skips offsets without a record: transactions leave markers and aborted records behind. */
  #passed(id: number, first: number, last: number): void {
    const partition = this.#partitions.get(id);
    if (partition?.next != null && first <= partition.next) partition.skipTo(last + 1);
  }

  #readMessage(partition: Partition, message: KafkaMessage): void {
    const offset = Number(message.offset);
    if (partition.next === null || offset < partition.next) return;
    const isDone = !partition.isNew(offset);
    const record = readRecord(partition, message, isDone, this.#options.clock.now());
    const unreadable = unreadableBatch(message);
    const isCopy = !unreadable && (this.#options.isCopy?.(record) ?? false);
    if (isDone && (unreadable || !this.#options.takesDone)) return;
    partition.hold(record.bytes);
    if (isCopy) partition.done(offset, record.bytes);
    else if (!unreadable) this.#options.take(record);
    else {
      const { lastOffset, cause, reason } = unreadable;
      const range = offset < lastOffset ? `offsets ${offset} to ${lastOffset}` : `offset ${offset}`;
      this.#options.unreadable(record, { reason, detail: `${range}: ${cause}` });
    }
  }

  #pauseWhenFull(partition: Partition): void {
    const { heldMax, heldBytesMax } = this.#options;
    if (partition.isPaused || (partition.held < heldMax && partition.heldBytes < heldBytesMax)) return;
    partition.isPaused = true;
    this.#member.pause(partition.id);
  }

  /** Reads a partition again from where its owner is now. What is held of it is no longer ours. */
  readAgain(old: Partition): void {
    this.#replace(old, {});
  }

  #replace(
    old: Partition,
    { earlier, doubt }: { readonly earlier?: Partition; readonly doubt?: Doubt },
  ): void {
    if (this.#partitions.get(old.id) !== old) return;
    old.isAlive = false;
    const partition = new Partition(this.topic, old.id);
    this.#partitions.set(old.id, partition);
    this.#member.pause(old.id);
    this.#options.changed?.();
    void this.#positions.find(partition, earlier, doubt);
  }

  #resumeWhenLow(partition: Partition): void {
    const { heldMax, heldBytesMax } = this.#options;
    if (partition.held * 2 > heldMax || partition.heldBytes * 2 > heldBytesMax) return;
    partition.isPaused = false;
    this.#member.resume(partition.id);
  }
}
