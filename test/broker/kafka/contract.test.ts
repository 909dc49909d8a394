import { brokerContract } from '../../contract/broker.contract.ts';
import { kafkaInstallation } from '../../support/kafka/installation.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';

await describeWithKafka('on a Kafka of three brokers', (kafka) => {
  brokerContract('kafka', () => kafkaInstallation(kafka));
});
