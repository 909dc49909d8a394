/**
 * Guarantee, on Kafka: whoever can write the directory topic gets no webhook and no secret by it, while it runs and after
 * a start; the api takes nothing of it over, and what it publishes afterwards is in force, also for routers, which have no
 * keys to check a record. A writer of its own, with the engine's own producer, forges the records.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Broker } from '../../../services/broker/broker.ts';
import { openBroker } from '../../../services/broker/open.ts';
import { readConfig } from '../../../services/config/config.ts';
import { Directory, type DirectoryChange } from '../../../services/domain/directory.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { Fleet } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { inForce } from '../../support/service/in-force.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';

const START_MS_MAX = 180_000;

await describeWithKafka('a forged record of the directory topic', (kafka) => {
  const topicPrefix = freshPrefix();
  const environment = kafkaEnvironment(kafka, topicPrefix);
  let setup: ServiceSetup;
  let receiver: LoggingReceiver;
  let fleet: Fleet;
  let merchant: MerchantClient;
  let writer: Broker;
  let endpoint: { uuid: string; signing_secret: string };
  const topic = new Directory();

  beforeAll(async () => {
    setup = await prepareSetup();
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    fleet = new Fleet({ setup, ...kafka, topicPrefix, environment });
    await fleet.start(1, 1);
    merchant = new MerchantClient(setup, () => fleet.api.service);
    endpoint = await merchant.createEndpoint(`${receiver.url}/good`);
    await inForce();
    const config = readConfig({ ...setup.environment, ...environment, HOOKRAIL_ROLES: 'router' });
    writer = await openBroker({ ...config, roles: [] }, systemClock(), createLogger('silent'));
    await writer.followDirectory((change) => topic.apply(change));
  }, START_MS_MAX);

  afterAll(async () => {
    await writer?.close();
    await fleet?.kill();
    await receiver?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  });

  const at = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);

  async function refusedBy(role: 'api' | 'sender'): Promise<string> {
    const [process] = fleet.of(role);
    const text = await (await fetch(`${process?.service.operationsUrl}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith('hookrail_directory_refused_total{'))
      .join();
  }

  async function deliver(name: string, path: string): Promise<void> {
    const event = jsonEventOf(setup.merchantId, name);
    expect((await merchant.publish([event])).status).toBe(202);
    await eventually(
      `the webhook ${name} arrives at ${path}`,
      () => at(path).some(({ eventId }) => eventId === event.header.eventId),
      60_000,
    );
  }

  /** The record of the topic with another URL, and what else is given. */
  function forged(change: Partial<DirectoryChange>): DirectoryChange {
    const known = topic.newest({ kind: 'endpoint', id: endpoint.uuid });
    if (known?.kind !== 'endpoint' || !known.value) throw new Error('the topic lacks the endpoint');
    const version = change.version ?? known.version + 100;
    return {
      ...known,
      version,
      value: { ...known.value, version, url: `${receiver.url}/evil` },
      ...change,
    } as DirectoryChange;
  }

  it('moves no webhook while senders run', async () => {
    await deliver('before', '/good');
    const { seal, ...unsealed } = forged({});
    await writer.publishDirectory([unsealed as DirectoryChange]);
    if (seal) await writer.publishDirectory([forged({ seal: { ...seal, version: seal.version + 100 } })]);
    await eventually('the sender has refused it', async () =>
      (await refusedBy('sender')).includes('place="stream"'),
    );
    await eventually('the api has refused it', async () =>
      (await refusedBy('api')).includes('place="stream"'),
    );
    await deliver('after', '/good');
    expect(at('/evil')).toEqual([]);
    expect(at('/good').at(-1)?.authorization).toBe(`API-Key ${endpoint.signing_secret}`);
  });

  it(
    'is not taken over by an api that starts, and moves no webhook of a sender that starts',
    async () => {
      for (const role of ['sender', 'api'] as const) {
        const [process] = fleet.of(role);
        await process?.end('SIGKILL');
        await process?.start();
        await process?.untilReady();
      }
      const path = `/merchant/webhook-endpoints/${endpoint.uuid}`;
      expect((await merchant.request('GET', path)).body.url).toBe(`${receiver.url}/good`);
      await deliver('after the starts', '/good');
      expect(at('/evil')).toEqual([]);
      expect(await refusedBy('sender')).toContain('place="stream"');
      // A router takes the highest version, so the store's record has got a higher one than the forged.
      await merchant.request('PATCH', path, { url: `${receiver.url}/other` });
      await inForce();
      await deliver('to the merchant’s new URL', '/other');
      expect(topic.endpoint(endpoint.uuid)?.url).toBe(`${receiver.url}/other`);
    },
    START_MS_MAX,
  );
});
