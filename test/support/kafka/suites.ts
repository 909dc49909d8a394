/**
 * Kafka for tests: the one that HOOKRAIL_TEST_KAFKA_BROKERS and HOOKRAIL_TEST_SCHEMA_REGISTRY_URL name, else a local one
 * of three nodes or as many containers (setup.ts), started once for all files. Where none can be had, the tests are skipped and the reason is printed;
 * with HOOKRAIL_REQUIRE_KAFKA=1 they fail.
 */
import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { type LocalKafka, startLocalKafka, whyNoLocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import type { KafkaForTests, StarterAnswer } from './address.ts';

const START_MS = 300_000;
const STOP_MS = 30_000;

/** A Kafka that is shared with other tests (see `freshPrefix`), or undefined, with the reason printed. */
async function givenKafka(): Promise<KafkaForTests | undefined> {
  const brokers = process.env.HOOKRAIL_TEST_KAFKA_BROKERS;
  const registryUrl = process.env.HOOKRAIL_TEST_SCHEMA_REGISTRY_URL;
  if (brokers && registryUrl) {
    return { brokers: brokers.split(','), registryUrl: registryUrl.replace(/\/$/, '') };
  }
  if (brokers || registryUrl) {
    throw new Error(
      'HOOKRAIL_TEST_KAFKA_BROKERS and HOOKRAIL_TEST_SCHEMA_REGISTRY_URL belong together: set both, or none.',
    );
  }
  const answer = await askStarter();
  if (!('missing' in answer)) return answer;
  return without(answer.missing);
}

/** A suite that runs on a Kafka shared with other tests. To be awaited at the top of a test file. */
export async function describeWithKafka(title: string, suite: (kafka: KafkaForTests) => void): Promise<void> {
  const kafka = await givenKafka();
  describe.skipIf(!kafka)(title, () => suite(kafka ?? { brokers: [], registryUrl: '' }));
}

/** A suite that starts its own local Kafka. To be awaited at the top of a test file. */
export async function describeWhereKafkaStarts(title: string, suite: () => void): Promise<void> {
  const missing = await whyNoLocalKafka(process.env);
  if (missing !== undefined) without(missing);
  describe.skipIf(missing !== undefined)(title, suite);
}

/**
 * A suite that has a local Kafka for itself, of which it may kill nodes. `cluster()` answers it inside hooks and tests.
 * To be awaited at the top of a test file.
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
      if (!cluster) throw new Error('the Kafka of this suite is there in its hooks and tests only');
      return cluster;
    });
  });
}

/** A topic prefix that no other test has: tests share a Kafka, and never a topic. */
export function freshPrefix(): string {
  return `t${randomBytes(6).toString('hex')}.`;
}

function without(reason: string): undefined {
  if (process.env.HOOKRAIL_REQUIRE_KAFKA === '1') {
    throw new Error(`HOOKRAIL_REQUIRE_KAFKA=1, and there is no Kafka. ${reason}`);
  }
  console.warn(`Tests with Kafka are skipped. ${reason}`);
  return undefined;
}

/** Waits as long as it takes: the first start fetches 150 MB. */
function askStarter(): Promise<StarterAnswer> {
  return new Promise((resolve, reject) => {
    const request = get(inject('kafkaStarterUrl'), async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve(JSON.parse(Buffer.concat(chunks).toString()));
    });
    request.once('error', reject);
  });
}
