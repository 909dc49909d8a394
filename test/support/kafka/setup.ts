/**
 * One Kafka for a whole test run, started when the first file requests it: a run without Kafka tests starts none. Test
 * files run in their own processes, so they request it over a loopback port.
 *
 * It runs on this machine's Java; without Java, or with HOOKRAIL_TEST_KAFKA=docker, it runs in containers.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startLocalKafka, whyNoLocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import { messageOf } from '../../../services/messages/error-message.ts';
import type { StarterAnswer } from './address.ts';
import { startKafkaContainers, whyNoContainers } from './containers.ts';

/** The Kafka of this run. */
interface StartedKafka {
  readonly brokers: string[];
  readonly registryUrl: string;
  stop(): Promise<void>;
}

declare module 'vitest' {
  interface ProvidedContext {
    kafkaStarterUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<StartedKafka> | undefined;
  const answer = async (): Promise<StarterAnswer> => {
    starting ??= start();
    try {
      const { brokers, registryUrl } = await starting;
      return { brokers, registryUrl };
    } catch (error) {
      return { missing: messageOf(error) };
    }
  };
  const server = createServer(async (_request, response) => {
    response.end(JSON.stringify(await answer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  project.provide('kafkaStarterUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    const cluster = await starting?.catch(() => undefined);
    await cluster?.stop();
  };
}

async function start(): Promise<StartedKafka> {
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
