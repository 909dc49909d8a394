/**
 * Guarantee: hookrail works with brokers that want TLS and a user; a wrong password, certificate or protocol is one clear
 * line that names the variable, never the password, and an exit code that is not 0.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalKafka, startLocalKafka } from '../../scripts/local-kafka/cluster.ts';
import { createAuthority, issueCertificate } from '../../simulator/certificate-authority.ts';
import { jsonEventOf } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { describeWhereKafkaStarts, freshPrefix } from '../support/kafka.ts';
import { startLoggingReceiver } from '../support/logging-receiver.ts';
import { MerchantClient } from '../support/merchant-client.ts';
import { type Premises, preparePremises, startService } from '../support/system.ts';

const PASSWORD = 'correct-horse-battery';

await describeWhereKafkaStarts('with a SASL_SSL listener', () => {
  let cluster: LocalKafka;
  let premises: Premises;
  let environment: Record<string, string>;

  beforeAll(async () => {
    const authority = await createAuthority();
    const certificate = await issueCertificate(authority, { hosts: ['127.0.0.1'] });
    cluster = await startLocalKafka({
      nodes: 1,
      registry: true,
      isShortLived: true,
      environment: process.env,
      secured: { username: 'hookrail', password: PASSWORD, ...certificate },
    });
    premises = await preparePremises();
    const caFile = join(premises.dataDir, 'brokers.pem');
    writeFileSync(caFile, authority.certPem);
    const prefix = freshPrefix();
    environment = {
      ...premises.environment,
      HOOKRAIL_ENGINE: 'kafka',
      HOOKRAIL_KAFKA_BROKERS: cluster.nodes[0]?.securedBroker ?? '',
      HOOKRAIL_SCHEMA_REGISTRY_URL: cluster.registryUrl,
      HOOKRAIL_TOPIC_PREFIX: prefix,
      HOOKRAIL_EVENTS_TOPIC: `${prefix}events.in`,
      HOOKRAIL_KAFKA_TLS: 'true',
      HOOKRAIL_KAFKA_TLS_CA_FILE: caFile,
      HOOKRAIL_KAFKA_SASL_MECHANISM: 'plain',
      HOOKRAIL_KAFKA_SASL_USERNAME: 'hookrail',
      HOOKRAIL_KAFKA_SASL_PASSWORD: PASSWORD,
    };
  }, 300_000);

  afterAll(async () => {
    await cluster?.stop();
    rmSync(premises.dataDir, { recursive: true, force: true });
  }, 30_000);

  it('delivers', async () => {
    const service = await startService(environment);
    const receiver = await startLoggingReceiver(premises.receiverCert, () => 200);
    try {
      const merchant = new MerchantClient(premises, () => service);
      await merchant.createEndpoint(`${receiver.url}/hook`);
      expect((await merchant.publish([jsonEventOf(premises.merchantId, 'secured')])).status).toBe(202);
      await eventually('it is delivered', () => receiver.arrivals.length === 1, 60_000);
      expect(service.output.join('\n')).not.toContain(PASSWORD);
    } finally {
      await receiver.close();
      expect(await service.end('SIGTERM')).toBe(0);
    }
  }, 180_000);

  it.each([
    ['a wrong password', { HOOKRAIL_KAFKA_SASL_PASSWORD: 'wrong' }, /HOOKRAIL_KAFKA_SASL_PASSWORD/],
    ['an authority that is not known', { HOOKRAIL_KAFKA_TLS_CA_FILE: '' }, /HOOKRAIL_KAFKA_TLS_CA_FILE/],
    ['no TLS', { HOOKRAIL_KAFKA_TLS: 'false', HOOKRAIL_KAFKA_TLS_CA_FILE: '' }, /HOOKRAIL_KAFKA_TLS/],
  ])(
    'says in one line what is wrong: %s',
    async (_, change, line) => {
      const refused = await startService({ ...environment, ...change }).then(
        () => 'it started',
        (error: Error) => error.message,
      );
      expect(refused).toMatch(/^the service ended with 1:/);
      const [, ...lines] = refused.split('\n');
      expect(lines.filter((each) => each.startsWith('hookrail did not start'))).toEqual([
        expect.stringMatching(line),
      ]);
      expect(lines.length).toBe(1);
      expect(refused).not.toContain(PASSWORD);
    },
    90_000,
  );
});
