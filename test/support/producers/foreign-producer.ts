/**
 * A producer that is not hookrail's and writes as Kafka Streams or Flink do: idempotent, transactional, gzip, a key for
 * each record. Before every fifth transaction it aborts one, whose events must never be delivered.
 */
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { CompressionTypes, Kafka, logLevel, type Producer, type Transaction } from 'kafkajs';
import { encodeEvent } from '../../../services/codec/event-avro.ts';
import { eventSchemaText, recordNameOf } from '../../../services/codec/event-schemas.ts';
import type { DomainEvent, EventType } from '../../../services/domain/event.ts';
import { uuidV5 } from '../../../services/domain/ids.ts';
import { partitionOfKey } from '../../../services/kafka-client/producer/murmur2.ts';
import type { KafkaForTests } from '../kafka/address.ts';

const ABORT_EVERY = 5;

interface ForeignRecord {
  readonly key: string;
  readonly value: Buffer;
  readonly partition: number;
}

export class ForeignProducer {
  readonly #kafka: Kafka;
  readonly #registry: SchemaRegistry;
  readonly #topic: string;
  readonly #schemaIds = new Map<EventType, number>();
  #producer: Producer | null = null;
  #lives = 0;
  #transactions = 0;
  /** The offset of the newest records that it wrote, by partition. */
  readonly #newest = new Map<number, number>();
  /** The number of the topic's partitions; 0 = not known yet. */
  #partitions = 0;

  constructor({ brokers, registryUrl }: KafkaForTests, topic: string) {
    const retry = { retries: 8, initialRetryTime: 100, maxRetryTime: 2000 };
    this.#kafka = new Kafka({ clientId: 'foreign', brokers, logLevel: logLevel.NOTHING, retry });
    this.#registry = new SchemaRegistry({ host: registryUrl });
    this.#topic = topic;
  }

  /** Writes the events in one transaction. Rejects when it is uncertain whether they were written. */
  async publish(events: readonly DomainEvent[]): Promise<void> {
    try {
      const producer = await this.#connected();
      this.#transactions += 1;
      if (this.#transactions % ABORT_EVERY === 0) await this.#abortOne(producer, events);
      const transaction = await producer.transaction();
      if (await this.#isWritten(transaction, events)) return await transaction.commit();
      await transaction.abort();
      throw new Error('kafkajs reported success without writing all records');
    } catch (error) {
      // A fenced or failed transactional producer is unusable: the next call creates another.
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
    await this.#isWritten(transaction, unwanted);
    await transaction.abort();
  }

  /**
   * Sends the events and returns whether all of them were written. When kafkajs retries a request because a leader
   * changed, it can report success for records that it did not send: it leaves out partitions that moved to a broker that
   * has already responded, and it miscounts sequence numbers, so that brokers treat the next records as duplicates and
   * return the offset of the earlier ones.
   */
  async #isWritten(transaction: Transaction, events: readonly DomainEvent[]): Promise<boolean> {
    const messages = await this.#records(events);
    const batch = { topic: this.#topic, compression: CompressionTypes.GZIP, messages, acks: -1 };
    const places = new Map(
      (await transaction.send(batch)).map(({ partition, baseOffset }) => [partition, Number(baseOffset)]),
    );
    const isNew = (partition: number) => (places.get(partition) ?? -1) > (this.#newest.get(partition) ?? -1);
    const areNew = messages.every(({ partition }) => isNew(partition));
    for (const [partition, offset] of places) this.#newest.set(partition, offset);
    return areNew;
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
      // The same as hookrail's: the client rejects a subject with a different level.
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
