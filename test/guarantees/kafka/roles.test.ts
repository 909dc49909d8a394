/**
 * Guarantee: with Kafka the roles run as processes of their own, as many as wanted. Endpoints made over REST reach router
 * and sender by the directory alone; events come by REST or from whoever writes Avro in the registry's wire format, in
 * any language; a rotated secret binds the sender's next attempt; each process says by itself whether it is ready.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { Fleet } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { outsideProducer } from '../../support/producers/outside-producer.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { inForce } from '../../support/service/in-force.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { besides, toolAnswer } from '../../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';

const START_MS_MAX = 120_000;

await describeWithKafka('the api with recorder, the router and the sender as three processes', (kafka) => {
  const topicPrefix = freshPrefix();
  const environment = kafkaEnvironment(kafka, topicPrefix);
  let setup: ServiceSetup;
  let receiver: LoggingReceiver;
  let fleet: Fleet;
  let merchant: MerchantClient;
  let endpoint: { uuid: string; signing_secret: string };

  beforeAll(async () => {
    setup = await prepareSetup();
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    fleet = new Fleet({ setup, ...kafka, topicPrefix, environment });
    await fleet.start(1, 1);
    merchant = new MerchantClient(setup, () => fleet.api.service);
    endpoint = await merchant.createEndpoint(`${receiver.url}/hook`);
    await inForce();
  }, START_MS_MAX);

  afterAll(async () => {
    await fleet?.kill();
    await receiver?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  });

  const arrivalOf = (eventId: string) =>
    eventually(`the webhook of ${eventId} arrives`, () =>
      receiver.arrivals.find((arrival) => arrival.eventId === eventId),
    );

  const operator = (...argv: string[]) => toolAnswer(besides(setup.environment, fleet.api.service), ...argv);

  async function published(seed: string) {
    const event = jsonEventOf(setup.merchantId, seed);
    expect((await merchant.publish([event])).status).toBe(202);
    return arrivalOf(event.header.eventId);
  }

  it('are each ready by their own judgement, and only one has an API', async () => {
    for (const process of fleet.processes) {
      expect([process.name, await process.readiness()]).toEqual([process.name, { status: 200, reasons: [] }]);
    }
    expect(fleet.processes.map(({ service }) => typeof service.apiUrl)).toEqual([
      'string',
      'undefined',
      'undefined',
    ]);
  });

  it('deliver and record an event that is published over REST', async () => {
    const arrival = await published('by-rest');
    expect(arrival.authorization).toBe(`API-Key ${endpoint.signing_secret}`);
    const path = `/merchant/webhook-endpoints/${endpoint.uuid}/deliveries/${arrival.deliveryId}`;
    const delivered = async () => (await merchant.request('GET', path)).body?.status === 'delivered';
    await eventually('the delivery is in the log', delivered);
    const keys = await operator('keys', 'list');
    const producer = keys.find(({ kind }: { kind: string }) => kind === 'producer');
    const shown = await operator('events', 'get', arrival.eventId);
    expect(shown).toMatchObject({ publishedBy: producer.keyId, merchantId: setup.merchantId });
  });

  it('route and deliver an event of a producer in another language', async ({ skip }) => {
    const producer = await outsideProducer(kafka);
    if (!producer) return skip();
    const [eventId, userId] = [crypto.randomUUID(), crypto.randomUUID()];
    await producer.send(environment.HOOKRAIL_EVENTS_TOPIC, eventId, setup.merchantId, userId);
    const { body } = await arrivalOf(eventId);
    expect(JSON.parse(body.toString())).toMatchObject({ type: 'KYC', subType: 'FULL_USER' });
    expect(body.toString()).toContain(userId);
    const recorded = () => operator('events', 'get', eventId).catch(() => null);
    const shown = await eventually('the event is in the log', recorded);
    expect(shown).toMatchObject({ publishedBy: 'kafka', note: expect.stringContaining('brokers') });
  }, 150_000);

  it('use a rotated secret in the sender’s process', async () => {
    const path = `/merchant/webhook-endpoints/${endpoint.uuid}/secret`;
    const rotated = (await merchant.request('PATCH', path)).body.signing_secret;
    expect(rotated).not.toBe(endpoint.signing_secret);
    await inForce();
    expect((await published('after-rotate')).authorization).toBe(`API-Key ${rotated}`);
  });

  it('answer the operator’s tool only where the API is', async () => {
    const token = join(setup.dataDir, 'operator.token');
    for (const { name, service } of fleet.processes) {
      const answer = await fetch(`${service.operationsUrl}/operator/merchants-list`, { method: 'POST' });
      expect([name, answer.status], token).toEqual([name, name === 'api-1' ? 401 : 404]);
    }
  });

  it('end with 0 at SIGTERM', async () => {
    await fleet.stop();
  });
});
