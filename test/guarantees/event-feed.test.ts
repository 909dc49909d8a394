/**
 * Guarantee: a reader of the event feed that is killed and resumes with its cursor gets every event exactly once, across
 * `kill -9` of the process with api and recorder in the middle of the traffic.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fleet } from '../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../support/kafka/suites.ts';
import { sizeOf } from '../support/long-runs.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';
import { expectFeedOnce } from '../support/trials/readers/resumed-feed.ts';

const START_MS = 120_000;
const TIMEOUT_MS = 900_000;
const SIZES = { events: sizeOf('FEED_LOOP_EVENTS'), kills: sizeOf('FEED_LOOP_KILLS') };

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

it('a killed reader of the feed gets each event once over killed processes', {
  timeout: TIMEOUT_MS,
}, async () => {
  let service: Service = await startService(setup.environment);
  try {
    const found = await expectFeedOnce({
      ...SIZES,
      setup,
      receiverUrl: `${receiver.url}/feed`,
      api: () => service,
      killApi: async (gone) => {
        expect(await service.end('SIGKILL')).toBeNull();
        await gone();
        service = await startService(setup.environment);
      },
    });
    console.log(`event feed: ${found.events} events once, ${found.readersKilled} readers killed`);
  } finally {
    await service.end('SIGKILL');
  }
});

await describeWithKafka('a resumed event feed on Kafka', (kafka) => {
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

  it('has each event once over killed processes of api and recorder', { timeout: TIMEOUT_MS }, async () => {
    await expectFeedOnce({
      ...SIZES,
      setup: own,
      receiverUrl: `${receiver.url}/feed-on-kafka`,
      api: () => fleet.api.service,
      killApi: async (gone) => {
        expect(await fleet.api.end('SIGKILL')).toBeNull();
        await gone();
        await fleet.api.start();
      },
    });
  });
});
