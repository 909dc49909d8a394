import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Admins } from './admins.ts';
import { type CommitNote, readNote } from './commit-note.ts';
import { Commits } from './commits.ts';
import { fetchedOffset, unreadableBatch } from './fetch/fetch-answers.ts';
import { GroupMember } from './group-member.ts';
import { Partition, type ReadRecord } from './partition.ts';

/** Between two tries to learn something from the brokers. */
const AGAIN_MS = 1000;

export interface TopicConsumerOptions {
  readonly kafka: Kafka;
  readonly admins: Admins;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  readonly groupId: string;
  /** How long a fetch waits for something to come, milliseconds. */
  readonly maxWaitMs: number;
  /** Read and not done, per partition: reading pauses above, and goes on below half of it. */
  readonly heldMax: number;
  readonly heldBytesMax: number;
  /** Every record of the partition in order, done ones included; before `take`. True = a copy of an earlier one. */
  readonly isCopy?: (record: ReadRecord) => boolean;
  /** A record that there is something to do for. `done` must be called for it, some time. */
  readonly take: (record: ReadRecord) => void;
  /** A batch cannot be read; `done` must be called for it once it is kept elsewhere. */
  readonly unreadable: (record: ReadRecord, cause: string) => void;
  /** A partition is ours now. */
  readonly assigned?: (partition: Partition) => void;
  /** Everything before `offset` is committed. */
  readonly committed?: (partition: number, offset: number) => void;
  /** A record that was taken is done. */
  readonly settled?: (record: ReadRecord) => void;
  readonly commitFailed?: () => void;
  /** Records that were deleted before they were read. */
  readonly lost?: (partition: number, count: number) => void;
  /** Partitions are not ours any more, or heartbeats are answered again: what was held back may have changed. */
  readonly changed?: () => void;
  /** Whether what comes of new work can be written down; absent = always. */
  readonly mayBegin?: () => boolean;
  /** Where to start, when somebody else than the group knows; undefined = at the oldest record. */
  readonly startOf?: (partition: number) => Promise<number | undefined>;
}

/**
 * One topic, read by one member of its own consumer group (a rebalance of one topic must not stop another). Batches are
 * handed off at once: kafkajs fetches nothing while a handler runs.
 */
export class TopicConsumer {
  readonly #options: TopicConsumerOptions;
  readonly #member: GroupMember;
  #partitions = new Map<number, Partition>();
  #hasRead = false;
  /** How often each node was asked since all positions are known. */
  readonly #asked = new Map<number, number>();
  readonly #commits: Commits;

  constructor(options: TopicConsumerOptions) {
    this.#options = options;
    this.#commits = new Commits({ ...options, partitions: () => this.#partitions.values() });
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

  get topic(): string {
    return this.#options.topic;
  }

  get partitions(): Iterable<Partition> {
    return this.#partitions.values();
  }

  /** Joins the group. Resolves when it has begun to, so that several join at a time. */
  async start(): Promise<void> {
    this.#commits.start();
    await this.#member.start();
  }

  /** Our partitions have been read from once: what there is to do at the start is at hand. */
  get isReady(): boolean {
    return this.#hasRead;
  }

  /** Whether the group counts us among its members, with partitions or without. */
  get isMember(): boolean {
    return this.#member.isMember;
  }

  get isEnded(): boolean {
    return this.#member.isEnded;
  }

  /**
   * False while another member may have our partitions, or what comes of work could not be written down: nothing new may
   * be begun then.
   */
  get isTrusted(): boolean {
    return this.#member.isTrusted && (this.#options.mayBegin?.() ?? true);
  }

  /** A record is done: it may be committed, if its partition is still ours. */
  done(record: ReadRecord): void {
    const { partition, offset, bytes } = record;
    partition.done(offset, bytes);
    this.#options.settled?.(record);
    if (partition.isPaused && partition.isAlive) this.#resumeWhenLow(partition);
  }

  /** Commits what is done, leaves the group and lets go of the connections. Takes no longer than `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    const { clock } = this.#options;
    const limit = new AbortController();
    await Promise.race([this.#commits.commitLast(), clock.sleep(deadlineMs, limit.signal)]);
    limit.abort();
    await this.abandon();
  }

  /** Lets go without a commit. */
  async abandon(): Promise<void> {
    this.#commits.end();
    const ending = this.#member.end();
    for (const partition of this.#partitions.values()) partition.isAlive = false;
    this.#partitions.clear();
    await ending;
  }

  /** A node is asked again once all that it answered was handed in. */
  #fetching(node: number): void {
    if (this.#hasRead) return;
    if (this.#partitions.size > 0 && [...this.#partitions.values()].some(({ next }) => next === null)) return;
    this.#asked.set(node, (this.#asked.get(node) ?? 0) + 1);
    if ([...this.#asked.values()].some((times) => times < 2)) return;
    this.#hasRead = true;
    this.#asked.clear();
    this.#options.changed?.();
  }

  /** Runs before anything is fetched in the new generation. */
  #joined(assigned: readonly number[], isSame: boolean): void {
    const before = this.#partitions;
    this.#partitions = new Map();
    for (const id of assigned) {
      const kept = isSame ? before.get(id) : undefined;
      if (kept) before.delete(id);
      const partition = kept ?? new Partition(this.topic, id);
      this.#partitions.set(id, partition);
      if (kept && kept.next !== null) {
        this.#fetchFrom(kept);
        continue;
      }
      this.#member.pause(id);
      // A kept one whose position is still being asked for goes on by itself.
      if (!kept) void this.#find(partition, before.get(id));
    }
    for (const gone of before.values()) gone.isAlive = false;
    this.#options.changed?.();
  }

  /** Pause flags of an earlier generation are still there. */
  #fetchFrom(partition: Partition): void {
    if (partition.next !== null) this.#member.seek(partition.id, partition.next);
    if (partition.isPaused) this.#member.pause(partition.id);
    else this.#member.resume(partition.id);
  }

  /** Finds where a partition that is new to us starts, trying until it is known or not ours any more. */
  async #find(partition: Partition, earlier: Partition | undefined): Promise<void> {
    const { clock, log, topic } = this.#options;
    while (partition.isAlive && !this.#member.isEnded) {
      try {
        const { note, first, end } = await this.#position(partition.id);
        if (!partition.isAlive || this.#member.isEnded) return;
        partition.start(note, first);
        if (earlier && earlier.next !== null) partition.takeOver(earlier, end);
        this.#options.assigned?.(partition);
        this.#fetchFrom(partition);
        this.#options.changed?.();
        return;
      } catch (error) {
        log.warn({ topic, partition: partition.id, detail: String(error) }, 'a position could not be read');
        await clock.sleep(AGAIN_MS);
      }
    }
  }

  async #position(id: number): Promise<{ note: CommitNote; first: number; end: number }> {
    const { admins, topic, groupId, startOf } = this.#options;
    const { low, high } = await admins.boundsOf(topic, id);
    if (startOf) {
      const start = await startOf(id);
      if (start !== undefined && start > high) {
        throw new Error(`position ${start} is beyond the end ${high} of ${topic}: was the topic made anew?`);
      }
      return { note: readNote(start ?? low, null), first: low, end: high };
    }
    const { offset, metadata } = await admins.committedOf(groupId, topic, id);
    return { note: readNote(offset < 0 ? low : offset, metadata), first: low, end: high };
  }

  #read({ batch, commitOffsetsIfNecessary }: EachBatchPayload): void {
    this.#commits.sendBy(commitOffsetsIfNecessary);
    const partition = this.#partitions.get(batch.partition);
    if (!partition || partition.next === null) return;
    const fetchedFrom = fetchedOffset(batch);
    if (fetchedFrom > partition.next) {
      this.#member.pause(partition.id);
      void this.#missing(partition, fetchedFrom);
      return;
    }
    for (const message of batch.messages) this.#readMessage(partition, message);
    partition.skipTo(Number(batch.lastOffset()) + 1);
    this.#pauseWhenFull(partition);
  }

  /** Transactions leave markers behind, and aborted records: offsets that have nothing to hand over. */
  #passed(id: number, first: number, last: number): void {
    const partition = this.#partitions.get(id);
    if (partition?.next != null && first <= partition.next) partition.skipTo(last + 1);
  }

  #readMessage(partition: Partition, message: KafkaMessage): void {
    const offset = Number(message.offset);
    if (partition.next === null || offset < partition.next) return;
    const record: ReadRecord = {
      partition,
      offset,
      key: message.key,
      value: message.value,
      timestamp: Number(message.timestamp),
      headers: message.headers ?? {},
      bytes: (message.value?.length ?? 0) + (message.key?.length ?? 0),
    };
    const unreadable = unreadableBatch(message);
    const isCopy = !unreadable && (this.#options.isCopy?.(record) ?? false);
    if (!partition.isNew(offset)) return;
    partition.hold(record.bytes);
    if (isCopy) partition.done(offset, record.bytes);
    else if (!unreadable) this.#options.take(record);
    else {
      const { lastOffset, cause } = unreadable;
      const range = offset < lastOffset ? `offsets ${offset} to ${lastOffset}` : `offset ${offset}`;
      this.#options.unreadable(record, `${range}: ${cause}`);
    }
  }

  #pauseWhenFull(partition: Partition): void {
    const { heldMax, heldBytesMax } = this.#options;
    if (partition.isPaused || (partition.held < heldMax && partition.heldBytes < heldBytesMax)) return;
    partition.isPaused = true;
    this.#member.pause(partition.id);
  }

  /** The client reads from beyond our place: the log was cut off before we came to it, or the client has lost its place. */
  async #missing(partition: Partition, offset: number): Promise<void> {
    const { admins, clock, log, topic } = this.#options;
    const expected = partition.next;
    while (partition.isAlive && !this.#member.isEnded && partition.next === expected) {
      try {
        const { low } = await admins.boundsOf(topic, partition.id);
        const lost = Math.max(0, low - (expected ?? 0));
        log.error(
          { topic, partition: partition.id, expected, got: offset, lost },
          lost > 0
            ? 'records were deleted before they were read: raise the retention'
            : 'a gap while reading; again',
        );
        if (lost > 0) this.#options.lost?.(partition.id, lost);
        partition.skipTo(low);
        this.#fetchFrom(partition);
        return;
      } catch (error) {
        log.warn({ topic, detail: String(error) }, 'the oldest offset could not be read');
        await clock.sleep(AGAIN_MS);
      }
    }
  }

  #resumeWhenLow(partition: Partition): void {
    const { heldMax, heldBytesMax } = this.#options;
    if (partition.held * 2 > heldMax || partition.heldBytes * 2 > heldBytesMax) return;
    partition.isPaused = false;
    this.#member.resume(partition.id);
  }
}
