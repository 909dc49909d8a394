import { type Consumer, Kafka, logLevel, type Producer } from 'kafkajs';

const TOPIC = 'bench-floor';
const REPLICAS_MAX = 3;

/** Writes records to a topic and reads them, one at a time. */
export class RoundTrips {
  readonly #producer: Producer;
  readonly #consumer: Consumer;
  #arrived: () => void = () => {};

  private constructor(producer: Producer, consumer: Consumer) {
    this.#producer = producer;
    this.#consumer = consumer;
  }

  /** Creates the topic, and resolves when the consumer reads it. */
  static async open(brokers: readonly string[]): Promise<RoundTrips> {
    const kafka = new Kafka({ brokers: [...brokers], clientId: 'bench-floor', logLevel: logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    const replicationFactor = Math.min(REPLICAS_MAX, brokers.length);
    await admin.createTopics({ topics: [{ topic: TOPIC, replicationFactor }], waitForLeaders: true });
    await admin.disconnect();
    const trips = new RoundTrips(kafka.producer(), kafka.consumer({ groupId: TOPIC }));
    await trips.#start();
    return trips;
  }

  async #start(): Promise<void> {
    await Promise.all([this.#producer.connect(), this.#consumer.connect()]);
    await this.#consumer.subscribe({ topic: TOPIC, fromBeginning: true });
    const joined = new Promise<void>((resolve) => {
      this.#consumer.on(this.#consumer.events.GROUP_JOIN, () => resolve());
    });
    await this.#consumer.run({ autoCommit: false, eachMessage: async () => this.#arrived() });
    await joined;
  }

  /** Resolves when a record with this value was written and read. */
  async make(value: Buffer): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    const sent = this.#producer.send({ topic: TOPIC, acks: -1, messages: [{ value }] });
    await Promise.all([sent, arrived]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#producer.disconnect(), this.#consumer.disconnect()]);
  }
}
