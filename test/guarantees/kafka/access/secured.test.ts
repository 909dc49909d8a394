/**
 * Guarantee: hookrail works with brokers that want TLS and a user; a wrong password, certificate or protocol is one clear
 * line that names the variable, never the password, and an exit code that is not 0.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalKafka, startLocalKafka } from '../../../../scripts/local-kafka/cluster.ts';
import { createAuthority, issueCertificate } from '../../../../simulator/receiver/certificate-authority.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWhereKafkaStarts, freshPrefix } from '../../../support/kafka/suites.ts';
import { startLoggingReceiver } from '../../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../../support/records/events.ts';
import { MerchantClient } from '../../../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup, startService } from '../../../support/service/system.ts';

const PASSWORD = 'correct-horse-battery';

await describeWhereKafkaStarts('hookrail with a SASL_SSL listener', () => {
  let cluster: LocalKafka;
  let setup: ServiceSetup;
  let registry: Awaited<ReturnType<typeof startTlsFront>>;
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
    setup = await prepareSetup();
    const caFile = join(setup.dataDir, 'brokers.pem');
    writeFileSync(caFile, authority.certPem);
    const registryAuthority = await createAuthority();
    const registryCaFile = join(setup.dataDir, 'registry.pem');
    writeFileSync(registryCaFile, registryAuthority.certPem);
    registry = await startTlsFront(
      cluster.registryUrl,
      await issueCertificate(registryAuthority, { hosts: ['127.0.0.1'] }),
    );
    const prefix = freshPrefix();
    environment = {
      ...setup.environment,
      HOOKRAIL_ENGINE: 'kafka',
      HOOKRAIL_KAFKA_BROKERS: cluster.nodes[0]?.securedBroker ?? '',
      HOOKRAIL_SCHEMA_REGISTRY_URL: cluster.registryUrl.replace(/^.*:\d+/, registry.origin),
      HOOKRAIL_SCHEMA_REGISTRY_CA_FILE: registryCaFile,
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
    registry?.close();
    await cluster?.stop();
    rmSync(setup.dataDir, { recursive: true, force: true });
  }, 30_000);

  it('delivers, with a registry that another authority has certified', async () => {
    const service = await startService(environment);
    const receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    try {
      const merchant = new MerchantClient(setup, () => service);
      await merchant.createEndpoint(`${receiver.url}/hook`);
      expect((await merchant.publish([jsonEventOf(setup.merchantId, 'secured')])).status).toBe(202);
      await eventually('the event is delivered', () => receiver.arrivals.length === 1, 60_000);
      expect(service.output.join('\n')).not.toContain(PASSWORD);
    } finally {
      await receiver.close();
      expect(await service.end('SIGTERM')).toBe(0);
    }
  }, 180_000);

  it('names the variable for the authority of the registry when that of the brokers is not the right one', async () => {
    const refused = await startService({ ...environment, HOOKRAIL_SCHEMA_REGISTRY_CA_FILE: '' }).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    const lines = refused.split('\n').filter((each) => each.startsWith('hookrail did not start'));
    expect(lines, refused).toEqual([expect.stringMatching(/certificate.*HOOKRAIL_SCHEMA_REGISTRY_CA_FILE/)]);
  }, 120_000);

  it.each([
    ['a wrong password', { HOOKRAIL_KAFKA_SASL_PASSWORD: 'wrong' }, /HOOKRAIL_KAFKA_SASL_PASSWORD/],
    ['an authority that is not known', { HOOKRAIL_KAFKA_TLS_CA_FILE: '' }, /HOOKRAIL_KAFKA_TLS_CA_FILE/],
    ['no TLS', { HOOKRAIL_KAFKA_TLS: 'false', HOOKRAIL_KAFKA_TLS_CA_FILE: '' }, /HOOKRAIL_KAFKA_TLS/],
  ])(
    'refuses to start with %s, in one line that says what is wrong',
    async (_, change, line) => {
      const refused = await startService({ ...environment, ...change }).then(
        () => 'it started',
        (error: Error) => error.message,
      );
      expect(refused).toMatch(/^the service exited with code 1:/);
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

/** An https address of the registry, which itself speaks http. */
async function startTlsFront(registryUrl: string, certificate: { certPem: string; keyPem: string }) {
  const { hostname, port } = new URL(registryUrl);
  const server = createServer({ cert: certificate.certPem, key: certificate.keyPem }, (socket) => {
    const behind = connect(Number(port), hostname);
    for (const each of [socket, behind]) each.on('error', () => each.destroy());
    socket.pipe(behind).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}
