/**
 * Guarantee, on Kafka with two routers and two senders: an endpoint with a limit of its own gets no more requests in any
 * second, each first attempt of an entity in order, none twice and none lost; a neighbour gets its own at once.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, it } from 'vitest';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { Fleet } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { inForce } from '../../support/service/in-force.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';
import { expectBurstAtLimit } from '../../support/trials/limits/limited-burst.ts';

const START_MS_MAX = 120_000;
const BURST = { events: 300, perSecond: 10 } as const;

await describeWithKafka('an endpoint with a limit, with two routers and two senders', (kafka) => {
  const topicPrefix = freshPrefix();
  let setup: ServiceSetup;
  let receiver: LoggingReceiver;
  let fleet: Fleet;

  beforeAll(async () => {
    setup = await prepareSetup();
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    const environment = kafkaEnvironment(kafka, topicPrefix);
    fleet = new Fleet({ setup, ...kafka, topicPrefix, environment });
    await fleet.start(2, 2);
  }, START_MS_MAX);

  afterAll(async () => {
    await fleet?.kill();
    await receiver?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  });

  it(`gets ${BURST.events} events that come at once at its limit, in order and once each`, async () => {
    const merchant = new MerchantClient(setup, () => fleet.api.service);
    const { perSecond } = BURST;
    const { uuid } = await merchant.createEndpoint(`${receiver.url}/limited`, {
      requests_per_second: perSecond,
    });
    await merchant.createEndpoint(`${receiver.url}/free`);
    await inForce();
    const trial = { merchantId: setup.merchantId, merchant, receiver, msMax: 180_000 };
    await expectBurstAtLimit(trial, { limitedId: uuid, ...BURST }, { limited: '/limited', free: '/free' });
  });
});
