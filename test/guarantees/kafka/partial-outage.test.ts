/**
 * Guarantee: a broker that is gone, or hangs, holds back only the records of the partitions that it leads; they are
 * written in their order once it is back.
 */
import { Kafka, logLevel } from 'kafkajs';
import { expect, it } from 'vitest';
import { brokersOf } from '../../../services/kafka-client/client/kafkajs-brokers.ts';
import { KafkaProducer } from '../../../services/kafka-client/producer/producer.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { createTopics } from '../../support/kafka/created-topics.ts';
import { describeWithOwnKafka, freshPrefix } from '../../support/kafka/suites.ts';

const FAULT_MS = 12_000;
const STEP_MS = 20;
/** On a busy machine an acknowledgement may take this long; a wait for the hanging broker takes many seconds. */
const SLOW_MS_MAX = 2000;

await describeWithOwnKafka('a broker of three, with one copy of each partition', 3, (cluster) => {
  it.each(['is killed', 'hangs'] as const)(
    'holds back only its own partitions when it %s',
    async (fault) => {
      const clock = systemClock();
      const kafka = new Kafka({ brokers: cluster().brokers, logLevel: logLevel.NOTHING });
      const admin = kafka.admin();
      await admin.connect();
      const topic = `${freshPrefix()}partial`;
      const replicaAssignment = [1, 2, 3].map((node, partition) => ({ partition, replicas: [node] }));
      const configEntries = [{ name: 'min.insync.replicas', value: '1' }];
      await createTopics(admin, [{ topic, replicaAssignment, configEntries }]);
      const producer = new KafkaProducer({
        cluster: () => brokersOf(kafka, clock),
        clock,
        log: createLogger('silent'),
        partitions: new Map([[topic, 3]]),
      });
      await producer.open();
      let count = 0;
      const acknowledged: { value: number; partition: number; offset: number; ms: number }[] = [];
      const refused: Error[] = [];
      const put = (partition: number) => {
        const value = count++;
        const begun = clock.now();
        const record = { topic, partition, key: null, value: Buffer.from(`${value}`) };
        producer.send(record).then(
          ({ offset }) => acknowledged.push({ value, partition, offset, ms: clock.now() - begun }),
          (error) => refused.push(error),
        );
      };
      const load = async (ms: number) => {
        for (const until = clock.now() + ms; clock.now() < until; await clock.sleep(STEP_MS)) {
          for (const partition of [0, 1, 2]) put(partition);
        }
      };
      await load(1000);
      const before = medianOf(acknowledged.map(({ ms }) => ms));
      acknowledged.length = 0;

      // Node 3 leads partition 2.
      const node = cluster().nodes[2];
      if (!node) throw new Error('there is no third node');
      if (fault === 'hangs') process.kill(node.pid ?? 0, 'SIGSTOP');
      else await node.kill();
      await load(FAULT_MS);
      const healthy = acknowledged.filter(({ partition }) => partition !== 2).map(({ ms }) => ms);
      const during = medianOf(healthy);
      console.log(
        `p50 ${before.toFixed(1)} ms before, ${during.toFixed(1)} ms while one ${fault}, max ${Math.max(...healthy)}`,
      );
      expect(healthy.length).toBeGreaterThan(2 * 0.5 * (FAULT_MS / (2 * STEP_MS)));
      expect(Math.max(...healthy)).toBeLessThan(SLOW_MS_MAX);
      expect(producer.isReachable).toBe(true);
      expect(
        [0, 1, 2].map((partition) => producer.isPromptFor(topic, keyOf(producer, topic, partition))),
      ).toEqual([true, true, false]);
      expect(producer.troubles.join()).toContain(`${topic}/2: `);

      if (fault === 'hangs') process.kill(node.pid ?? 0, 'SIGCONT');
      else await node.start();
      await eventually('every other record is acknowledged', () => producer.waitingBytes === 0, 60_000);
      expect(refused).toEqual([]);
      const ofThird = acknowledged.filter(({ partition }) => partition === 2);
      expect(ofThird.map(({ offset }) => offset)).toEqual(
        ofThird.map(({ offset }) => offset).sort((a, b) => a - b),
      );
      expect(producer.troubles).toEqual([]);
      await producer.close(1000);
      await admin.disconnect();
    },
    180_000,
  );
});

function medianOf(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** A key whose partition this is. */
function keyOf(producer: KafkaProducer, topic: string, partition: number): string {
  for (let i = 0; ; i += 1) if (producer.partitionOf(topic, `${i}`) === partition) return `${i}`;
}
