import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Cluster } from './kafkajs-cluster.ts';
import { partitionOfKey } from './murmur2.ts';
import { type Place, produce } from './produce-request.ts';
import { Backlog } from './producer-backlog.ts';
import type { OutgoingRecord, RecordSender, Sent } from './record-sender.ts';

const PAUSE_MS = 100;
const PAUSE_MS_MAX = 2000;
/**
 * After a request of so many records the next one is gathered for a moment: few large requests cost brokers and us a
 * fraction of many small ones. Below, nothing waits.
 */
const BUSY_RECORDS = 32;
const GATHER_MS = 5;
/** A request that has been under way for so long may stay so: a broker may be gone. */
const PROMPT_MS_MAX = 1000;
/** Larger than any record of ours; the quarantine's topic takes as much. */
const RECORD_BYTES_MAX = 3 * 1024 * 1024;

export interface ProducerOptions {
  /** Connections that are not made yet; after a failure they are made anew. */
  readonly cluster: () => Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  /** Partitions by topic: all topics that are written to. */
  readonly partitions: ReadonlyMap<string, number>;
  /** Told of every acknowledged record, before its sender is. */
  readonly acknowledged?: (topic: string, sent: Sent) => void;
}

/** A record that waits for its acknowledgement. */
export interface Pending {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  /** When it was handed in. */
  readonly at: number;
  readonly giveUpAt: number;
  readonly resolve: (sent: Sent) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Writes records so that none is lost whatever brokers do, which kafkajs's producer cannot promise: its retry keeps the
 * answers of brokers that leadership may have moved to meanwhile, and then skips their records. Its connections are used.
 *
 * - One attempt per request, to one broker.
 * - At most one request under way per leader, so at most one per partition: what comes meanwhile goes into the next, in
 *   order. An idle producer sends at once, a busy one gathers for some milliseconds: large requests cost little.
 * - Any rejection means "outcome unknown": the client is made anew and everything of the request is sent again. Repeats
 *   are recognised by their ids.
 * - An answer must name every partition that was sent to.
 *
 * A request that meets moved leaders is refused, and sent again to the new ones.
 */
export class KafkaProducer implements RecordSender {
  readonly #options: ProducerOptions;
  readonly #backlog = new Backlog();
  #cluster: Cluster | null = null;
  #sending = 0;
  #isMending = false;
  #failures = 0;
  #closed: Error | null = null;
  #scheduled = false;
  #cancelGathering: (() => void) | null = null;
  readonly #ending = new AbortController();

  constructor(options: ProducerOptions) {
    this.#options = options;
  }

  /** Connects. Rejects when no broker can be reached. */
  async open(): Promise<void> {
    this.#cluster = await this.#connect();
  }

  /** What was sent last was acknowledged; where nothing waits that could be, leaders answered since. */
  get isReachable(): boolean {
    return this.#failures === 0 && this.#closed === null;
  }

  /** Whether what is handed in now will be acknowledged soon, as far as can be told: nothing has been waiting for long. */
  get isPrompt(): boolean {
    const { busySince } = this.#backlog;
    return this.isReachable && this.#options.clock.now() - busySince < PROMPT_MS_MAX;
  }

  /** Bytes that wait for their acknowledgement. */
  get waitingBytes(): number {
    return this.#backlog.bytes;
  }

  /** How long the record has been waiting that was handed in first and is not acknowledged, milliseconds. */
  get oldestWaitingMs(): number {
    const { oldestAt } = this.#backlog;
    return oldestAt === undefined ? 0 : Math.max(0, this.#options.clock.now() - oldestAt);
  }

  partitionOf(topic: string, key: string): number {
    const count = this.#options.partitions.get(topic);
    if (!count) throw new Error(`topic ${topic} is not one that this process writes to`);
    return partitionOfKey(Buffer.from(key), count);
  }

  send(record: OutgoingRecord, giveUpMs = Number.POSITIVE_INFINITY): Promise<Sent> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(this.#closed);
      const bytes = (record.key?.length ?? 0) + (record.value?.length ?? 0);
      if (bytes > RECORD_BYTES_MAX) {
        return reject(new RangeError(`a record of ${bytes} bytes is too large for ${record.topic}`));
      }
      const at = this.#options.clock.now();
      this.#backlog.add({ record, bytes, at, giveUpAt: at + giveUpMs, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing is under way or waits, or after `deadlineMs`; then lets go of the connections. */
  async close(deadlineMs: number): Promise<void> {
    const { clock } = this.#options;
    const until = clock.now() + deadlineMs;
    while (!this.#closed && this.#backlog.bytes > 0 && clock.now() < until) await clock.sleep(5);
    await this.abandon();
  }

  /** Lets go at once. What was not acknowledged is rejected. */
  async abandon(): Promise<void> {
    this.#closed ??= new Error('the broker is closed');
    this.#ending.abort();
    this.#cancelGathering?.();
    this.#rejectAll(this.#closed);
    await this.#cluster?.disconnect().catch(() => {});
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#backlog.takeAll()) reject(error);
  }

  /** At the end of this turn of the event loop: what a turn hands in goes together. */
  #schedule(): void {
    if (this.#scheduled || this.#isMending || this.#cancelGathering) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #gather(): void {
    const { clock } = this.#options;
    this.#cancelGathering ??= clock.at(clock.now() + GATHER_MS, () => {
      this.#cancelGathering = null;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#isMending || this.#closed) return;
    for (const batch of this.#backlog.takeBatches(this.#options.clock.now())) {
      this.#sending += 1;
      void this.#sendBatch(batch.leader, batch.pending);
    }
  }

  async #sendBatch(leader: number, batch: readonly Pending[]): Promise<void> {
    let failure: Error | null = null;
    try {
      await this.#produce(leader, batch);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    this.#sending -= 1;
    this.#backlog.done(leader, failure ? batch : [], failure ? [] : batch);
    if (this.#closed) return this.#rejectAll(this.#closed);
    if (failure) this.#mend(failure);
    else if (this.#isMending) return;
    else {
      this.#failures = 0;
      if (batch.length >= BUSY_RECORDS) this.#gather();
      else this.#schedule();
    }
  }

  /** Sends, and resolves what was acknowledged. Rejects when any of it was not: everything is sent again then. */
  async #produce(leader: number, batch: readonly Pending[]): Promise<void> {
    if (!this.#cluster) throw new Error('not connected');
    const now = Math.floor(this.#options.clock.now());
    const records = batch.map(({ record }) => record);
    const places = await produce(this.#cluster, leader, records, now);
    for (const [index, { record, resolve }] of batch.entries()) {
      const { offset, appendedAt } = places[index] as Place;
      const sent = { partition: record.partition, offset, timestamp: appendedAt >= 0 ? appendedAt : now };
      this.#options.acknowledged?.(record.topic, sent);
      resolve(sent);
    }
  }

  /** Waits for what is under way, then makes the client anew and asks who leads now. */
  #mend(error: Error): void {
    const { log } = this.#options;
    this.#failures += 1;
    log.warn({ failures: this.#failures, detail: error.message }, 'Kafka did not acknowledge; sending again');
    if (this.#isMending) return;
    this.#isMending = true;
    void this.#mended();
  }

  async #mended(): Promise<void> {
    const { clock } = this.#options;
    let pause = PAUSE_MS;
    while (!this.#closed) {
      await clock.sleep(pause, this.#ending.signal);
      pause = Math.min(pause * 2, PAUSE_MS_MAX);
      this.#giveUp();
      if (this.#sending > 0) continue;
      try {
        const old = this.#cluster;
        this.#cluster = await this.#connect();
        void old?.disconnect().catch(() => {});
        break;
      } catch (error) {
        this.#options.log.warn({ detail: messageOf(error) }, 'Kafka cannot be reached');
      }
    }
    this.#isMending = false;
    if (this.#closed) await this.#cluster?.disconnect().catch(() => {});
    // Who waits until it is reachable sends nothing that could tell.
    if (this.#backlog.bytes === 0) this.#failures = 0;
    this.#schedule();
  }

  #giveUp(): void {
    for (const { record, reject } of this.#backlog.takeOverdue(this.#options.clock.now())) {
      reject(
        new Error(
          `Kafka did not acknowledge a record of ${record.topic} in time: it may or may not be there`,
        ),
      );
    }
  }

  /** Connects, and puts what waits into the lanes of those who lead now. */
  async #connect(): Promise<Cluster> {
    const { partitions } = this.#options;
    const cluster = this.#options.cluster();
    try {
      await cluster.connect();
      await cluster.addMultipleTargetTopics([...partitions.keys()]);
    } catch (error) {
      await cluster.disconnect().catch(() => {});
      throw error;
    }
    const leaders = new Map<string, number>();
    for (const topic of partitions.keys()) {
      for (const { partitionId, leader } of cluster.findTopicPartitionMetadata(topic)) {
        leaders.set(`${topic}/${partitionId}`, leader);
      }
    }
    this.#backlog.regroup((topic, partition) => leaders.get(`${topic}/${partition}`) ?? 0);
    return cluster;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
