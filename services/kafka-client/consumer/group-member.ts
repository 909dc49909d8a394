import type { ConsumerGroupJoinEvent, EachBatchPayload, Kafka, RequestEvent } from 'kafkajs';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { MissingRights } from '../rights/missing-rights.ts';
import { SupervisedConsumer } from './supervised-consumer.ts';

/** A member that is silent for this long counts as dead, and its work goes to others; milliseconds. */
export const SESSION_MS = 10_000;
/** Others can join only at our next heartbeat. */
const HEARTBEAT_MS = 1000;
/**
 * After this long without an answered heartbeat, our partitions may be another member's: a process that was suspended
 * and resumes must not start work that another member has by now.
 */
const TRUST_MS = 8000;

/** The requests whose responses show that the group counts this process as a member. */
const LEASES: ReadonlySet<string> = new Set(['Heartbeat', 'SyncGroup']);
/**
 * The time after the start of a rebalance in which nothing new is started: work that ends after the generation cannot
 * be committed in it, and the next owner of its partition repeats it. The others join at their next heartbeat; a dead
 * member takes its session's time, and work continues meanwhile.
 */
const STILL_MS = 1500;
const RETRIES = 5;
const RESTART_MS = 2000;
/** The pause between two commits during a rebalance. */
const COMMIT_AGAIN_MS = 50;

export interface GroupMemberOptions {
  readonly kafka: Kafka;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  readonly groupId: string;
  /** Receives missing permissions; absent = they are reported like any other error. */
  readonly rights?: MissingRights;
  /** The longest wait of a fetch for records while the consumer is busy, milliseconds. */
  readonly maxWaitMs: number;
  readonly bytesPerPartition: number;
  /** A generation has begun; nothing of it has been fetched. `isSame`: this process was a member all along. */
  readonly joined: (partitions: readonly number[], isSame: boolean) => void;
  /** The generation is about to end: called until it has. Others repeat whatever is not committed by then. */
  readonly rebalancing: () => void;
  /** A node is about to be fetched from; its earlier responses were handed over. */
  readonly fetching: (node: number) => void;
  readonly read: (payload: EachBatchPayload) => void;
  /** A fetch from `first` found offsets up to `last` without a record to hand over: they were aborted, or deleted. */
  readonly passed: (partition: number, first: number, last: number) => void;
  /** The client has ended with its state; another follows. */
  readonly crashed: () => void;
  /** Heartbeats are answered again, or a rebalance takes too long to wait for. */
  readonly revived: () => void;
}

/**
 * A member of a consumer group that reads one topic. It knows whether its partitions may be another member's.
 *
 * ```
 * joining ─ joined ─▶ trusted ─ no heartbeat for 8 s, or a rebalance begins ─▶ untrusted ─ heartbeat, or joined ─▶ trusted
 *    ▲                   └───────────── client replaced ──────────────┐           │
 *    └────────────────────────────────────────────────────────────────┴───────────┘
 * ```
 */
export class GroupMember {
  readonly #options: GroupMemberOptions;
  readonly #consumer: SupervisedConsumer;
  #memberId = '';
  /** Counts joins and replaced clients: a rebalance is over when it has grown. */
  #generations = 0;
  /** When the last answered request of LEASES was sent; null once it was taken into account. */
  #askedAt: number | null = null;
  /**
   * The coordinator counted this process as a member at this time or later: its last answered request was sent then.
   */
  #aliveAt: number;
  /** A rebalance is in progress, and nothing new is started until then. */
  #stillUntil = Number.NEGATIVE_INFINITY;
  /** This client has joined. */
  #hasJoined = false;

  constructor(options: GroupMemberOptions) {
    this.#options = options;
    this.#aliveAt = options.clock.now();
    this.#consumer = new SupervisedConsumer({
      ...options,
      sessionMs: SESSION_MS,
      heartbeatMs: HEARTBEAT_MS,
      retries: RETRIES,
      restartMs: RESTART_MS,
      on: {
        HEARTBEAT: () => this.#alive(),
        GROUP_JOIN: (payload) => this.#joined(payload),
        REBALANCING: () => void this.#untilJoined(),
        REQUEST: (payload) => this.#asked(payload),
        FETCH_START: ({ nodeId }) => options.fetching(nodeId),
        START_BATCH_PROCESS: ({ batchSize, partition, firstOffset, lastOffset }) => {
          if (batchSize === 0) options.passed(partition, Number(firstOffset), Number(lastOffset));
        },
      },
      replaced: () => this.#replaced(),
    });
  }

  /** Starts joining. */
  async start(): Promise<void> {
    await this.#consumer.start();
  }

  /** False while another member may have our partitions: then nothing new may be started. */
  get isTrusted(): boolean {
    const now = this.#options.clock.now();
    return !this.isEnded && now - this.#aliveAt < TRUST_MS && now >= this.#stillUntil;
  }

  /** Whether this process has joined and was heard of within the session. A rebalance in between changes nothing. */
  get isMember(): boolean {
    return !this.isEnded && this.#hasJoined && this.#options.clock.now() - this.#aliveAt < SESSION_MS;
  }

  get isEnded(): boolean {
    return this.#consumer.isEnded;
  }

  seek(partition: number, offset: number): void {
    this.#consumer.seek(partition, offset);
  }

  pause(partition: number): void {
    this.#consumer.pause(partition);
  }

  resume(partition: number): void {
    this.#consumer.resume(partition);
  }

  /** Leaves the group and closes the connections, within seconds. */
  async end(): Promise<void> {
    this.#generations += 1;
    await this.#consumer.end();
  }

  /** Work in flight ends and is committed; after a while other work continues, until all members have joined. */
  async #untilJoined(): Promise<void> {
    const { clock, rebalancing, revived } = this.#options;
    const generations = this.#generations;
    this.#stillUntil = clock.now() + STILL_MS;
    while (generations === this.#generations) {
      rebalancing();
      const isStill = clock.now() < this.#stillUntil;
      await clock.sleep(COMMIT_AGAIN_MS);
      if (isStill && clock.now() >= this.#stillUntil) revived();
    }
  }

  /**
   * With another member id, the group counted this process as dead, and others may have had our partitions in between.
   */
  #joined({ memberId, memberAssignment }: ConsumerGroupJoinEvent['payload']): void {
    const { joined, topic } = this.#options;
    const isSame = memberId === this.#memberId;
    this.#memberId = memberId;
    this.#hasJoined = true;
    this.#stillUntil = Number.NEGATIVE_INFINITY;
    this.#generations += 1;
    this.#answered();
    joined(memberAssignment[topic] ?? [], isSame);
  }

  #alive(): void {
    const wasTrusted = this.isTrusted;
    this.#answered();
    if (!wasTrusted && this.isTrusted) this.#options.revived();
  }

  #asked({ apiName, duration }: RequestEvent['payload']): void {
    if (LEASES.has(apiName)) this.#askedAt = this.#options.clock.now() - Math.max(duration, 0);
  }

  /**
   * After a suspension a process reads responses that arrived long before: each counts from when its request was sent.
   */
  #answered(): void {
    this.#aliveAt = this.#askedAt ?? this.#options.clock.now();
    this.#askedAt = null;
  }

  #replaced(): void {
    this.#hasJoined = false;
    this.#stillUntil = Number.NEGATIVE_INFINITY;
    this.#generations += 1;
    this.#options.crashed();
  }
}
