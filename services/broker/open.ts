import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Culprits } from '../domain/stalls/stall.ts';
import type { Clock } from '../process/clock.ts';
import { systemRandom } from '../process/random.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Activity } from '../watchdog/activity.ts';
import type { Broker } from './broker.ts';
import { openKafkaBroker } from './kafka/open-kafka.ts';
import { type SchemaCommands, schemaCommands } from './kafka/registry/schema-commands.ts';
import { aclCommands, type Role, topicCommands } from './kafka/topics/topic-commands.ts';
import { topicSpecs } from './kafka/topics/topics.ts';
import { fileFault } from './sqlite/file/schema.ts';
import { vacuumBrokerFile } from './sqlite/file/vacuum.ts';
import { openSqliteBroker } from './sqlite/sqlite-broker.ts';

/** The watchdog's view of an engine, and the work that it must not read again; an operator's tool has none. */
interface Watched {
  readonly activity?: Activity;
  readonly culprits?: Culprits;
}

/** Returns the file of the embedded engine. */
export function brokerFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'broker.db');
}

/** Returns why this build cannot use the embedded engine's file, in one line with what helps; undefined when it can. */
export function brokerFileFault(config: Pick<Config, 'dataDir'>): string | undefined {
  return fileFault(brokerFile(config));
}

/** Opens the configured engine: the only place that chooses one. */
export function openBroker(
  config: Config,
  clock: Clock,
  log: Logger,
  watched: Watched = {},
): Promise<Broker> {
  switch (config.engine) {
    case 'sqlite':
      return openSqliteBroker({
        file: brokerFile(config),
        clock,
        retryScale: config.sender.retryScale,
        log,
        recentEventsRetentionMs: config.retentionMs,
        ...watched,
      });
    case 'kafka':
      if (!config.kafka) throw new Error('the kafka engine needs its configuration');
      return openKafkaBroker({
        kafka: config.kafka,
        environment: config.environment,
        retryScale: config.sender.retryScale,
        clientId: `hookrail-${config.roles.join('-')}`,
        publishesDirectory: config.roles.includes('api'),
        clock,
        random: systemRandom,
        log,
        ...watched,
      });
  }
}

/**
 * Writes the embedded engine's file anew, without what was deleted, while the service is stopped. Returns its name; null where
 * there is none. Throws one line for an operator.
 */
export function vacuumBroker(config: Pick<Config, 'engine' | 'dataDir'>): string | null {
  const { engine } = config;
  const file = brokerFile(config);
  return engine === 'sqlite' && vacuumBrokerFile(file) ? file : null;
}

/** Commands of the cluster's own tools, for an administrator. */
export interface ClusterCommands {
  /** The commands that create the topics. */
  readonly topics: readonly string[];
  /** Returns the commands that grant a user everything that a process of these roles needs, and no more. */
  acls(roles: readonly Role[], principal: string): readonly string[];
  /** The commands that register each schema. */
  readonly schemas: readonly SchemaCommands[];
}

/** The default number of replicas: there is no cluster whose brokers could be counted. */
const REPLICATION_FACTOR = 3;

/** Returns the commands to set up the cluster by hand; undefined with an engine that needs no setup. */
export function clusterCommands({ kafka }: Pick<Config, 'kafka'>): ClusterCommands | undefined {
  if (!kafka) return undefined;
  const { brokers, replicationFactor } = kafka;
  return {
    topics: topicCommands(topicSpecs(kafka, replicationFactor ?? REPLICATION_FACTOR), brokers),
    acls: (roles, principal) => aclCommands(roles, { ...kafka, principal }),
    schemas: schemaCommands(kafka),
  };
}
