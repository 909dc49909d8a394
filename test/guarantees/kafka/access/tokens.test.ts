/**
 * Guarantee: hookrail works with brokers that want access tokens (SASL OAUTHBEARER). Connections authenticate again before
 * their session ends, so nothing stops; an outage of the token endpoint costs nothing while the token is valid. A fault
 * at the start is one line that names the settings, never the secret.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalKafka, startLocalKafka } from '../../../../scripts/local-kafka/cluster.ts';
import { eventToJson } from '../../../../services/codec/events.ts';
import { createAuthority, issueCertificate } from '../../../../simulator/receiver/certificate-authority.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWhereKafkaStarts, freshPrefix } from '../../../support/kafka/suites.ts';
import { startTokenServer, type TokenServer } from '../../../support/kafka/token-server.ts';
import { startLoggingReceiver } from '../../../support/receivers/logging-receiver.ts';
import { eventOf, jsonEventOf } from '../../../support/records/events.ts';
import { MerchantClient } from '../../../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup, startService } from '../../../support/service/system.ts';

const CLIENT = { clientId: 'hookrail', clientSecret: 'correct-horse-battery' };
const AUDIENCE = 'kafka';
/** A session ends with its token: each connection authenticates again every fifteen seconds or so. */
const LIFETIME_S = 20;
const AHEAD_S = 2;
const SENT_FOR_MS = 50_000;
const SENT_EVERY_MS = 250;

await describeWhereKafkaStarts('hookrail with a listener for access tokens', () => {
  let cluster: LocalKafka;
  let setup: ServiceSetup;
  let tokens: TokenServer;
  let others: TokenServer;
  let environment: Record<string, string>;

  beforeAll(async () => {
    tokens = await startTokenServer({ ...CLIENT, audience: AUDIENCE, lifetime: LIFETIME_S, ahead: AHEAD_S });
    others = await startTokenServer({ ...CLIENT, audience: 'billing', lifetime: LIFETIME_S });
    setup = await prepareSetup();
    const keysFile = join(setup.dataDir, 'keys.json');
    tokens.writeKeys(keysFile);
    const authority = await createAuthority();
    const certificate = await issueCertificate(authority, { hosts: ['127.0.0.1'] });
    cluster = await startLocalKafka({
      nodes: 1,
      registry: true,
      isShortLived: true,
      environment: process.env,
      secured: {
        ...{ username: 'other', password: 'other' },
        ...certificate,
        tokens: { keysFile, audience: AUDIENCE, sessionMsMax: 3_600_000 },
      },
    });
    const caFile = join(setup.dataDir, 'brokers.pem');
    writeFileSync(caFile, authority.certPem);
    const prefix = freshPrefix();
    environment = {
      ...setup.environment,
      HOOKRAIL_ENGINE: 'kafka',
      HOOKRAIL_KAFKA_BROKERS: cluster.nodes[0]?.securedBroker ?? '',
      HOOKRAIL_SCHEMA_REGISTRY_URL: cluster.registryUrl,
      HOOKRAIL_TOPIC_PREFIX: prefix,
      HOOKRAIL_EVENTS_TOPIC: `${prefix}events.in`,
      HOOKRAIL_KAFKA_TLS: 'true',
      HOOKRAIL_KAFKA_TLS_CA_FILE: caFile,
      HOOKRAIL_KAFKA_SASL_MECHANISM: 'oauthbearer',
      HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: tokens.url,
      HOOKRAIL_KAFKA_OAUTH_CLIENT_ID: CLIENT.clientId,
      HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET: CLIENT.clientSecret,
      HOOKRAIL_KAFKA_OAUTH_SCOPE: 'kafka',
    };
  }, 300_000);

  afterAll(async () => {
    await cluster?.stop();
    await tokens?.close();
    await others?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  }, 30_000);

  it('delivers each event once while its sessions end and begin again', async () => {
    const service = await startService(environment);
    const receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    try {
      const merchant = new MerchantClient(setup, () => service);
      await merchant.createEndpoint(`${receiver.url}/hook`);
      const until = Date.now() + SENT_FOR_MS;
      let sent = 0;
      for (; Date.now() < until; sent += 1) {
        const { status } = await merchant.publish([jsonEventOf(setup.merchantId, `token-${sent}`)]);
        expect(status).toBe(202);
        await sleep(SENT_EVERY_MS);
      }
      await eventually('all events are delivered', () => receiver.arrivals.length >= sent, 60_000);
      expect(receiver.arrivals.length).toBe(sent);
      expect(tokens.asked.length).toBeGreaterThan(SENT_FOR_MS / 1000 / LIFETIME_S);
      const output = service.output.join('\n');
      expect(output).not.toContain(CLIENT.clientSecret);
      expect(output).not.toMatch(/auth=Bearer|eyJ/);
      expect(service.output.filter((line) => /"level":[45]0.*(SASL|token|uthenti)/.test(line))).toEqual([]);
    } finally {
      await receiver.close();
      expect(await service.end('SIGTERM')).toBe(0);
    }
  }, 240_000);

  it('delivers every accepted event after an outage of the token endpoint that outlasts the token', async () => {
    const service = await startService(environment);
    const receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    try {
      const merchant = new MerchantClient(setup, () => service);
      await merchant.createEndpoint(`${receiver.url}/hook`);
      const until = Date.now() + (LIFETIME_S + 10) * 1000;
      tokens.answer({ status: 503, json: {} });
      const taken = new Set<string>();
      for (let index = 0; Date.now() < until; index += 1) {
        const event = eventOf(setup.merchantId, `outage-${index}`);
        const { status } = await merchant.publish([eventToJson(event)]);
        expect([202, 503]).toContain(status);
        if (status === 202) taken.add(event.eventId);
        await sleep(SENT_EVERY_MS);
      }
      tokens.answer(undefined);
      const hasArrived = (id: string) => receiver.arrivals.some(({ eventId }) => eventId === id);
      await eventually('every accepted event is delivered', () => [...taken].every(hasArrived), 60_000);
      expect(taken.size).toBeGreaterThan(0);
    } finally {
      tokens.answer(undefined);
      await receiver.close();
      expect(await service.end('SIGTERM')).toBe(0);
    }
  }, 240_000);

  const refusals: readonly (readonly [string, () => Record<string, string>, RegExp])[] = [
    [
      'a wrong secret',
      () => ({ HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET: 'wrong' }),
      /answered 401 \(invalid_client.*HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET/,
    ],
    [
      'tokens for another audience',
      () => ({ HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: others.url }),
      /Kafka rejects the access token .*invalid_token.*HOOKRAIL_KAFKA_OAUTH_SCOPE/,
    ],
    [
      'no token endpoint at the address',
      () => ({ HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: 'http://127.0.0.1:1/token' }),
      /does not answer \(ECONNREFUSED\): check HOOKRAIL_KAFKA_OAUTH_TOKEN_URL/,
    ],
    [
      'a user, where the brokers want a token',
      () => ({
        HOOKRAIL_KAFKA_SASL_MECHANISM: 'scram-sha-512',
        HOOKRAIL_KAFKA_SASL_USERNAME: 'hookrail',
        HOOKRAIL_KAFKA_SASL_PASSWORD: CLIENT.clientSecret,
        HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: '',
        HOOKRAIL_KAFKA_OAUTH_CLIENT_ID: '',
        HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET: '',
        HOOKRAIL_KAFKA_OAUTH_SCOPE: '',
      }),
      /HOOKRAIL_KAFKA_SASL_MECHANISM/,
    ],
  ];

  it.each(refusals)(
    'refuses to start with %s, in one line that names the setting',
    async (_, change, line) => {
      const refused = await startService({ ...environment, ...change() }).then(
        () => 'it started',
        (error: Error) => error.message,
      );
      expect(refused).toMatch(/^the service exited with code 1:/);
      const [, ...lines] = refused.split('\n');
      expect(lines).toEqual([expect.stringMatching(line)]);
      expect(refused).not.toContain(CLIENT.clientSecret);
    },
    90_000,
  );
});
