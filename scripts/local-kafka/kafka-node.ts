import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { hushNegativeTimeouts } from '../../services/messages/timer-warnings.ts';
import { freePorts } from '../free-ports.ts';
import { type JarsContext, type Java, KAFKA, runJava } from './artifacts.ts';
import { archivedClasses, RECORDED_MS_MAX } from './class-archive.ts';
import { JavaProcess } from './java-process.ts';
import { type NodePorts, nodeProperties, type SecuredListener, tokenArgs } from './settings.ts';

export interface KafkaNodeOptions {
  readonly id: number;
  readonly ports: readonly NodePorts[];
  readonly secured: SecuredListener | undefined;
  readonly settings: Readonly<Record<string, string | number>> | undefined;
  /** This node's own folder, for its settings, output and data. */
  readonly folder: string;
  readonly java: Java;
  /** The folder of Kafka's jars. */
  readonly jarsFolder: string;
  /** Arguments with which Java finds the archive of its classes, or makes it; see `archivedClasses`. */
  readonly classes: readonly string[];
  readonly clusterId: string;
  readonly context: JarsContext;
  /** Whether Java compiles quickly and optimises little. */
  readonly isShortLived: boolean;
  readonly onUnexpectedEnd: (reason: string) => void;
}

/** A Kafka node, both broker and controller. */
export class KafkaNode extends JavaProcess {
  /** Kafka's node id, from 1. */
  readonly id: number;
  /** `127.0.0.1:port` */
  readonly broker: string;
  /** The address of the secured listener, if there is one. */
  readonly securedBroker: string;
  readonly #options: KafkaNodeOptions;

  constructor(options: KafkaNodeOptions) {
    const broker = `127.0.0.1:${options.ports[options.id - 1]?.broker}`;
    super({
      name: `Kafka node ${options.id}`,
      java: options.java.command,
      args: [
        ...(options.isShortLived ? QUICK : []),
        ...javaArgs(options),
        'kafka.Kafka',
        propertiesFile(options),
      ],
      logFile: join(options.folder, 'output.log'),
      isReady: async () => (await visibleNodes(broker)).includes(options.id),
      onUnexpectedEnd: options.onUnexpectedEnd,
      guard: options.context.guard,
    });
    this.id = options.id;
    this.broker = broker;
    this.securedBroker = `127.0.0.1:${options.ports[options.id - 1]?.secured}`;
    this.#options = options;
  }

  /** Writes its settings and prepares its storage, unless it holds data already. Rejects with one line. */
  async prepare(): Promise<void> {
    const { id, folder, ports, secured, settings, java, clusterId, context } = this.#options;
    const dataDir = join(folder, 'log');
    mkdirSync(join(folder, 'tmp'), { recursive: true });
    writeFileSync(propertiesFile(this.#options), nodeProperties({ id, dataDir, ports, secured, settings }));
    if (existsSync(join(dataDir, 'meta.properties'))) return;
    const tool = [...QUICK, ...javaArgs(this.#options), 'kafka.tools.StorageTool'];
    await runJava(
      java.command,
      [...tool, 'format', '-t', clusterId, '-c', propertiesFile(this.#options)],
      context,
    );
  }

  /** Returns the ids of the live nodes that this one sees; rejects when it does not respond. */
  visibleNodes(): Promise<number[]> {
    return visibleNodes(this.broker);
  }
}

/** Returns the arguments with which Java finds the archive of Kafka's classes, which it makes where it is missing. */
export function archiveOfKafka(
  java: Java,
  jarsFolder: string,
  context: JarsContext,
): Promise<readonly string[]> {
  return archivedClasses(`kafka-${KAFKA}`, java, context, async (args, folder) => {
    const [broker = 0, controller = 0, secured = 0] = await freePorts(3);
    const options = {
      ...{ id: 1, folder, java, jarsFolder, context, clusterId: 'AAAAAAAAAAAAAAAAAAAAAA' },
      ports: [{ broker, controller, secured }],
      secured: undefined,
      settings: undefined,
      isShortLived: true,
      onUnexpectedEnd: () => {},
    };
    // The tool that formats the storage is a program of its own.
    await new KafkaNode({ ...options, classes: [] }).prepare();
    const node = new KafkaNode({ ...options, classes: args });
    await node.start();
    await node.stop(RECORDED_MS_MAX);
  });
}

/** Only Java's first compiler, which halves the CPU time of a start. */
const QUICK = ['-XX:TieredStopAtLevel=1'];

function javaArgs({ folder, jarsFolder, classes, secured }: KafkaNodeOptions): string[] {
  return [
    ...classes,
    ...tokenArgs(secured),
    ...['-Xms128m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:-UsePerfData'],
    // Compression libraries are unpacked here; after a kill they would remain in the system's temporary folder.
    `-Djava.io.tmpdir=${join(folder, 'tmp')}`,
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-Dorg.slf4j.simpleLogger.showDateTime=true',
    ...['-cp', join(jarsFolder, '*')],
  ];
}

function propertiesFile({ folder }: KafkaNodeOptions): string {
  return join(folder, 'server.properties');
}

async function visibleNodes(broker: string): Promise<number[]> {
  hushNegativeTimeouts();
  const kafka = new Kafka({
    clientId: 'local-kafka',
    brokers: [broker],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1_000,
    requestTimeout: 2_000,
    retry: { retries: 0 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    return cluster.brokers.map(({ nodeId }) => nodeId);
  } finally {
    await admin.disconnect();
  }
}
