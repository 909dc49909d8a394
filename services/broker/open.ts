import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Culprits } from '../domain/stalls/stall.ts';
import type { Clock } from '../process/clock.ts';
import { systemRandom } from '../process/random.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Activity } from '../watchdog/activity.ts';
import type { Broker } from './broker.ts';
import type { ClusterCommands } from './kafka/topics/cluster-commands.ts';
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
export async function openBroker(
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
      return (await import('./kafka/open-kafka.ts')).openKafkaBroker({
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

export type { ClusterCommands } from './kafka/topics/cluster-commands.ts';

/** Returns the commands to set up the cluster by hand; undefined with an engine that needs no setup. */
export async function clusterCommands(config: Pick<Config, 'kafka'>): Promise<ClusterCommands | undefined> {
  if (!config.kafka) return undefined;
  return (await import('./kafka/topics/cluster-commands.ts')).clusterCommands(config.kafka);
}
