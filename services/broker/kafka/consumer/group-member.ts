import type { EachBatchPayload, Kafka, Consumer as KafkaConsumer } from 'kafkajs';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { MissingRights } from '../rights/missing-rights.ts';
import { Restarts } from '../rights/restarts.ts';
import { ConsumerClient } from './consumer-client.ts';
import { FetchPatience } from './fetch-patience.ts';

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
 * member takes its session's time, and work goes on meanwhile.
 */
const STILL_MS = 1500;
const WATCH_MS = 5000;
/** After this long without heartbeat or join, the client is replaced. */
const SILENT_MS_MAX = 45_000;
const RESTART_MS = 2000;
/** The pause between two commits during a rebalance. */
const COMMIT_AGAIN_MS = 50;

/** Partitions that are added to a topic, or have a leader again, are read after this time. */
export const METADATA_MS_MAX = 10_000;

export interface GroupMemberOptions {
  readonly kafka: Kafka;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  readonly groupId: string;
  /** Receives missing rights; absent = they are reported like any other error. */
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

/** A member of a consumer group that reads one topic: a kafkajs consumer, replaced whenever it gives up. */
export class GroupMember {
  readonly #options: GroupMemberOptions;
  #client: ConsumerClient | null = null;
  #memberId = '';
  #generations = 0;
  /** When the last answered request of LEASES was sent; null once it was taken into account. */
  #askedAt: number | null = null;
  /** The number of this client; callbacks of an earlier one are ignored. */
  #life = 0;
  /**
   * The coordinator counted this process as a member at this time or later: its last answered request was sent then.
   */
  #aliveAt: number;
  /** Since when this client has had no answered heartbeat; at the earliest since it was created. */
  #quietSince = 0;
  /** A rebalance is in progress, and nothing new is started until then. */
  #stillUntil = Number.NEGATIVE_INFINITY;
  #isEnded = false;
  /** This client has joined. */
  #hasJoined = false;
  readonly #restarts: Restarts;
  #cancelWatch: () => void = () => {};

  constructor(options: GroupMemberOptions) {
    this.#options = options;
    this.#restarts = new Restarts({ ...options, pauseMs: RESTART_MS });
    this.#aliveAt = options.clock.now();
  }

  /** Starts joining. */
  async start(): Promise<void> {
    this.#watch();
    await this.#run();
  }

  /** False while another member may have our partitions: then nothing new may be started. */
  get isTrusted(): boolean {
    const now = this.#options.clock.now();
    return !this.#isEnded && now - this.#aliveAt < TRUST_MS && now >= this.#stillUntil;
  }

  /** Whether this process has joined and was heard of within the session. A rebalance in between changes nothing. */
  get isMember(): boolean {
    return !this.#isEnded && this.#hasJoined && this.#options.clock.now() - this.#aliveAt < SESSION_MS;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  seek(partition: number, offset: number): void {
    this.#client?.seek(partition, offset);
  }

  pause(partition: number): void {
    this.#client?.pause(partition);
  }

  resume(partition: number): void {
    this.#client?.resume(partition);
  }

  /** Leaves the group and closes the connections, within seconds. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#life += 1;
    this.#cancelWatch();
    this.#restarts.answered();
    await this.#client?.disconnect();
  }

  async #run(): Promise<void> {
    this.#life += 1;
    const life = this.#life;
    const isPast = () => this.#isEnded || life !== this.#life;
    const client = this.#newClient();
    this.#client = client;
    this.#quietSince = this.#options.clock.now();
    this.#listen(client.consumer, isPast);
    try {
      await client.start(async (payload) => {
        if (!isPast()) this.#options.read(payload);
      });
    } catch (error) {
      if (isPast()) return;
      void this.#runAgain(this.#restarts.crashed(error, 'a consumer could not start'));
    }
  }

  #newClient(): ConsumerClient {
    const { kafka, clock, topic, groupId, maxWaitMs, bytesPerPartition } = this.#options;
    const patience = new FetchPatience(clock, maxWaitMs);
    const consumer = kafka.consumer({
      groupId,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: patience.asMaxWait,
      maxBytesPerPartition: bytesPerPartition,
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MS_MAX,
      // kafkajs would restart even a client that was given up: only this class replaces clients.
      retry: { retries: 5, initialRetryTime: 200, maxRetryTime: 2000, restartOnFailure: async () => false },
    });
    return new ConsumerClient(consumer, topic, clock, patience);
  }

  #listen(client: KafkaConsumer, isPast: () => boolean): void {
    const { topic, fetching, crashed, passed } = this.#options;
    client.on(client.events.HEARTBEAT, () => {
      if (!isPast()) this.#alive();
    });
    client.on(client.events.GROUP_JOIN, ({ payload }) => {
      if (!isPast()) this.#joined(payload.memberId, payload.memberAssignment[topic] ?? []);
    });
    client.on(client.events.FETCH_START, ({ payload }) => {
      if (!isPast()) fetching(payload.nodeId);
    });
    client.on(client.events.REQUEST, ({ payload }) => {
      if (isPast()) return;
      this.#restarts.asked(payload.apiName);
      if (LEASES.has(payload.apiName))
        this.#askedAt = this.#options.clock.now() - Math.max(payload.duration, 0);
    });
    client.on(client.events.FETCH, () => {
      if (!isPast()) this.#restarts.fetched();
    });
    client.on(client.events.START_BATCH_PROCESS, ({ payload }) => {
      if (isPast() || payload.batchSize > 0) return;
      passed(payload.partition, Number(payload.firstOffset), Number(payload.lastOffset));
    });
    client.on(client.events.REBALANCING, () => {
      if (!isPast()) void this.#untilJoined(isPast);
    });
    client.on(client.events.CRASH, ({ payload: { error } }) => {
      if (isPast()) return;
      const pauseMs = this.#restarts.crashed(error, 'a consumer crashed; it is made anew');
      crashed();
      void this.#runAgain(pauseMs);
    });
  }

  /** Work in flight ends and is committed; after a while other work goes on, until all members have joined. */
  async #untilJoined(isPast: () => boolean): Promise<void> {
    const { clock, rebalancing, revived } = this.#options;
    const generations = this.#generations;
    this.#stillUntil = clock.now() + STILL_MS;
    while (generations === this.#generations && !isPast()) {
      rebalancing();
      const isStill = clock.now() < this.#stillUntil;
      await clock.sleep(COMMIT_AGAIN_MS);
      if (isStill && clock.now() >= this.#stillUntil) revived();
    }
  }

  /**
   * With another member id, the group counted this process as dead, and others may have had our partitions in between.
   */
  #joined(memberId: string, partitions: readonly number[]): void {
    const isSame = memberId === this.#memberId;
    this.#memberId = memberId;
    this.#hasJoined = true;
    this.#stillUntil = Number.NEGATIVE_INFINITY;
    this.#generations += 1;
    this.#answered();
    this.#options.joined(partitions, isSame);
  }

  #alive(): void {
    const wasTrusted = this.isTrusted;
    this.#answered();
    if (!wasTrusted && this.isTrusted) this.#options.revived();
  }

  /**
   * After a suspension a process reads responses that arrived long before: each counts from when its request was sent.
   */
  #answered(): void {
    this.#quietSince = this.#options.clock.now();
    this.#aliveAt = this.#askedAt ?? this.#quietSince;
    this.#askedAt = null;
  }

  async #runAgain(pauseMs: number): Promise<void> {
    const old = this.#client;
    this.#hasJoined = false;
    this.#stillUntil = Number.NEGATIVE_INFINITY;
    this.#life += 1;
    const life = this.#life;
    void old?.disconnect();
    await this.#options.clock.sleep(pauseMs);
    if (!this.#isEnded && life === this.#life) await this.#run();
  }

  #watch(): void {
    const { clock, log, topic, crashed } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + WATCH_MS, () => {
      if (this.#isEnded) return;
      if (clock.now() - this.#quietSince > SILENT_MS_MAX) {
        log.warn({ topic }, 'a consumer was silent for too long; it is made anew');
        this.#quietSince = clock.now();
        crashed();
        void this.#runAgain(RESTART_MS);
      }
      this.#watch();
    });
  }
}
