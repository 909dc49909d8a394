/**
 * Guarantee: a reader of the stream that resumes with its last id gets everything exactly once, across `kill -9` of the
 * api's process in the middle of the traffic.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fleet } from '../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../support/kafka/suites.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';
import { expectResumable } from '../support/trials/resumed-stream.ts';

const START_MS = 120_000;
const TIMEOUT_MS = 300_000;

let setup: ServiceSetup;
let receiver: LoggingReceiver;
beforeAll(async () => {
  setup = await prepareSetup();
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
}, START_MS);
afterAll(async () => {
  await receiver?.close();
  if (setup) rmSync(setup.dataDir, { recursive: true, force: true });
});

it('a resumed stream loses and repeats nothing over killed processes', { timeout: TIMEOUT_MS }, async () => {
  let service: Service = await startService(setup.environment);
  try {
    await expectResumable({
      setup,
      receiverUrl: `${receiver.url}/stream`,
      api: () => service,
      killApi: async (gone) => {
        expect(await service.end('SIGKILL')).toBeNull();
        await gone();
        service = await startService(setup.environment);
      },
    });
  } finally {
    await service.end('SIGKILL');
  }
});

await describeWithKafka('a resumed stream on Kafka', (kafka) => {
  let own: ServiceSetup;
  let fleet: Fleet;
  beforeAll(async () => {
    own = await prepareSetup({ HOOKRAIL_EXTRA_CA_FILE: setup.environment.HOOKRAIL_EXTRA_CA_FILE ?? '' });
    fleet = new Fleet({ setup: own, ...kafka, topicPrefix: freshPrefix() });
    await fleet.start(1, 1);
  }, START_MS);
  afterAll(async () => {
    await fleet?.kill();
    if (own) rmSync(own.dataDir, { recursive: true, force: true });
  });

  it('loses and repeats nothing over killed processes of api and recorder', { timeout: TIMEOUT_MS }, () =>
    expectResumable({
      setup: own,
      receiverUrl: `${receiver.url}/stream-on-kafka`,
      api: () => fleet.api.service,
      killApi: async (gone) => {
        expect(await fleet.api.end('SIGKILL')).toBeNull();
        await gone();
        await fleet.api.start();
      },
    }),
  );
});
