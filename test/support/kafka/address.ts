export interface KafkaForTests {
  /** `host:port` */
  readonly brokers: string[];
  /** Confluent-compatible, without a trailing slash. */
  readonly registryUrl: string;
}
