import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLocalKafka } from '../local-kafka/cluster.ts';
import type { Counts } from './counts.ts';
import { type Traffic, TrafficCounter } from './kafka/traffic.ts';
import { type BenchPostgres, startBenchPostgres } from './postgres/postgres-server.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** On the disk of the checkout, so that every engine makes its data durable on the same disk. */
export const DATA_DIR = join(ROOT, 'data');

export const ENGINE_NAMES = ['sqlite', 'kafka'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

export const STORE_NAMES = ['sqlite', 'postgres'] as const;
export type StoreName = (typeof STORE_NAMES)[number];

/** An engine to measure, with the servers it needs running. */
export interface BenchEngine {
  readonly name: string;
  /** Returns the environment of the next service: no two services share a stream or a database. */
  environment(): Promise<Readonly<Record<string, string>>>;
  /** Roles of each process of a service; the first has the api, and the producer. */
  readonly processes: readonly string[];
  /** Returns the processes that the engine needs besides the service; none for an embedded engine. */
  brokerPids(): readonly number[];
  /** Returns the processes of the store's server; none for a store in the service. */
  storePids(): readonly number[];
  /** Null for an embedded engine. */
  readonly kafka: BenchKafka | null;
  /**
   * The most events that may be posted and not yet arrived, as the bare loop has 64 requests in flight: throughput is
   * measured, not how fast a backlog is accepted.
   */
  readonly underWayMax: number;
  /** Deliveries at full load before the clock starts, so that all code is compiled. */
  readonly warmUpEvents: number;
  /** Stops the servers and removes their data. */
  stop(): Promise<void>;
}

/** The brokers, and what the newest service exchanges with them. */
export interface BenchKafka {
  /** host:port of each. */
  readonly brokers: readonly string[];
  requestsOf(pid: number): Counts;
  traffic(pids: readonly number[]): Promise<Traffic>;
}

/** Starts the servers that the engine needs. Rejects with one line that names what is missing. */
export async function openEngine(
  name: EngineName,
  { brokers, store }: { readonly brokers: number; readonly store: StoreName },
): Promise<BenchEngine> {
  if (name === 'sqlite') return SQLITE;
  const kafka = await openKafka(brokers);
  if (store === 'sqlite') return kafka;
  try {
    return withStore(kafka, await startBenchPostgres());
  } catch (error) {
    await kafka.stop();
    throw error;
  }
}

const SQLITE: BenchEngine = {
  name: 'sqlite',
  environment: () => Promise.resolve({ HOOKRAIL_ENGINE: 'sqlite' }),
  processes: ['api,router,sender,recorder'],
  brokerPids: () => [],
  storePids: () => [],
  kafka: null,
  // More is not faster: events only stay in memory longer, where each garbage collection copies them.
  underWayMax: 700,
  warmUpEvents: 30_000,
  stop: () => Promise.resolve(),
};

/**
 * Starts one cluster for all services, so that the brokers' Java is compiled once. Each service has its own topics and
 * groups, with the default partitions. The cluster and its data never outlive this process.
 */
async function openKafka(nodes: number): Promise<BenchEngine> {
  const cluster = await startLocalKafka({
    nodes,
    registry: true,
    isShortLived: false,
    temporaryIn: DATA_DIR,
    environment: process.env,
    onUnexpectedEnd: (reason) => {
      console.error(reason);
      process.exit(1);
    },
  });
  const counter = new TrafficCounter(cluster.brokers);
  let services = 0;
  const prefix = () => `bench${services}.`;
  return {
    name: 'kafka',
    environment() {
      services += 1;
      return Promise.resolve({
        ...counter.environment(),
        HOOKRAIL_ENGINE: 'kafka',
        HOOKRAIL_KAFKA_BROKERS: cluster.brokers.join(','),
        HOOKRAIL_SCHEMA_REGISTRY_URL: cluster.registryUrl,
        HOOKRAIL_TOPIC_PREFIX: prefix(),
        HOOKRAIL_EVENTS_TOPIC: `${prefix()}payments.events`,
      });
    },
    // Divided like this, neither waits for the other on a machine of two cores, and first attempts need no topic.
    processes: ['api,recorder', 'router,sender'],
    brokerPids: () => cluster.nodes.flatMap(({ pid }) => pid ?? []),
    storePids: () => [],
    kafka: {
      brokers: cluster.brokers,
      requestsOf: (pid) => counter.requestsOf(pid),
      traffic: (pids) => counter.look(prefix(), pids),
    },
    // Topics are read and written in batches: with fewer events in progress they wait for each other.
    underWayMax: 4_000,
    warmUpEvents: 120_000,
    async stop() {
      await counter.close();
      await cluster.stop();
    },
  };
}

/** Returns the engine with its services' stores on this server, a database for each. */
function withStore(kafka: BenchEngine, { server, createDatabase, stop }: BenchPostgres): BenchEngine {
  let services = 0;
  return {
    ...kafka,
    name: `${kafka.name} and PostgreSQL`,
    async environment() {
      services += 1;
      const url = await createDatabase(`bench${services}`);
      return {
        ...(await kafka.environment()),
        HOOKRAIL_STORE: 'postgres',
        HOOKRAIL_POSTGRES_URL: url,
      };
    },
    storePids: () => (server.pid === undefined ? [] : [server.pid]),
    async stop() {
      await kafka.stop();
      await stop();
    },
  };
}
