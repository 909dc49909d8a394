/**
 * Kafka and the schema registry in containers, for machines with a Docker daemon and without Java: the services of
 * docker-compose.yml, on free ports.
 */

import { readFileSync } from 'node:fs';
import {
  GenericContainer,
  getContainerRuntimeClient,
  Network,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { parse } from 'yaml';
import { freePorts } from '../../../scripts/free-ports.ts';
import { messageOf } from '../../../services/messages/error-message.ts';
import type { KafkaForTests } from './address.ts';

const START_MS_MAX = 180_000;
const REGISTRY_PORT = 8080;
/** The listener for clients outside the containers' network. */
const HOST_PORT = 9094;
/** Less than in docker-compose.yml: tests write little. */
const HEAP = '-Xms160m -Xmx256m';

interface ComposeService {
  readonly image: string;
  readonly user?: string;
  readonly environment: Readonly<Record<string, string | number>>;
}

export interface KafkaContainers extends KafkaForTests {
  stop(): Promise<void>;
}

/** Returns the reason in one line why containers are not available; undefined when they are. */
export async function whyNoContainers(): Promise<string | undefined> {
  try {
    await getContainerRuntimeClient();
    return undefined;
  } catch (error) {
    return `no Docker daemon is reachable (${messageOf(error)})`;
  }
}

/** Starts three brokers and the registry. Rejects when an image cannot be pulled or a container does not start. */
export async function startKafkaContainers(): Promise<KafkaContainers> {
  const services = Object.entries(readServices());
  const nodes = services.filter(([, { image }]) => image.startsWith('apache/kafka:'));
  const [registry] = services.filter(([, { image }]) => image.startsWith('apicurio/'));
  if (!registry) throw new Error('docker-compose.yml has no service with an image apicurio/…');
  const network = await new Network().start();
  const started: StartedTestContainer[] = [];
  const stop = async () => {
    await Promise.all(started.map((container) => container.stop()));
    await network.stop();
  };
  const start = async (container: GenericContainer) => {
    const running = await container.withNetwork(network).withStartupTimeout(START_MS_MAX).start();
    started.push(running);
    return running;
  };
  try {
    const ports = await freePorts(nodes.length);
    const [registryContainer] = await Promise.all([
      start(registryOf(registry[1])),
      ...nodes.map(([name, service], index) => start(nodeOf(name, service, ports[index] ?? 0))),
    ]);
    const { host, port } = {
      host: registryContainer.getHost(),
      port: registryContainer.getMappedPort(REGISTRY_PORT),
    };
    return {
      brokers: ports.map((port) => `127.0.0.1:${port}`),
      registryUrl: `http://${host}:${port}/apis/ccompat/v7`,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function nodeOf(name: string, { image, environment }: ComposeService, port: number): GenericContainer {
  return new GenericContainer(image)
    .withEnvironment({
      ...texts(environment),
      KAFKA_HEAP_OPTS: HEAP,
      KAFKA_ADVERTISED_LISTENERS: `BROKER://${name}:9092,HOST://127.0.0.1:${port}`,
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    })
    .withNetworkAliases(name)
    .withExposedPorts({ container: HOST_PORT, host: port })
    .withWaitStrategy(Wait.forListeningPorts());
}

function registryOf({ image, user, environment }: ComposeService): GenericContainer {
  const container = new GenericContainer(image)
    .withEnvironment({ ...texts(environment), APICURIO_DATASOURCE_URL: 'jdbc:h2:mem:schemas' })
    .withExposedPorts(REGISTRY_PORT)
    .withWaitStrategy(Wait.forHttp('/apis/ccompat/v7/subjects', REGISTRY_PORT));
  return user === undefined ? container : container.withUser(user);
}

function texts(environment: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, `${value}`]));
}

function readServices(): Readonly<Record<string, ComposeService>> {
  const file = readFileSync(new URL('../../../docker-compose.yml', import.meta.url), 'utf8');
  return parse(file, { merge: true }).services;
}
