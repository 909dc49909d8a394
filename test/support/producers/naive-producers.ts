/**
 * Producers as one would write them with kafkajs without knowing how it loses records: each breaks one rule of ours
 * (services/broker/kafka/producer/producer.ts). Tests use them to show that the loss is real and would be seen.
 */
import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

export interface RecordToSend {
  readonly topic: string;
  readonly partition: number;
  readonly value: string;
}

/** What the trials of producers need of one; ours is wrapped into it. */
export interface TriedProducer {
  open(): Promise<void>;
  /** Resolves when the record is said to be durable. */
  send(record: RecordToSend): Promise<unknown>;
  close(): Promise<void>;
}

const RETRY = { retries: 5, initialRetryTime: 200 } as const;
const ACKS = -1;

/** Gathers what a turn of the event loop hands in, and sends it in one request that spans brokers, with retries. */
export class SpanningProducer implements TriedProducer {
  readonly #client: Producer;
  #waiting: { readonly record: RecordToSend; readonly settle: (sent: Promise<unknown>) => void }[] = [];

  constructor(kafka: Kafka) {
    this.#client = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: RETRY,
      idempotent: false,
    });
  }

  open(): Promise<void> {
    return this.#client.connect();
  }

  send(record: RecordToSend): Promise<unknown> {
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    return new Promise((resolve) => this.#waiting.push({ record, settle: resolve }));
  }

  close(): Promise<void> {
    return this.#client.disconnect();
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const byTopic = new Map<string, Message[]>();
    for (const { record } of waiting) {
      const { topic, partition, value } = record;
      byTopic.set(topic, [...(byTopic.get(topic) ?? []), { partition, value }]);
    }
    const topicMessages = [...byTopic].map(([topic, messages]) => ({ topic, messages }));
    const sent = this.#client.sendBatch({ acks: ACKS, topicMessages });
    for (const { settle } of waiting) settle(sent);
  }
}

/** A request per record, several under way to a partition, with the idempotence that is to make retries safe. */
export class ConcurrentIdempotentProducer implements TriedProducer {
  readonly #client: Producer;

  constructor(kafka: Kafka) {
    this.#client = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: RETRY,
      idempotent: true,
    });
  }

  open(): Promise<void> {
    return this.#client.connect();
  }

  send({ topic, partition, value }: RecordToSend): Promise<unknown> {
    return this.#client.send({ topic, acks: ACKS, messages: [{ partition, value }] });
  }

  close(): Promise<void> {
    return this.#client.disconnect();
  }
}
