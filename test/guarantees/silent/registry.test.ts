/**
 * Guarantee: a schema registry that hangs, with its connections open, holds up only the records whose schema a process has
 * not seen, and those behind them in their partition. The log, readiness and a start that fails name it. When it answers
 * again, what waited is delivered, in order.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SchemaRegistry } from '../../../services/broker/kafka/registry/registry.ts';
import { encodeEvent } from '../../../services/codec/event-avro.ts';
import { eventSchemaText, recordNameOf } from '../../../services/codec/event-schemas.ts';
import { eventToJson } from '../../../services/codec/events.ts';
import { partitionOfKey } from '../../../services/kafka-client/producer/murmur2.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { TcpLine } from '../../support/faults/tcp-line.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { Fleet } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { eventOf } from '../../support/records/events.ts';
import { launch } from '../../support/service/frozen-service.ts';
import { inForce } from '../../support/service/in-force.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';
import { printWait, waited } from '../../support/trials/waits.ts';

const START_MS_MAX = 240_000;
/** Only against waiting for minutes: a process that starts waits 30 s for the registry, one request 5 s. */
const WAIT_MS_MAX = 90_000;
const TYPE = 'fiatToCrypto';
/** Of the events topic. */
const PARTITIONS = 3;
/** Published over REST, events of this entity are not in partition 0, where records wait. */
const BESIDE = entityBeside();

await describeWithKafka('a schema registry that hangs', (kafka) => {
  const topicPrefix = freshPrefix();
  const client = new Kafka({ clientId: 'test', brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
  const producer = client.producer();
  let setup: ServiceSetup;
  let fleet: Fleet;
  let receiver: LoggingReceiver;
  let merchant: MerchantClient;
  /** Between the fleet and the registry. */
  let line: TcpLine;
  let registryUrl: string;
  /** Of the fleet's own schema, and of one that it has not seen. */
  let ids: { readonly known: number; readonly unseen: number };

  beforeAll(async () => {
    const { port, pathname } = new URL(kafka.registryUrl);
    line = await TcpLine.open(Number(port));
    registryUrl = `http://127.0.0.1:${line.port}${pathname}`;
    setup = await prepareSetup();
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    const environment = kafkaEnvironment({ ...kafka, registryUrl }, topicPrefix);
    fleet = new Fleet({ setup, brokers: kafka.brokers, registryUrl, topicPrefix, environment });
    await fleet.start(1, 1);
    merchant = new MerchantClient(setup, () => fleet.api.service);
    await merchant.createEndpoint(`${receiver.url}/hook`);
    await inForce();
    await producer.connect();
    ids = await registerSchemas(kafka.registryUrl);
  }, START_MS_MAX);
  afterAll(async () => {
    await producer.disconnect();
    await fleet?.kill();
    await receiver?.close();
    line?.close();
  }, 60_000);

  const event = (name: string) =>
    eventOf(setup.merchantId, `${topicPrefix}${name}`, { type: TYPE, entityId: BESIDE });
  const write = (name: string, schemaId: number, partition: number) =>
    producer.send({
      topic: fleet.environment.HOOKRAIL_EVENTS_TOPIC ?? '',
      messages: [{ partition, value: encodeEvent(event(name), schemaId) }],
    });
  const arrivalOf = (name: string) => {
    const { eventId } = event(name);
    return receiver.arrivals.findIndex((arrival) => arrival.eventId === eventId);
  };
  const untilArrived = (...names: string[]) =>
    eventually(`${names} arrive`, () => names.every((name) => arrivalOf(name) >= 0), WAIT_MS_MAX);

  it('holds up what needs it and nothing else, and is named', { timeout: 300_000 }, async () => {
    line.silence();
    const from = Date.now();
    const another = launch({
      ...fleet.environment,
      HOOKRAIL_ROLES: 'router',
      HOOKRAIL_DATA_DIR: `${setup.dataDir}/another`,
    });
    const start = waited('a process that starts', () =>
      Promise.race([another.ended, sleep(WAIT_MS_MAX, null, { ref: false })]),
    );
    await write('unseen', ids.unseen, 0);
    await write('behind', ids.known, 0);

    await waited('a publication over REST, until it arrives', async () => {
      expect((await merchant.publish([eventToJson(event('over REST'))])).status).toBe(202);
      await untilArrived('over REST');
    });
    await waited('an event of a known schema in another partition', async () => {
      await write('beside', ids.known, 1);
      await untilArrived('beside');
    });
    await waited('a new endpoint', () =>
      merchant.createEndpoint(`${receiver.url}/another`, { subscribed_events: ['KYC'] }),
    );

    const [router] = fleet.of('router');
    if (!router) throw new Error('there is no router');
    const waiting = async () =>
      (await readinessOf(router.service.operationsUrl)).waiting.find((reason) => reason.includes('schemas'));
    const reason = await waited('/readyz says that records wait', () =>
      eventually('a reason', waiting, WAIT_MS_MAX),
    );
    expect(reason.result).toContain('HOOKRAIL_SCHEMA_REGISTRY_URL');
    for (const each of fleet.processes) expect((await each.readiness()).status).toBe(200);

    expect((await start).result).toMatchObject({ code: 1 });
    expect(another.output.at(-1)).toMatch(`${registryUrl} gave no answer within 30 s`);
    expect(another.output.at(-1)).toMatch('HOOKRAIL_SCHEMA_REGISTRY_URL');
    expect(router.output.filter((text) => text.includes('the schema registry does not answer'))).toEqual([
      expect.stringMatching(`"${registryUrl}".*check it and HOOKRAIL_SCHEMA_REGISTRY_URL`),
    ]);
    expect([arrivalOf('unseen'), arrivalOf('behind')]).toEqual([-1, -1]);
    printWait('the records of an unseen schema have waited for', Date.now() - from);

    line.heal();
    await waited('they arrive after it answers again', () => untilArrived('unseen', 'behind'));
    expect(arrivalOf('unseen')).toBeLessThan(arrivalOf('behind'));
    expect(receiver.arrivals).toHaveLength(4);
    await fleet.stop();
  });
});

function entityBeside(): string {
  for (;;) {
    const id = randomUUID();
    if (partitionOfKey(Buffer.from(id), PARTITIONS) !== 0) return id;
  }
}

/** Registers a schema that no process has seen: one of ours with an attribute that readers ignore. */
async function registerSchemas(url: string) {
  const registry = new SchemaRegistry({ url, auth: null, ca: null, clock: systemClock() });
  const text = eventSchemaText(TYPE);
  const known = await registry.register(recordNameOf(TYPE), text);
  const another = JSON.stringify({ ...JSON.parse(text), test: randomUUID() });
  const unseen = await registry.register(`test.Unseen${randomUUID().replaceAll('-', '')}`, another);
  await registry.close();
  return { known, unseen };
}

async function readinessOf(operationsUrl: string): Promise<{ readonly waiting: readonly string[] }> {
  return (await fetch(`${operationsUrl}/readyz`)).json() as Promise<{ waiting: readonly string[] }>;
}
