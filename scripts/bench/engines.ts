import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLocalKafka } from '../local-kafka/cluster.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** On the disk that holds the checkout: what is durable is durable there, with every engine. */
export const DATA_DIR = join(ROOT, 'data');

export const ENGINE_NAMES = ['sqlite', 'kafka'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** An engine to measure, with the servers it needs running. */
export interface BenchEngine {
  readonly name: EngineName;
  /** Of the next service that is started: no two share a stream. */
  environment(): Readonly<Record<string, string>>;
  /** Roles of each process of a service; the first has the api, and the producer. */
  readonly processes: readonly string[];
  /** Processes that the engine needs beside the service; none where it is in the service. */
  brokerPids(): readonly number[];
  /**
   * Events posted and not arrived at most, as the bare loop has 64 requests under way: what is measured is what goes
   * through, not how fast a backlog of any size is taken in.
   */
  readonly underWayMax: number;
  /** Delivered before the clock starts, once traffic has grown: what compiles at run time has done so then. */
  readonly warmUpEvents: number;
  /** Ends the servers and removes their data. */
  stop(): Promise<void>;
}

/** Starts what the engine needs. Rejects with one line that says what is missing. */
export function openEngine(name: EngineName, options: { readonly brokers: number }): Promise<BenchEngine> {
  return name === 'sqlite' ? Promise.resolve(SQLITE) : openKafka(options.brokers);
}

const SQLITE: BenchEngine = {
  name: 'sqlite',
  environment: () => ({ HOOKRAIL_ENGINE: 'sqlite' }),
  processes: ['api,router,sender,recorder'],
  brokerPids: () => [],
  // More is no quicker: it only lives longer in memory, where each collection copies it.
  underWayMax: 700,
  warmUpEvents: 30_000,
  stop: () => Promise.resolve(),
};

/**
 * One cluster for all services, so that the brokers' Java is compiled once; each service has topics and groups of its
 * own, with the partitions that a user gets. Whatever ends this process ends the cluster and removes its data.
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
  let services = 0;
  return {
    name: 'kafka',
    environment() {
      services += 1;
      return {
        HOOKRAIL_ENGINE: 'kafka',
        HOOKRAIL_KAFKA_BROKERS: cluster.brokers.join(','),
        HOOKRAIL_SCHEMA_REGISTRY_URL: cluster.registryUrl,
        HOOKRAIL_TOPIC_PREFIX: `bench${services}.`,
        HOOKRAIL_EVENTS_TOPIC: `bench${services}.payments.events`,
      };
    },
    // As it is run: roles are processes. So divided, neither waits for the other on a machine of two cores.
    processes: ['api,recorder,router', 'sender'],
    brokerPids: () => cluster.nodes.flatMap(({ pid }) => pid ?? []),
    // Three topics, each read and written in batches: with fewer under way they wait for each other.
    underWayMax: 16_000,
    warmUpEvents: 120_000,
    stop: () => cluster.stop(),
  };
}
