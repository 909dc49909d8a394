/**
 * One Kafka for a whole test run (run-wide.ts), on this machine's Java; without Java, or with HOOKRAIL_TEST_KAFKA=docker,
 * in containers.
 */
import type { TestProject } from 'vitest/node';
import { startLocalKafka, whyNoLocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import { type RunWide, serveRunWide } from '../run-wide.ts';
import type { KafkaForTests } from './address.ts';
import { startKafkaContainers, whyNoContainers } from './containers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kafkaStarterUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await serveRunWide(start);
  project.provide('kafkaStarterUrl', url);
  return stop;
}

async function start(): Promise<RunWide<KafkaForTests>> {
  const { brokers, registryUrl, stop } = await startKafka();
  return { address: { brokers, registryUrl }, stop };
}

async function startKafka() {
  const missing = await whyNotOnJava();
  if (missing === undefined) {
    return startLocalKafka({
      nodes: 3,
      registry: true,
      isShortLived: true,
      environment: process.env,
      say: (line) => console.log(`[kafka] ${line}`),
      onUnexpectedEnd: (reason) => console.error(`[kafka] ${reason}`),
    });
  }
  const missingToo = await whyNoContainers();
  if (missingToo !== undefined)
    throw new Error(`${missing} Containers are not available either: ${missingToo}`);
  console.log('[kafka] Starting 3 Kafka nodes and a schema registry in containers …');
  return startKafkaContainers();
}

async function whyNotOnJava(): Promise<string | undefined> {
  if (process.env.HOOKRAIL_TEST_KAFKA === 'docker') return 'HOOKRAIL_TEST_KAFKA=docker requires containers.';
  return whyNoLocalKafka(process.env);
}
