/**
 * One Kafka for a whole run of the tests, started when the first file asks for it: a run without Kafka tests starts
 * none. Files run in processes of their own, so they ask over a loopback port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type LocalKafka, startLocalKafka } from '../../scripts/local-kafka/cluster.ts';

/** What the starter answers: a Kafka, or in one line why there is none. */
export type StarterAnswer = { brokers: string[]; registryUrl: string } | { missing: string };

declare module 'vitest' {
  interface ProvidedContext {
    kafkaStarterUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<LocalKafka> | undefined;
  const answer = async (): Promise<StarterAnswer> => {
    starting ??= startLocalKafka({
      nodes: 3,
      registry: true,
      isShortLived: true,
      environment: process.env,
      say: (line) => console.log(`[kafka] ${line}`),
      onUnexpectedEnd: (reason) => console.error(`[kafka] ${reason}`),
    });
    try {
      const { brokers, registryUrl } = await starting;
      return { brokers, registryUrl };
    } catch (error) {
      return { missing: error instanceof Error ? error.message : String(error) };
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
