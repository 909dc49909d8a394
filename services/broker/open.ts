import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import type { Config } from '../runtime/config.ts';
import type { Logger } from '../runtime/logger.ts';
import { systemRandom } from '../runtime/random.ts';
import type { Broker } from './broker.ts';
import { openKafkaBroker } from './kafka/open-kafka.ts';
import { openSqliteBroker } from './sqlite/sqlite-broker.ts';

/** The only place that chooses an engine. */
export function openBroker(config: Config, clock: Clock, log: Logger): Promise<Broker> {
  switch (config.engine) {
    case 'sqlite':
      return openSqliteBroker({
        file: join(config.dataDir, 'broker.db'),
        clock,
        retryScale: config.sender.retryScale,
        log,
        recentEventsRetentionMs: config.retentionMs,
      });
    case 'kafka':
      if (!config.kafka) throw new Error('the kafka engine came without its configuration');
      return openKafkaBroker({
        kafka: config.kafka,
        environment: config.environment,
        retryScale: config.sender.retryScale,
        clientId: `hookrail-${config.roles.join('-')}`,
        publishesDirectory: config.roles.includes('api'),
        clock,
        random: systemRandom,
        log,
      });
  }
}
