import { openKafkaBroker } from '../../../services/broker/kafka/open-kafka.ts';
import { readConfig } from '../../../services/config/config.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';

const PAGE = 10_000;

/** Returns the delivery ids of all dead letters of the deployment that runs with this environment. */
export async function deadLetterIds(environment: Record<string, string>): Promise<string[]> {
  const config = readConfig(environment);
  if (!config.kafka) throw new Error('the fleet runs on Kafka');
  const broker = await openKafkaBroker({
    kafka: config.kafka,
    environment: 'sandbox',
    retryScale: config.sender.retryScale,
    clientId: 'trial',
    publishesDirectory: false,
    clock: systemClock(),
    random: systemRandom,
    log: createLogger('silent'),
  });
  try {
    const ids: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await broker.deadLetters.list({ limit: PAGE, ...(after === undefined ? {} : { after }) });
      ids.push(...page.map(({ record }) => record.task.deliveryId));
      after = page.at(-1)?.position;
      if (after === undefined) return ids;
    }
  } finally {
    await broker.close();
  }
}
