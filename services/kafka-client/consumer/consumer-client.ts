import type { ConsumerRunConfig, Consumer as KafkaConsumer } from 'kafkajs';
import type { Clock } from '../../process/clock.ts';
import type { FetchPatience } from './fetch-patience.ts';

/** The longest wait when leaving: a broker that is down must not hold up our end. */
const LEAVE_MS_MAX = 5000;

/**
 * A kafkajs consumer of one topic that can be released at any time, also while it joins. kafkajs forgets a consumer
 * stopped while joining, which still joins, and then keeps its partitions and fetches for ever without anyone reading.
 */
export class ConsumerClient {
  readonly consumer: KafkaConsumer;
  readonly #topic: string;
  readonly #clock: Clock;
  readonly #patience: FetchPatience;
  #isStarting = false;
  #isLetGo = false;

  constructor(consumer: KafkaConsumer, topic: string, clock: Clock, patience: FetchPatience) {
    this.consumer = consumer;
    this.#topic = topic;
    this.#clock = clock;
    this.#patience = patience;
    consumer.on(consumer.events.GROUP_JOIN, () => patience.stir());
    consumer.on(consumer.events.START_BATCH_PROCESS, () => patience.stir());
  }

  /**
   * Connects and joins from the oldest record on; resolves when it has joined, has crashed (an event reports it) or was
   * released meanwhile. Rejects when it could not start. Call it once.
   */
  async start(eachBatch: NonNullable<ConsumerRunConfig['eachBatch']>): Promise<void> {
    const { consumer } = this;
    this.#isStarting = true;
    try {
      await consumer.connect();
      if (!this.#isLetGo) await consumer.subscribe({ topic: this.#topic, fromBeginning: true });
      if (!this.#isLetGo)
        await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 1, eachBatch });
    } finally {
      this.#isStarting = false;
      if (this.#isLetGo) await this.#leave();
    }
  }

  /**
   * Leaves the group and closes the connections, within seconds. A client that is joining leaves once it has joined;
   * that happens in the background. Never rejects.
   */
  async disconnect(): Promise<void> {
    this.#isLetGo = true;
    if (!this.#isStarting) await this.#leave();
  }

  // A client without a generation receives these settings again when it joins.

  seek(partition: number, offset: number): void {
    this.#whileMember(() => this.consumer.seek({ topic: this.#topic, partition, offset: `${offset}` }));
  }

  pause(partition: number): void {
    this.#whileMember(() => this.consumer.pause([{ topic: this.#topic, partitions: [partition] }]));
  }

  resume(partition: number): void {
    this.#whileMember(() => this.consumer.resume([{ topic: this.#topic, partitions: [partition] }]));
  }

  /** kafkajs throws where it has no group; its state cannot be read. */
  #whileMember(action: () => void): void {
    this.#patience.stir();
    try {
      action();
    } catch (error) {
      if (!isWithoutGroup(error)) throw error;
    }
  }

  async #leave(): Promise<void> {
    const limit = new AbortController();
    const left = this.consumer.disconnect().catch(() => {});
    await Promise.race([left, this.#clock.sleep(LEAVE_MS_MAX, limit.signal)]);
    limit.abort();
  }
}

function isWithoutGroup(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Consumer group was not initialized');
}
