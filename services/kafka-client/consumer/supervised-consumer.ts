import type {
  ConsumerEndBatchProcessEvent,
  ConsumerFetchStartEvent,
  ConsumerGroupJoinEvent,
  ConsumerStartBatchProcessEvent,
  EachBatchPayload,
  Kafka,
  RequestEvent,
} from 'kafkajs';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { MissingRights } from '../rights/missing-rights.ts';
import { Restarts } from '../rights/restarts.ts';
import { ConsumerClient } from './consumer-client.ts';
import { FetchPatience } from './fetch-patience.ts';

const WATCH_MS = 5000;
/** After this long without heartbeat or join, the client is replaced. */
const SILENT_MS_MAX = 45_000;

/** Partitions that are added to a topic, or have a leader again, are read after this time. */
const METADATA_MS_MAX = 10_000;

/** Handlers of kafkajs's events by the event's name; each receives the event's payload. */
export interface ConsumerHandlers {
  readonly HEARTBEAT?: () => void;
  readonly GROUP_JOIN?: (payload: ConsumerGroupJoinEvent['payload']) => void;
  readonly REBALANCING?: () => void;
  readonly REQUEST?: (payload: RequestEvent['payload']) => void;
  readonly FETCH_START?: (payload: ConsumerFetchStartEvent['payload']) => void;
  readonly START_BATCH_PROCESS?: (payload: ConsumerStartBatchProcessEvent['payload']) => void;
  readonly END_BATCH_PROCESS?: (payload: ConsumerEndBatchProcessEvent['payload']) => void;
}

export interface SupervisedConsumerOptions {
  readonly kafka: Kafka;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  /** In reports of missing permissions: the consumer group, or the beginning of its name if `isPrefix`. */
  readonly groupId: string;
  readonly isPrefix?: boolean;
  /** Returns the group of the next client; absent = `groupId`. */
  readonly newGroupId?: () => string;
  /** Receives missing permissions; absent = they are reported like any other error. */
  readonly rights?: MissingRights | undefined;
  /** A member that is silent for this long counts as dead, milliseconds. */
  readonly sessionMs: number;
  readonly heartbeatMs: number;
  /** Failed requests are repeated this many times before the client gives up. */
  readonly retries: number;
  /** The pause before a client that gave up is replaced, milliseconds. */
  readonly restartMs: number;
  /** The longest wait of a fetch for records while the consumer is busy, milliseconds; see FetchPatience. */
  readonly maxWaitMs: number;
  readonly bytesPerPartition: number;
  /** Handlers of the events of the current client; events of an earlier one are ignored. */
  readonly on: ConsumerHandlers;
  readonly read: (payload: EachBatchPayload) => void;
  /** The client has ended with its state; another follows. */
  readonly replaced: () => void;
}

/**
 * A kafkajs consumer of one topic that is always there: its client is replaced when it cannot start, crashes, or is
 * silent for too long. kafkajs would restart a crashed client even after it was given up, so that is switched off.
 *
 * ```
 * starting ─ joined ─▶ reading ─ crashed, or silent for 45 s ─▶ pausing ─ after `restartMs` or more ─▶ starting
 *     └─ could not start, or silent for 45 s ──────────────────────▲              (end() at any time) ─▶ ended
 * ```
 */
export class SupervisedConsumer {
  readonly #options: SupervisedConsumerOptions;
  readonly #restarts: Restarts;
  #client: ConsumerClient | null = null;
  /** The number of this client; callbacks of an earlier one are ignored. */
  #life = 0;
  /** The last heartbeat or join of this client, or its creation. */
  #heardAt = 0;
  readonly #ending = new AbortController();
  #cancelWatch: () => void = () => {};

  constructor(options: SupervisedConsumerOptions) {
    this.#options = options;
    this.#restarts = new Restarts({ ...options, pauseMs: options.restartMs });
  }

  get isEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Starts joining. Resolves when the first client has joined or has failed to; it is replaced in that case. */
  async start(): Promise<void> {
    this.#watch();
    await this.#run();
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

  /** Replaces the client, after a pause of `pauseMs`. */
  async replace(pauseMs = this.#options.restartMs): Promise<void> {
    const { clock, replaced } = this.#options;
    this.#life += 1;
    const life = this.#life;
    this.#heardAt = clock.now();
    replaced();
    void this.#client?.disconnect();
    await clock.sleep(pauseMs, this.#ending.signal);
    if (life === this.#life) await this.#run();
  }

  /** Leaves the group and closes the connections, within seconds. */
  async end(): Promise<void> {
    this.#ending.abort();
    this.#life += 1;
    this.#cancelWatch();
    this.#restarts.answered();
    await this.#client?.disconnect();
  }

  async #run(): Promise<void> {
    const { clock, read } = this.#options;
    this.#life += 1;
    const life = this.#life;
    const isCurrent = () => life === this.#life;
    const client = this.#newClient();
    this.#client = client;
    this.#heardAt = clock.now();
    this.#listen(client, isCurrent);
    try {
      await client.start(async (payload) => {
        if (isCurrent()) read(payload);
      });
    } catch (error) {
      if (isCurrent()) void this.replace(this.#restarts.crashed(error, 'consumer could not start, retrying'));
    }
  }

  #newClient(): ConsumerClient {
    const { kafka, clock, topic, groupId, newGroupId, maxWaitMs, sessionMs } = this.#options;
    const patience = new FetchPatience(clock, maxWaitMs);
    const consumer = kafka.consumer({
      groupId: newGroupId?.() ?? groupId,
      sessionTimeout: sessionMs,
      rebalanceTimeout: sessionMs,
      heartbeatInterval: this.#options.heartbeatMs,
      maxWaitTimeInMs: patience.asMaxWait,
      maxBytesPerPartition: this.#options.bytesPerPartition,
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MS_MAX,
      retry: {
        retries: this.#options.retries,
        initialRetryTime: 200,
        maxRetryTime: 2000,
        restartOnFailure: async () => false,
      },
    });
    return new ConsumerClient(consumer, topic, clock, patience);
  }

  #listen({ consumer }: ConsumerClient, isCurrent: () => boolean): void {
    const { on, clock } = this.#options;
    const { events } = consumer;
    for (const heard of [events.HEARTBEAT, events.GROUP_JOIN]) {
      consumer.on(heard, () => {
        if (isCurrent()) this.#heardAt = clock.now();
      });
    }
    consumer.on(events.REQUEST, ({ payload }) => {
      if (isCurrent()) this.#restarts.asked(payload.apiName);
    });
    consumer.on(events.FETCH, () => {
      if (isCurrent()) this.#restarts.fetched();
    });
    for (const [name, handler] of Object.entries(on) as [
      keyof ConsumerHandlers,
      (payload: never) => void,
    ][]) {
      consumer.on(events[name], ({ payload }: { readonly payload: unknown }) => {
        if (isCurrent()) handler(payload as never);
      });
    }
    consumer.on(events.CRASH, ({ payload: { error } }) => {
      if (isCurrent()) void this.replace(this.#restarts.crashed(error, 'consumer crashed, restarting'));
    });
  }

  #watch(): void {
    const { clock, log, topic } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + WATCH_MS, () => {
      if (clock.now() - this.#heardAt > SILENT_MS_MAX) {
        log.warn({ topic }, 'consumer was silent for too long, restarting');
        void this.replace();
      }
      this.#watch();
    });
  }
}
