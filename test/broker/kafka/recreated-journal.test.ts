/**
 * Guarantee: a journal that was deleted and made again, under the recorder or while it is stopped, is read from its
 * beginning: the delivery log keeps what it has, and misses nothing that is in the new one.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { topicSpecs } from '../../../services/broker/kafka/topics/topics.ts';
import { readConfig } from '../../../services/config/config.ts';
import { eventually } from '../../support/eventually.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { ForeignProducer } from '../../support/producers/foreign-producer.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { eventOf } from '../../support/records/events.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../../support/service/system.ts';

const WITHIN_MS = 60_000;
/** What a new endpoint needs to be known to the router. */
const IN_FORCE_MS = 1500;

interface Delivery {
  readonly event_uuid: string;
  readonly attempts_made: number;
}

await describeWithKafka('a journal topic that is deleted and created again', (kafka) => {
  const prefix = freshPrefix();
  const environment = kafkaEnvironment(kafka, prefix);
  const foreign = new ForeignProducer(kafka, environment.HOOKRAIL_EVENTS_TOPIC);
  let admin: Admin;
  let setup: ServiceSetup;
  let receiver: LoggingReceiver;
  let recorder: Service;
  let others: Service;
  let merchant: MerchantClient;
  let endpoint: string;

  const startRecorder = () => startService({ ...setup.environment, HOOKRAIL_ROLES: 'api,recorder' });

  beforeAll(async () => {
    admin = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    setup = await prepareSetup(environment);
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    recorder = await startRecorder();
    const dataDir = join(setup.dataDir, 'others');
    mkdirSync(dataDir);
    others = await startService({
      ...setup.environment,
      HOOKRAIL_ROLES: 'router,sender',
      HOOKRAIL_DATA_DIR: dataDir,
      HOOKRAIL_KEYRING: join(setup.dataDir, 'keyring.json'),
    });
    merchant = new MerchantClient(setup, () => recorder);
    endpoint = (await merchant.createEndpoint(`${receiver.url}/hook`)).uuid;
    await sleep(IN_FORCE_MS);
  }, 120_000);

  afterAll(async () => {
    await Promise.all([recorder?.end('SIGKILL'), others?.end('SIGKILL')]);
    await receiver?.close();
    await foreign.close();
    await admin?.disconnect();
  });

  /** Publishes so many events and resolves with their ids when all are delivered. */
  async function delivered(name: string, count: number): Promise<string[]> {
    const events = Array.from({ length: count }, (_, index) => eventOf(setup.merchantId, `${name} ${index}`));
    await foreign.publish(events);
    const ids = events.map(({ eventId }) => eventId);
    const hasArrived = (id: string) => receiver.arrivals.some(({ eventId }) => eventId === id);
    await eventually(`deliveries ${name} arrive`, () => ids.every(hasArrived), WITHIN_MS);
    return ids;
  }

  async function makeAgain(): Promise<void> {
    const { kafka: config } = readConfig(setup.environment);
    if (!config) throw new Error('the environment is that of Kafka');
    const spec = topicSpecs(config, 1).find(({ shortName }) => shortName === 'journal');
    if (!spec) throw new Error('there is no journal');
    const { topic, partitions: numPartitions, settings } = spec;
    const configEntries = Object.entries(settings).map(([key, value]) => ({ name: key, value }));
    const topics = [{ topic, numPartitions, replicationFactor: 1, configEntries }];
    await admin.deleteTopics({ topics: [topic] });
    const create = () => admin.createTopics({ topics, waitForLeaders: false }).catch(() => false);
    await eventually('the journal topic exists again', create, WITHIN_MS);
  }

  /** What the delivery log tells of the endpoint: events, and the attempts that were made, sorted. */
  async function recorded(): Promise<string[]> {
    const answer = await merchant.request(
      'GET',
      `/merchant/webhook-endpoints/${endpoint}/deliveries?limit=100`,
    );
    const deliveries: readonly Delivery[] = answer.body.data;
    return deliveries.map((one) => `${one.event_uuid}: ${one.attempts_made}`).sort();
  }

  const isRecorded = (ids: readonly string[]) =>
    eventually(
      'the delivery log has the deliveries',
      async () => {
        const found = await recorded();
        return ids.every((id) => found.includes(`${id}: 1`));
      },
      WITHIN_MS,
    );
  const once = (ids: readonly string[]) => ids.map((id) => `${id}: 1`).sort();
  const anew = () => recorder.output.filter((line) => line.includes('was deleted and created again'));

  it('while the recorder reads it is read from its beginning, however long it is', async () => {
    const before = await delivered('before', 3);
    await isRecorded(before);
    await makeAgain();
    const after = await delivered('after', 20);
    await isRecorded([...before, ...after]);
    expect(await recorded()).toEqual(once([...before, ...after]));
    await eventually(
      'the recorder logs that the topic was created again',
      () => anew().length > 0,
      WITHIN_MS,
    );
  }, 240_000);

  it('while the recorder is stopped is read from its beginning, however long it is', async () => {
    const before = await delivered('before the stop', 3);
    await isRecorded(before);
    const all = await recorded();
    expect(await recorder.end('SIGTERM')).toBe(0);
    await makeAgain();
    const meanwhile = await delivered('meanwhile', 30);
    recorder = await startRecorder();
    await isRecorded(meanwhile);
    const after = await delivered('after the stop', 2);
    await isRecorded(after);
    expect(await recorded()).toEqual([...all, ...once([...meanwhile, ...after])].sort());
  }, 240_000);
});
