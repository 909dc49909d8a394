/**
 * Producers written with kafkajs without knowledge of how it loses records: each breaks one rule of
 * services/kafka-client/producer/producer.ts. Tests use them to show that the loss is real and is detected.
 */
import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

export interface RecordToSend {
  readonly topic: string;
  readonly partition: number;
  readonly value: string;
}

/** The interface of a producer in a trial; hookrail's producer is wrapped in it. */
export interface TriedProducer {
  open(): Promise<void>;
  /** Resolves when the producer reports that the record is durable. */
  send(record: RecordToSend): Promise<unknown>;
  close(): Promise<void>;
}

const RETRY = { retries: 5, initialRetryTime: 200 } as const;
const ACKS = -1;

/** Sends all records of one turn of the event loop in one request that spans brokers, with retries. */
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

/** Sends a request per record, several concurrently to a partition, with idempotence that should make retries safe. */
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
