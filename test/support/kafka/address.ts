export interface KafkaForTests {
  /** `host:port` */
  readonly brokers: string[];
  /** Confluent-compatible, without a trailing slash. */
  readonly registryUrl: string;
}
/** The starter's response: the address of a Kafka, or the reason in one line why there is none. */
export type StarterAnswer = { brokers: string[]; registryUrl: string } | { missing: string };
