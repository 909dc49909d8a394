import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../services/messages/error-message.ts';
import { freePorts, isFree } from '../free-ports.ts';
import { Guard } from '../guard/guard.ts';
import { findJava, type JarsContext, kafkaJars, registryJar } from './artifacts.ts';
import type { JavaProcess } from './java-process.ts';
import { archiveOfKafka, KafkaNode } from './kafka-node.ts';
import { archiveOfRegistry, LocalRegistry } from './registry.ts';
import type { SecuredListener } from './settings.ts';

const ALL_SEEN_MS = 60_000;

export interface LocalKafkaOptions {
  /** The number of nodes, each broker and controller. Three allow three replicas per topic and the loss of one node. */
  readonly nodes: number;
  /** Whether to start a schema registry, too. */
  readonly registry: boolean;
  /** A folder that is kept at the end and reused by the next start. Default: a temporary folder, removed at the end. */
  readonly dataDir?: string | undefined;
  /** The parent of the temporary folder. Default: the system's temporary folder. */
  readonly temporaryIn?: string | undefined;
  /** `broker` is the port of the first node; the others follow. Default: free ports. */
  readonly ports?: { readonly broker?: number | undefined; readonly registry?: number | undefined };
  /** An additional secured listener. Default: none. */
  readonly secured?: SecuredListener;
  /** Broker settings that override the defaults here, by their Kafka names. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** For runs of up to an hour: nodes start with half the CPU time, but are slower at full load. */
  readonly isShortLived: boolean;
  /** Only JAVA_HOME, PATH and XDG_CACHE_HOME are read. */
  readonly environment: NodeJS.ProcessEnv;
  /** Reports progress, one line at a time. */
  readonly say?: (line: string) => void;
  /** Called with a one-line reason when a process exits unexpectedly. */
  readonly onUnexpectedEnd?: (reason: string) => void;
}

export interface LocalKafka {
  /** `127.0.0.1:port` of every node. */
  readonly brokers: string[];
  /** Confluent-compatible. Empty without a registry. */
  readonly registryUrl: string;
  /**
   * A node works only while a majority runs: after losing the majority, restart the nodes together with `Promise.all`.
   * A restart after a kill takes up to 9 s longer, until the cluster considers the old process dead.
   */
  readonly nodes: readonly KafkaNode[];
  readonly registry: LocalRegistry | undefined;
  /** Stops all processes and removes a temporary folder. May be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts Kafka and a schema registry on 127.0.0.1, and resolves when every node sees every other and the registry responds.
 * No process outlives this one, even when it is killed. Rejects with one line that names what is missing (Java, Maven,
 * Maven Central, a port) and what to do.
 */
export async function startLocalKafka(options: LocalKafkaOptions): Promise<LocalKafka> {
  const guard = new Guard();
  const { dataDir, isTemporary } = dataFolder(options, guard);
  const processes: JavaProcess[] = [];
  // A temporary folder holds nothing to keep, so there is no need to wait for an orderly shutdown.
  const end = async () => {
    await Promise.all(processes.map((each) => (isTemporary ? each.kill() : each.stop())));
    await guard.close();
  };
  try {
    const { nodes, registry } = await prepare(options, guard, dataDir);
    processes.push(...nodes, ...(registry ? [registry] : []));
    await Promise.all([
      registry?.start(),
      ...nodes.map(async (node) => {
        await node.prepare();
        await node.start();
      }),
    ]);
    await Promise.all(nodes.map((node) => untilAllAreSeen(node, nodes.length)));
    let ended: Promise<void> | undefined;
    return {
      brokers: nodes.map(({ broker }) => broker),
      registryUrl: registry?.url ?? '',
      nodes,
      registry,
      stop() {
        ended ??= end();
        return ended;
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * Fetches missing jars and records missing archives of classes. Returns the reason in one line why a local Kafka cannot
 * be started here, or undefined.
 */
export async function whyNoLocalKafka(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const guard = new Guard();
  const context = { guard, environment, say: () => {} };
  try {
    await installed(context, true);
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await guard.close();
  }
}

async function prepare(
  options: LocalKafkaOptions,
  guard: Guard,
  dataDir: string,
): Promise<{ nodes: KafkaNode[]; registry: LocalRegistry | undefined }> {
  const context = { guard, environment: options.environment, say: options.say ?? (() => {}) };
  const { java, jarsFolder, classes, jar, registryClasses } = await installed(context, options.registry);
  const { ports, registryPort } = await choosePorts(options);
  const clusterId = clusterIdOf(dataDir, options.nodes);
  const onUnexpectedEnd = options.onUnexpectedEnd ?? (() => {});
  context.say(
    `Starting ${options.nodes} Kafka node${options.nodes === 1 ? '' : 's'}${jar ? ' and a schema registry' : ''} …`,
  );
  const nodes = ports.map((_, index) => {
    const folder = join(dataDir, `node-${index + 1}`);
    const id = index + 1;
    return new KafkaNode({
      ...{ id, ports, folder, java, jarsFolder, classes, clusterId, context, onUnexpectedEnd },
      secured: options.secured,
      settings: options.settings,
      isShortLived: options.isShortLived,
    });
  });
  const folder = join(dataDir, 'registry');
  const registry = jar
    ? new LocalRegistry({
        ...{ java, jar, port: registryPort, classes: registryClasses, folder, guard, onUnexpectedEnd },
      })
    : undefined;
  return { nodes, registry };
}

/** Finds what the programs need, and obtains what is missing. `jar` is the registry's; undefined without a registry. */
async function installed(context: JarsContext, registry: boolean) {
  const java = await findJava(context);
  const jarsFolder = await kafkaJars(context);
  const classes = await archiveOfKafka(java, jarsFolder, context);
  const jar = registry ? await registryJar(context) : undefined;
  const registryClasses = jar ? await archiveOfRegistry(java, jar, context) : [];
  return { java, jarsFolder, classes, jar, registryClasses };
}

function dataFolder(options: LocalKafkaOptions, guard: Guard): { dataDir: string; isTemporary: boolean } {
  if (options.dataDir !== undefined) {
    const dataDir = resolve(options.dataDir);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return { dataDir, isTemporary: false };
  }
  const dataDir = mkdtempSync(join(options.temporaryIn ?? tmpdir(), 'hookrail-kafka-'));
  guard.removeAtEnd(dataDir);
  return { dataDir, isTemporary: true };
}

async function choosePorts({ nodes, registry, ports }: LocalKafkaOptions) {
  const first = ports?.broker;
  const fixed = first === undefined ? [] : Array.from({ length: nodes }, (_, index) => first + index);
  if (registry && ports?.registry !== undefined) fixed.push(ports.registry);
  for (const port of fixed) {
    if (await isFree(port)) continue;
    throw new Error(
      `Port ${port} on 127.0.0.1 is in use. Stop the program that listens there, or choose another port.`,
    );
  }
  const free = await freePorts(3 * nodes + 1, fixed);
  const next = () => free.pop() ?? 0;
  return {
    ports: Array.from({ length: nodes }, (_, index) => ({
      broker: fixed[index] ?? next(),
      controller: next(),
      secured: next(),
    })),
    registryPort: ports?.registry ?? next(),
  };
}

/** Returns the cluster's id, which is stored with its data. The data belongs to a cluster of one size only. */
function clusterIdOf(dataDir: string, nodes: number): string {
  const file = join(dataDir, 'cluster.json');
  if (existsSync(file)) {
    const kept: { clusterId: string; nodes: number } = JSON.parse(readFileSync(file, 'utf8'));
    if (kept.nodes === nodes) return kept.clusterId;
    const held = kept.nodes === 1 ? 'one Kafka node' : `${kept.nodes} Kafka nodes`;
    throw new Error(
      `${dataDir} holds the data of ${held}, not of ${nodes}. Start it with --brokers ${kept.nodes}, or use another folder.`,
    );
  }
  // 16 bytes in Kafka's format. The tool would parse a leading dash as an option.
  const clusterId = `k${randomBytes(16).toString('base64url').slice(1)}`;
  writeFileSync(file, JSON.stringify({ clusterId, nodes }));
  return clusterId;
}

async function untilAllAreSeen(node: KafkaNode, count: number): Promise<void> {
  for (const until = Date.now() + ALL_SEEN_MS; Date.now() < until; await sleep(100)) {
    const seen = await node.visibleNodes().catch(() => []);
    if (seen.length === count) return;
  }
  throw new Error(`Kafka node ${node.id} does not see all ${count} nodes after ${ALL_SEEN_MS / 1000} s.`);
}
