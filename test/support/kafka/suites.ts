/**
 * Kafka for tests: the one that HOOKRAIL_TEST_KAFKA_BROKERS and HOOKRAIL_TEST_SCHEMA_REGISTRY_URL name, else three local
 * nodes or containers (setup.ts), started once for all files. Without Kafka, the tests are skipped and the reason is
 * printed; with HOOKRAIL_REQUIRE_KAFKA=1 they fail.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { type LocalKafka, startLocalKafka, whyNoLocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import { lookOnlyForWaitingRequests } from '../../../services/kafka-client/client/request-queue.ts';
import { requestRunWide } from '../run-wide.ts';
import type { KafkaForTests } from './address.ts';

const START_MS = 300_000;
const STOP_MS = 30_000;

/** Returns a Kafka shared with other tests (see `freshPrefix`); prints the reason and returns undefined if there is none. */
async function givenKafka(): Promise<KafkaForTests | undefined> {
  const brokers = process.env.HOOKRAIL_TEST_KAFKA_BROKERS;
  const registryUrl = process.env.HOOKRAIL_TEST_SCHEMA_REGISTRY_URL;
  if (brokers && registryUrl) {
    return { brokers: brokers.split(','), registryUrl: registryUrl.replace(/\/$/, '') };
  }
  if (brokers || registryUrl) {
    throw new Error(
      'HOOKRAIL_TEST_KAFKA_BROKERS and HOOKRAIL_TEST_SCHEMA_REGISTRY_URL must be set together: set both or neither.',
    );
  }
  const answer = await requestRunWide<KafkaForTests>(inject('kafkaStarterUrl'));
  if (!('missing' in answer)) return answer;
  return skipOrThrow(answer.missing);
}

/** Declares a suite that runs on a Kafka shared with other tests. Must be awaited at the top of a test file. */
export async function describeWithKafka(title: string, suite: (kafka: KafkaForTests) => void): Promise<void> {
  const kafka = await givenKafka();
  // Tests have clients of their own beside the service's.
  if (kafka) lookOnlyForWaitingRequests();
  describe.skipIf(!kafka)(title, () => suite(kafka ?? { brokers: [], registryUrl: '' }));
}

/** Declares a suite that starts its own local Kafka. Must be awaited at the top of a test file. */
export async function describeWhereKafkaStarts(title: string, suite: () => void): Promise<void> {
  const missing = await whyNoLocalKafka(process.env);
  if (missing !== undefined) skipOrThrow(missing);
  else lookOnlyForWaitingRequests();
  describe.skipIf(missing !== undefined)(title, suite);
}

/**
 * Declares a suite with a local Kafka of its own, whose nodes it may kill. `cluster()` returns it inside hooks and tests.
 * Must be awaited at the top of a test file.
 */
export function describeWithOwnKafka(
  title: string,
  nodes: number,
  suite: (cluster: () => LocalKafka) => void,
): Promise<void> {
  return describeWhereKafkaStarts(title, () => {
    let cluster: LocalKafka | undefined;
    beforeAll(async () => {
      cluster = await startLocalKafka({
        nodes,
        registry: true,
        isShortLived: true,
        environment: process.env,
      });
    }, START_MS);
    afterAll(() => cluster?.stop(), STOP_MS);
    suite(() => {
      if (!cluster) throw new Error('the Kafka of this suite is available only in its hooks and tests');
      return cluster;
    });
  });
}

/** Returns a unique topic prefix: tests share a Kafka, but never a topic. */
export function freshPrefix(): string {
  return `t${randomBytes(6).toString('hex')}.`;
}

function skipOrThrow(reason: string): undefined {
  if (process.env.HOOKRAIL_REQUIRE_KAFKA === '1') {
    throw new Error(`HOOKRAIL_REQUIRE_KAFKA=1 is set, but Kafka is not available. ${reason}`);
  }
  console.warn(`Kafka tests are skipped. ${reason}`);
  return undefined;
}
