/**
 * Guarantee: where the service may create neither topics nor schemas, an administrator needs only the output of `npm
 * run operator`; without that the start is refused in one line that names the command.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ownSchemas } from '../../../services/broker/kafka/registry/records.ts';
import { topicSpecs } from '../../../services/broker/kafka/topics/topics.ts';
import { readConfig } from '../../../services/config/config.ts';
import { eventually } from '../../support/eventually.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { describeWithOwnKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { runTool } from '../../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup, startService } from '../../support/service/system.ts';

const BY_HAND = { HOOKRAIL_KAFKA_CREATE_TOPICS: 'false' };

await describeWithOwnKafka('a service that may not change a fresh cluster and registry', 1, (cluster) => {
  let setup: ServiceSetup;
  let environment: Record<string, string>;

  beforeAll(async () => {
    setup = await prepareSetup();
    const { brokers, registryUrl } = cluster();
    environment = {
      ...setup.environment,
      ...kafkaEnvironment({ brokers, registryUrl }, freshPrefix()),
    };
    const { kafka } = readConfig(environment);
    if (!kafka) throw new Error('the environment is that of Kafka');
    const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const topics = topicSpecs(kafka, 1).map(({ topic, partitions, settings }) => ({
      topic,
      numPartitions: partitions,
      configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
    }));
    await admin.createTopics({ topics, waitForLeaders: false });
    await admin.disconnect();
  }, 120_000);
  afterAll(() => rmSync(setup.dataDir, { recursive: true, force: true }));

  it('refuses to start without the schemas, in one line that names them and the command', async () => {
    const refused = await startService({ ...environment, ...BY_HAND }).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    const lines = refused.split('\n').filter((line) => line.startsWith('hookrail did not start'));
    expect(lines, refused).toHaveLength(1);
    for (const { subject } of ownSchemas()) expect(lines[0]).toContain(subject);
    expect(lines[0]).toContain('`hookrail operator schemas` prints the commands that do');
  }, 90_000);

  it('starts and delivers after the printed commands were run, which may be run twice', async () => {
    const { code, out } = await runTool({ ...environment, ...BY_HAND }, 'schemas');
    expect(code).toBe(0);
    for (let times = 0; times < 2; times += 1) {
      const ran = await shell(out);
      expect(ran, ran.said).toMatchObject({ code: 0 });
    }
    const service = await startService({
      ...environment,
      HOOKRAIL_KAFKA_CREATE_TOPICS: 'false',
      HOOKRAIL_SCHEMA_REGISTRY_REGISTER: 'false',
    });
    const receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    try {
      const merchant = new MerchantClient(setup, () => service);
      await merchant.createEndpoint(`${receiver.url}/hook`);
      expect((await merchant.publish([jsonEventOf(setup.merchantId, 'by-hand')])).status).toBe(202);
      await eventually('the event is delivered', () => receiver.arrivals.length === 1, 60_000);
    } finally {
      await receiver.close();
      expect(await service.end('SIGTERM')).toBe(0);
    }
    for (const { subject } of ownSchemas()) {
      const level = await fetch(`${cluster().registryUrl}/config/${subject}`).then((answer) => answer.json());
      expect([subject, level]).toEqual([subject, { compatibilityLevel: 'FULL_TRANSITIVE' }]);
      const versions = await fetch(`${cluster().registryUrl}/subjects/${subject}/versions`);
      expect([subject, await versions.json()]).toEqual([subject, [1]]);
    }
  }, 180_000);
});

/** Runs a script with bash, which ends at the first command that fails. */
async function shell(script: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const child = spawn('bash', ['-e'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.stdin.end(script);
  const said = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, said: said.join('\n') };
}
