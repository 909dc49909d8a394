import { expect, it } from 'vitest';
import { kafkaClient } from '../../../services/kafka-client/client/client.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';

it('a broker that does not answer is no warning in the log, since it may come back', async () => {
  const levels = new Set<number>();
  const log = createLogger('info', { write: (line: string) => void levels.add(JSON.parse(line).level) });
  const admin = kafkaClient({
    brokers: ['127.0.0.1:1'],
    clientId: 'test',
    tls: null,
    sasl: null,
    log,
  }).admin();
  await expect(admin.connect()).rejects.toThrow('ECONNREFUSED');
  await admin.disconnect();
  expect([...levels]).toEqual([30]);
});
