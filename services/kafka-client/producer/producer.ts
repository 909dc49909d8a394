import { errorLine } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Brokers } from '../client/kafkajs-brokers.ts';
import { partitionOfKey } from './murmur2.ts';
import { type Produced, produce } from './produce-request.ts';
import { type PartitionQueue, ProducerBacklog } from './producer-backlog.ts';
import { PROMPT_MS_MAX, ProducerNodes } from './producer-nodes.ts';
import { codeRefusal, rightMissing } from './producer-refusals.ts';
import { bytesInBatch } from './record-batch.ts';
import type { OutgoingRecord, RecordSender, Sent, Told } from './record-sender.ts';
import { outOfTime, refused, SenderClosed, tooLarge } from './record-sender.ts';
import { type Waiting, WaitingForAll } from './waiting.ts';

/** The interval of checks for late records, while any wait. */
const LOOK_MS = 100;
/**
 * After a request with this many records the next one is gathered for a moment: few large requests cost brokers and us
 * a fraction of many small ones. Below that, nothing waits.
 */
const BUSY_RECORDS = 32;
const GATHER_MS = 5;
/** A larger record is refused before it is sent; a topic with a lower limit refuses it itself. */
const RECORD_BYTES_MAX = 3 * 1024 * 1024;

export interface ProducerOptions {
  /** Creates the connections. */
  readonly cluster: () => Brokers;
  readonly clock: Clock;
  readonly log: Logger;
  /** Partition counts of all topics that are written. */
  readonly partitions: ReadonlyMap<string, number>;
  /** Called for every acknowledged record, before its sender is notified. */
  readonly acknowledged?: (topic: string, sent: Sent) => void;
  /** Called for every append time that a broker returns; its request was sent at `sentAt` or later. */
  readonly appended?: (broker: number, appendedAt: number, sentAt: number) => void;
  /** The command that grants the Kafka user WRITE on a topic. */
  readonly grant?: (topic: string) => string;
}

/**
 * Writes records so that none is lost whatever brokers do, which kafkajs's producer cannot promise: its retry skips
 * brokers that have responded, and so loses the records of partitions that they lead by then. Its connections are used.
 *
 * - At most one request in progress per leader, so at most one per partition: later records go into the next, in
 *   order. An idle producer sends at once, a busy one gathers for some milliseconds: large requests cost little.
 * - A broker responds for each partition separately. Without a response, or with a doubtful one, the outcome is
 *   unknown: the partition's records are sent again after a pause, to its leader at that time. Repeats are recognised
 *   by their ids. Other partitions and other brokers do not wait for that.
 * - An unanswered request is given up when its partitions have another leader, and its records are sent to that one.
 * - A response must name every partition of the request.
 * - A record that is refused because of its content (too large, invalid) is rejected with RecordRefused. When a batch
 *   is refused, its records are sent again, half as many at once, so that only the invalid one is rejected.
 * - A missing permission is reported in the log and in `troubles`; the topic's records wait until it is granted.
 */
export class KafkaProducer implements RecordSender {
  readonly #options: ProducerOptions;
  readonly #backlog = new ProducerBacklog();
  readonly #cluster: Brokers;
  readonly #nodes: ProducerNodes;
  /** Topics that we may not write, as last logged. */
  readonly #forbidden = new Set<string>();
  #isClosed = false;
  #scheduled = false;
  #cancelGathering: (() => void) | null = null;
  #cancelLook: (() => void) | null = null;

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#cluster = options.cluster();
    this.#nodes = new ProducerNodes(this.#cluster, options);
  }

  /** Rejects when no broker can be reached. */
  open = (): Promise<void> => this.#nodes.open();

  /** Whether brokers respond, and some leaders accept records, as far as is known. */
  get isReachable(): boolean {
    return !this.#isClosed && this.#nodes.isReachable;
  }

  /** Whether some records added now will be acknowledged soon, as far as is known. */
  get isPrompt(): boolean {
    return !this.#isClosed && this.#nodes.isPrompt;
  }

  /** Returns whether a record of this key will be acknowledged soon, as far as is known. */
  isPromptFor(topic: string, key: string): boolean {
    if (this.#nodes.areAllPrompt && this.#backlog.troubled.size === 0) return true;
    const partition = this.partitionOf(topic, key);
    if (!this.#nodes.isPromptFor(`${topic}/${partition}`)) return false;
    return !this.#backlog.queueOf(topic, partition)?.trouble;
  }

  /** Partitions whose records have waited longer than a moment, one line each, with the remedy. */
  get troubles(): string[] {
    const now = this.#options.clock.now();
    const lines = [...this.#forbidden].map((topic) => this.#rightMissing(topic));
    for (const { name, trouble, pending, topic } of this.#backlog.queues) {
      if (!trouble || this.#forbidden.has(topic) || now - trouble.since < PROMPT_MS_MAX) continue;
      lines.push(`${name}: ${pending.length} records wait, ${trouble.detail}`);
    }
    return lines;
  }

  get waitingBytes(): number {
    return this.#backlog.bytes;
  }

  /** The time that the oldest unacknowledged record has been waiting, milliseconds. */
  get oldestWaitingMs(): number {
    return Math.max(0, this.#options.clock.now() - this.#backlog.oldestAt);
  }

  partitionOf(topic: string, key: string): number {
    const count = this.#options.partitions.get(topic);
    if (!count) throw new Error(`topic ${topic} is not one that this process writes to`);
    return partitionOfKey(Buffer.from(key), count);
  }

  send(record: OutgoingRecord, giveUpMs = Number.POSITIVE_INFINITY): Promise<Sent> {
    return new Promise((resolve, reject) => this.#add(record, giveUpMs, { resolve, reject }));
  }

  write(records: readonly OutgoingRecord[], told: Told): void {
    if (records.length === 0) told.durable();
    const waiting = new WaitingForAll(records.length, told);
    for (const record of records) this.#add(record, Number.POSITIVE_INFINITY, waiting);
  }

  #add(record: OutgoingRecord, giveUpMs: number, waiting: Waiting): void {
    const bytes = bytesInBatch(record);
    if (this.#isClosed) waiting.reject(new SenderClosed());
    else if (bytes > RECORD_BYTES_MAX) waiting.reject(tooLarge(record, bytes));
    else {
      const at = this.#options.clock.now();
      this.#backlog.add({ record, bytes, at, giveUpAt: at + giveUpMs, waiting, isOver: false });
      this.#schedule();
    }
  }

  /** Resolves when nothing is in flight or waiting, or after `deadlineMs`; then closes the connections. */
  async close(deadlineMs: number): Promise<void> {
    const { clock } = this.#options;
    const until = clock.now() + deadlineMs;
    while (!this.#isClosed && this.#backlog.bytes > 0 && clock.now() < until) await clock.sleep(5);
    await this.abandon();
  }

  /** Closes at once. Unacknowledged records are rejected. */
  async abandon(): Promise<void> {
    this.#isClosed = true;
    this.#cancelGathering?.();
    this.#cancelLook?.();
    for (const { waiting } of this.#backlog.takeAll()) waiting.reject(new SenderClosed());
    await this.#cluster.disconnect();
  }

  /** Sends at the end of this turn of the event loop, so that all records of a turn go together. */
  #schedule(): void {
    if (this.#scheduled || this.#cancelGathering) return;
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
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const now = clock.now();
    const leaderOf = (queue: PartitionQueue) => {
      const leader = this.#nodes.leaderOf(queue.name);
      if (leader !== undefined) return this.#nodes.isBusy(leader) ? undefined : leader;
      this.#nodes.askSoon();
      queue.again(now, 'leaderless', 'the partition has no leader: the brokers that hold it are down');
      return undefined;
    };
    for (const { leader, queues } of this.#backlog.takeBatches(now, leaderOf)) {
      this.#nodes.began(leader, queues);
      void this.#sendBatch(leader, queues);
    }
    this.#lookLater();
  }

  async #sendBatch(leader: number, queues: readonly PartitionQueue[]): Promise<void> {
    const batch = queues.flatMap(({ underWay }) => underWay);
    const records = batch.map(({ record }) => record);
    const sentAt = Math.floor(this.#options.clock.now());
    const said = await produce(this.#cluster, leader, records, sentAt).catch((error) => errorLine(error));
    if (this.#isClosed) return;
    if (typeof said === 'string') this.#failed(leader, queues, said);
    else this.#answered(leader, queues, said, sentAt);
    for (const queue of queues) this.#backlog.waits(queue);
    if (batch.length >= BUSY_RECORDS) this.#gather();
    else this.#schedule();
  }

  /** The broker did not respond: it may have received any part of the request. */
  #failed(leader: number, queues: readonly PartitionQueue[], detail: string): void {
    const { clock, log } = this.#options;
    log.warn({ broker: leader, detail }, 'a broker did not acknowledge: sending its records again');
    this.#nodes.failed(leader);
    for (const queue of queues) queue.again(clock.now(), 'unacknowledged', `broker ${leader}: ${detail}`);
  }

  #answered(leader: number, queues: readonly PartitionQueue[], all: Produced[], sentAt: number): void {
    this.#nodes.answered(leader);
    let at = 0;
    for (const queue of queues) {
      const { underWay } = queue;
      const own = all.slice(at, at + underWay.length);
      at += underWay.length;
      const [first] = own;
      if (first && 'errorCode' in first) this.#refused(queue, first.errorCode);
      else this.#acknowledged(queue, own, leader, sentAt);
    }
  }

  #acknowledged(queue: PartitionQueue, places: readonly Produced[], leader: number, sentAt: number): void {
    const { acknowledged, appended, log } = this.#options;
    const { underWay, topic, partition } = queue;
    queue.settled();
    const [first] = places;
    if (first && 'appendedAt' in first && first.appendedAt >= 0) appended?.(leader, first.appendedAt, sentAt);
    if (this.#forbidden.delete(topic)) log.info({ topic }, 'the topic can be written again');
    for (const [index, pending] of underWay.entries()) {
      const place = places[index];
      if (!place || 'errorCode' in place) continue;
      const { offset, appendedAt } = place;
      const sent = { partition, offset, timestamp: appendedAt >= 0 ? appendedAt : sentAt };
      acknowledged?.(topic, sent);
      this.#backlog.over(pending);
      pending.waiting.resolve(sent);
    }
  }

  #refused(queue: PartitionQueue, errorCode: number): void {
    const { clock, log } = this.#options;
    const { topic, partition, underWay } = queue;
    const { kind, detail, reason } = codeRefusal(errorCode);
    switch (kind) {
      case 'content':
        if (underWay.length > 1) queue.split();
        else this.#backlog.reject(queue, (record) => refused(record, queue.name, detail, reason));
        return;
      case 'forbidden':
        if (!this.#forbidden.has(topic)) log.error({ topic, detail }, this.#rightMissing(topic));
        this.#forbidden.add(topic);
        break;
      case 'unacknowledged':
        log.warn({ topic, partition, detail }, 'a partition was not written: sending its records again');
        this.#nodes.askSoon();
    }
    queue.again(clock.now(), kind, detail);
  }

  #rightMissing(topic: string): string {
    return rightMissing(topic, this.#options.grant?.(topic));
  }

  /** While anything waits, or brokers do not respond: checks for late records, and requests the leaders. */
  #lookLater(): void {
    if (this.#cancelLook || this.#isClosed) return;
    if (this.#backlog.bytes === 0 && !this.#nodes.mustAsk) return;
    const { clock } = this.#options;
    this.#cancelLook = clock.at(clock.now() + LOOK_MS, () => {
      this.#cancelLook = null;
      this.#giveUp(clock.now());
      void this.#askLeaders();
      this.#pump();
    });
  }

  #giveUp(now: number): void {
    for (const { record, waiting } of this.#backlog.takeOverdue(now)) {
      waiting.reject(outOfTime(record));
    }
  }

  async #askLeaders(): Promise<void> {
    const isAnswered = await this.#nodes.ask(() => this.#backlog.bytes === 0);
    if (!isAnswered) return this.#lookLater();
    for (const queue of this.#backlog.queues) {
      if (queue.trouble?.kind === 'leaderless' && this.#nodes.leaderOf(queue.name) !== undefined)
        queue.hurry();
    }
    this.#schedule();
  }
}
