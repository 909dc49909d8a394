/**
 * A producer that is not hookrail's, as Kafka Streams or Flink write: idempotent, transactional, gzip, its own key per
 * record. Before every fifth transaction it aborts one, whose events must never be delivered.
 */
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { CompressionTypes, Kafka, logLevel, type Producer, type RecordMetadata } from 'kafkajs';
import { partitionOfKey } from '../../services/broker/kafka/murmur2.ts';
import { encodeEvent } from '../../services/codec/event-avro.ts';
import { eventSchemaText, recordNameOf } from '../../services/codec/event-schemas.ts';
import type { DomainEvent, EventType } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import type { KafkaForTests } from './kafka.ts';

const ABORT_EVERY = 5;

interface ForeignRecord {
  readonly key: string;
  readonly value: Buffer;
  readonly partition: number;
}

/**
 * kafkajs repeats a request to several brokers only to those that have not answered: records of a partition that moved
 * to one that has are never sent, and nothing but the list of partitions says so.
 */
function areLeftOut(records: readonly ForeignRecord[], sent: readonly RecordMetadata[]): boolean {
  const written = new Set(sent.map(({ partition }) => partition));
  return records.some(({ partition }) => !written.has(partition));
}

export class ForeignProducer {
  readonly #kafka: Kafka;
  readonly #registry: SchemaRegistry;
  readonly #topic: string;
  readonly #schemaIds = new Map<EventType, number>();
  #producer: Producer | null = null;
  #lives = 0;
  #transactions = 0;
  /** Of the topic; 0 = not known yet. */
  #partitions = 0;

  constructor({ brokers, registryUrl }: KafkaForTests, topic: string) {
    const retry = { retries: 8, initialRetryTime: 100, maxRetryTime: 2000 };
    this.#kafka = new Kafka({ clientId: 'foreign', brokers, logLevel: logLevel.NOTHING, retry });
    this.#registry = new SchemaRegistry({ host: registryUrl });
    this.#topic = topic;
  }

  /** Writes the events in one transaction. Rejects when it cannot tell whether they are there. */
  async publish(events: readonly DomainEvent[]): Promise<void> {
    try {
      const producer = await this.#connected();
      this.#transactions += 1;
      if (this.#transactions % ABORT_EVERY === 0) await this.#abortOne(producer, events);
      const transaction = await producer.transaction();
      const records = await this.#records(events);
      const sent = await transaction.send({ ...this.#batch(records), acks: -1 });
      if (areLeftOut(records, sent)) await transaction.abort();
      else return await transaction.commit();
      throw new Error('kafkajs left out the records of a partition whose leader changed');
    } catch (error) {
      // A fenced or failed transactional producer cannot go on: the next call makes another.
      const failed = this.#producer;
      this.#producer = null;
      await failed?.disconnect().catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#producer?.disconnect().catch(() => {});
  }

  async #abortOne(producer: Producer, events: readonly DomainEvent[]): Promise<void> {
    const unwanted = events.map((event) => ({ ...event, eventId: uuidV5('aborted', event.eventId) }));
    const transaction = await producer.transaction();
    await transaction.send({ ...this.#batch(await this.#records(unwanted)), acks: -1 });
    await transaction.abort();
  }

  #batch(messages: ForeignRecord[]) {
    return { topic: this.#topic, compression: CompressionTypes.GZIP, messages };
  }

  async #records(events: readonly DomainEvent[]): Promise<ForeignRecord[]> {
    const partitions = await this.#partitionCount();
    const records: ForeignRecord[] = [];
    for (const event of events) {
      const key = event.entityId;
      const value = encodeEvent(event, await this.#schemaIdOf(event.type));
      records.push({ key, value, partition: partitionOfKey(Buffer.from(key), partitions) });
    }
    return records;
  }

  async #partitionCount(): Promise<number> {
    if (this.#partitions > 0) return this.#partitions;
    const admin = this.#kafka.admin();
    await admin.connect();
    const { topics } = await admin
      .fetchTopicMetadata({ topics: [this.#topic] })
      .finally(() => admin.disconnect());
    this.#partitions = topics[0]?.partitions.length ?? 0;
    return this.#partitions;
  }

  async #schemaIdOf(type: EventType): Promise<number> {
    const known = this.#schemaIds.get(type);
    if (known !== undefined) return known;
    const schema = { type: SchemaType.AVRO, schema: eventSchemaText(type) } as const;
    const { id } = await this.#registry.register(schema, {
      subject: recordNameOf(type),
      // As hookrail sets it: the client refuses a subject whose setting is another.
      compatibility: COMPATIBILITY.FULL_TRANSITIVE,
    });
    this.#schemaIds.set(type, id);
    return id;
  }

  async #connected(): Promise<Producer> {
    if (this.#producer) return this.#producer;
    this.#lives += 1;
    const producer = this.#kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      transactionalId: `${this.#topic}-foreign-${this.#lives}`,
      transactionTimeout: 10_000,
    });
    await producer.connect();
    this.#producer = producer;
    return producer;
  }
}
