/**
 * Guarantee: a record of an ordinary Kafka client is read, whatever its language, codec, transaction, subject naming
 * or schema version; an undeliverable one is in the quarantine, and none is stuck or lost. The examples of
 * docs/producers are run unchanged. `npm run kafka:producers` is the long form.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mustRun, preparePython } from '../../../scripts/producers/clients.ts';
import { tableText, wrongText } from '../../../scripts/producers/report.ts';
import { runConformance } from '../../../scripts/producers/run.ts';
import { type System, startSystem } from '../../../scripts/producers/system.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';

const CONFORMANCE_MS_MAX = 240_000;
const START_MS_MAX = 120_000;
const EXAMPLE_MS_MAX = 120_000;
const DELIVERED_MS_MAX = 20_000;
const PARTITIONS = 3;
const EXAMPLES = fileURLToPath(new URL('../../../docs/producers', import.meta.url));

await describeWithOwnKafka('producers of other teams', 1, (cluster) => {
  it('with kafkajs, librdkafka and the Java client have every record delivered or quarantined, none stuck or lost', {
    timeout: CONFORMANCE_MS_MAX,
  }, async () => {
    const { brokers, registryUrl } = cluster();
    const cells = await runConformance({
      ...{ brokers, registryUrl },
      isQuick: true,
      environment: process.env,
      say: (line) => console.log(line),
    });
    console.log(tableText(cells));
    expect(wrongText(cells)).toBe('');
    expect(cells.length).toBeGreaterThan(200);
  });

  describe('an example of docs/producers', () => {
    let system: System;

    beforeAll(async () => {
      const { brokers, registryUrl } = cluster();
      const topicPrefix = `e${randomBytes(6).toString('hex')}.`;
      system = await startSystem({ brokers, registryUrl, topicPrefix, partitions: PARTITIONS });
    }, START_MS_MAX);

    afterAll(() => system?.stop());

    it.each([
      [
        'Python',
        'python',
        async () => [await preparePython({ environment: process.env, say: console.log }), 'producer.py'],
      ],
      ['Node', 'node', async () => [process.execPath, 'producer.mjs']],
      ['Java', 'java', async () => ['mvn', '-q', '-B', 'compile', 'exec:java']],
    ] as const)(
      'in %s publishes an event that is delivered',
      { timeout: EXAMPLE_MS_MAX },
      async (_language, folder, command) => {
        const { brokers, registryUrl } = cluster();
        const [program = '', ...args] = await command();
        const { stdout } = await mustRun(['env', '-C', join(EXAMPLES, folder), program, ...args], {
          ...process.env,
          HOOKRAIL_KAFKA_BROKERS: brokers.join(','),
          HOOKRAIL_SCHEMA_REGISTRY_URL: registryUrl,
          HOOKRAIL_EVENTS_TOPIC: system.eventsTopic,
          MERCHANT_ID: system.merchantId,
        });
        const eventId = /published (\S+) to /.exec(stdout)?.[1] ?? '';
        expect(stdout).toMatch(new RegExp(`published ${eventId} to ${system.eventsTopic}/\\d+@\\d+`));
        await eventually('the webhook arrives', () => system.arrivals.has(eventId), DELIVERED_MS_MAX);
        expect(JSON.parse(system.arrivals.get(eventId)?.body ?? '{}')).toMatchObject({
          type: 'KYC',
          subType: 'FULL_USER',
        });
      },
    );
  });
});
