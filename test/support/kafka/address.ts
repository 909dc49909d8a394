export interface KafkaForTests {
  /** `host:port` */
  readonly brokers: string[];
  /** Confluent-compatible, without a slash at its end. */
  readonly registryUrl: string;
}
/** What the starter answers: a Kafka, or in one line why there is none. */
export type StarterAnswer = { brokers: string[]; registryUrl: string } | { missing: string };
