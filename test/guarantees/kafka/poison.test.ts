/**
 * Guarantee: a record of the events topic that cannot be routed harms no other: it is kept with the reason and all
 * its bytes while good records are delivered hardly slower, and after a fix `operator quarantine replay` delivers it.
 */
import { rmSync } from 'node:fs';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeEvent } from '../../../services/codec/event-avro.ts';
import { eventSchemaText, recordNameOf } from '../../../services/codec/event-schemas.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { runOperator } from '../../../services/operator.ts';
import { eventually } from '../../support/eventually.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { Fleet, FleetProcess } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { eventOf } from '../../support/records/events.ts';
import { inForce } from '../../support/service/in-force.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';

const GOOD = 500;
const START_MS_MAX = 240_000;
const WORK_MS_MAX = 120_000;
/** The platform’s topic may let more through than ours do. */
const RECORD_BYTES_MAX = String(8 * 1024 * 1024);
/** So many good ones at once, so often: 100 a second, and with them 200 of poison. */
const STEP = 5;
const STEP_MS = 50;
/** Good ones may be slower beside poison, by a factor and by what a busy machine does anyway; they may not hang. */
const SLOWER_MAX = 10;
const SLOWER_MS_MAX = 5000;

await describeWithKafka('1,000 records of poison among good ones', (kafka) => {
  const topicPrefix = freshPrefix();
  const environment = kafkaEnvironment(kafka, topicPrefix);
  const topic = environment.HOOKRAIL_EVENTS_TOPIC;
  const stranger = crypto.randomUUID();
  let setup: ServiceSetup;
  let receiver: LoggingReceiver;
  let fleet: Fleet;
  let router: FleetProcess;
  let merchant: MerchantClient;

  beforeAll(async () => {
    setup = await prepareSetup();
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    await withKafka(async (client) => {
      const admin = client.admin();
      await admin.connect();
      const configEntries = [{ name: 'max.message.bytes', value: RECORD_BYTES_MAX }];
      await admin.createTopics({
        topics: [{ topic, numPartitions: 3, configEntries }],
        waitForLeaders: false,
      });
      await admin.disconnect();
    });
    fleet = new Fleet({ setup, ...kafka, topicPrefix, environment });
    await fleet.start(0, 1);
    // Production refuses simulated events. What only a sandbox has is not given to it.
    router = new FleetProcess('router', 'router of production', {
      ...fleet.environment,
      HOOKRAIL_ENVIRONMENT: 'production',
      HOOKRAIL_KAFKA_REPLICATION_FACTOR: '1',
      HOOKRAIL_EXTRA_CA_FILE: '',
      HOOKRAIL_EGRESS_ALLOW: '',
    });
    await router.start();
    await router.untilReady();
    merchant = new MerchantClient(setup, () => fleet.api.service);
    await merchant.createEndpoint(`${receiver.url}/good`);
    await inForce();
  }, START_MS_MAX);

  afterAll(async () => {
    await router?.end('SIGKILL');
    await fleet?.kill();
    await receiver?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  });

  const arrivedAt = (path: string) =>
    new Set(receiver.arrivals.filter((arrival) => arrival.path === path).map(({ eventId }) => eventId));

  async function withKafka(use: (client: Kafka) => Promise<void>): Promise<void> {
    await use(new Kafka({ brokers: kafka.brokers, clientId: 'outside', logLevel: logLevel.NOTHING }));
  }

  /**
   * Publishes good records at a pace, what `beside` gives among them, and resolves when all good ones have arrived, with
   * how long each took, ascending, in milliseconds.
   */
  async function published(
    good: readonly { readonly eventId: string; readonly value: Buffer }[],
    beside: (index: number) => readonly (Buffer | null)[],
  ): Promise<number[]> {
    const sentAt = new Map<string, number>();
    await withKafka(async (client) => {
      const producer = client.producer();
      await producer.connect();
      const begun = Date.now();
      for (let i = 0; i < good.length; i += STEP) {
        await until(begun + (i / STEP) * STEP_MS);
        const step = good.slice(i, i + STEP);
        const values = step.flatMap(({ value }, j) => [value, ...beside(i + j)]);
        for (const { eventId } of step) sentAt.set(eventId, Date.now());
        await producer.send({ topic, messages: values.map((value, j) => ({ value, partition: j % 3 })) });
      }
      await producer.disconnect();
    });
    const arrived = () => receiver.arrivals.filter(({ eventId }) => sentAt.has(eventId));
    await eventually('all good records are delivered', () => arrived().length >= good.length, WORK_MS_MAX);
    return arrived()
      .map(({ eventId, at }) => at - (sentAt.get(eventId) ?? 0))
      .sort((a, b) => a - b);
  }

  async function operator(...argv: string[]) {
    const out: string[] = [];
    const { port } = new URL(fleet.api.service.operationsUrl);
    const given = { HOOKRAIL_DATA_DIR: setup.dataDir, HOOKRAIL_OPS_PORT: port };
    const code = await runOperator(
      [...argv, '--output', 'json'],
      given,
      (line) => out.push(line),
      console.error,
    );
    expect([argv, code]).toEqual([argv, 0]);
    return JSON.parse(out.join('\n'));
  }

  async function schemaIdOf(subject: string, schema: string): Promise<number> {
    const answer = await fetch(`${kafka.registryUrl}/subjects/${subject}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schema }),
    });
    const { id } = (await answer.json()) as { id: number };
    expect(id).toEqual(expect.any(Number));
    return id;
  }

  it(
    'are quarantined with reasons, all good ones are delivered, and after a fix the quarantined ones too',
    async () => {
      const id = await schemaIdOf(recordNameOf('fiatToCrypto'), eventSchemaText('fiatToCrypto'));
      const finer = eventSchemaText('fiatToCrypto').replaceAll('"scale": 18', '"scale": 19');
      const finerId = await schemaIdOf(`${topicPrefix}finer`, finer);
      const textId = await schemaIdOf(`${topicPrefix}text`, '"string"');
      const event = (seed: string, change: Partial<DomainEvent> = {}) =>
        eventOf(setup.merchantId, seed, { simulated: false, ...change });
      const bytes = (seed: string, change: Partial<DomainEvent> = {}) => encodeEvent(event(seed, change), id);
      const under = (schemaId: number, record: Buffer) => {
        record.writeUInt32BE(schemaId, 1);
        return record;
      };
      const amount = { amountFiat: '250.123456789012345678' };
      const poison = [
        ...times(150, (i) => under(999_999_999, bytes(`unknown ${i}`))),
        ...times(150, (i) => bytes(`truncated ${i}`).subarray(0, -7)),
        ...times(150, (i) => under(textId, bytes(`type ${i}`))),
        ...times(3, () => under(id, Buffer.alloc(2 * 1024 * 1024, 0xff).fill(0, 0, 1))),
        ...times(147, () => null),
        ...times(150, (i) => bytes(`stranger ${i}`, { merchantId: stranger })),
        ...times(100, (i) => {
          const { data } = event(`decimal ${i}`);
          return under(finerId, bytes(`decimal ${i}`, { data: { ...data, ...amount } }));
        }),
        ...times(150, (i) => bytes(`simulated ${i}`, { simulated: true })),
      ];
      expect(poison).toHaveLength(1000);
      const good = (label: string) =>
        times(GOOD, (i) => {
          const seed = `${label} ${i}`;
          return { eventId: event(seed).eventId, value: bytes(seed) };
        });
      const alone = await published(good('alone'), () => []);
      // Two of poison, one good: mixed in every partition.
      const beside = await published(good('beside'), (i) => poison.slice(2 * i, 2 * i + 2));
      const [p99Alone, p99Beside] = [percentile(alone, 0.99), percentile(beside, 0.99)];
      console.log(
        `good ones alone: p50 ${percentile(alone, 0.5)} ms, p99 ${p99Alone} ms; ` +
          `beside ${poison.length} of poison: p50 ${percentile(beside, 0.5)} ms, p99 ${p99Beside} ms`,
      );
      expect([alone.length, beside.length]).toEqual([GOOD, GOOD]);
      expect(p99Beside).toBeLessThan(SLOWER_MAX * p99Alone + SLOWER_MS_MAX);

      const inQuarantine = () => operator('quarantine', 'list', '--limit', '1000');
      const isComplete = async () => (await inQuarantine()).length === poison.length;
      await eventually('all poison is in quarantine', isComplete, WORK_MS_MAX);
      const reasons: Record<string, number> = {};
      for (const { reason } of await inQuarantine()) reasons[reason] = (reasons[reason] ?? 0) + 1;
      expect(reasons).toEqual({
        unknown_schema: 150,
        unusable_schema: 150,
        undecodable: 297,
        too_large: 3,
        unknown_merchant: 150,
        schema_violation: 100,
        simulated_in_production: 150,
      });
      expect(arrivedAt('/good').size).toBe(2 * GOOD);

      await operator('merchants', 'create', '--id', stranger, '--name', 'Known now');
      const { key } = await operator('keys', 'create', '--merchant', stranger);
      const theirs = new MerchantClient({ ...setup, apiKey: key }, () => fleet.api.service);
      await theirs.createEndpoint(`${receiver.url}/mended`);
      await inForce();
      expect(await operator('quarantine', 'replay', '--reason', 'unknown_merchant')).toEqual({
        replayed: 150,
      });
      await eventually('the mended are delivered', () => arrivedAt('/mended').size === 150, WORK_MS_MAX);
      expect(await inQuarantine()).toHaveLength(850);
    },
    5 * WORK_MS_MAX,
  );

  it('are shown to an operator in clear text, with the fault marked, or with why they cannot be', async () => {
    const listed: { position: string; reason: string }[] = await operator(
      ...['quarantine', 'list', '--limit', '1000'],
    );
    const shown = async (reason: string) => {
      const { position = '' } = listed.find((record) => record.reason === reason) ?? {};
      return operator('quarantine', 'show', position);
    };
    expect(await shown('simulated_in_production')).toMatchObject({
      event: { type: 'fiatToCrypto', header: { merchantId: setup.merchantId, simulated: true } },
      faults: [{ pointer: '/header/simulated' }],
      unreadable: null,
    });
    expect(await shown('undecodable')).toMatchObject({
      ...{ event: null, faults: [], unreadable: expect.any(String) },
      wouldReturn: expect.stringContaining('still cannot be read'),
    });
  });

  it('are told to their merchant by the id of the event and of its user, with why they were not sent', async () => {
    const sent = (seed: string) => eventOf(setup.merchantId, seed);
    const { eventId, entityId, type, subType } = sent('decimal 7');
    for (const id of [eventId, entityId]) {
      const { body } = await merchant.request('GET', `/merchant/subjects/${id}`);
      expect(body).toMatchObject({ entity_uuid: entityId, events: [], quarantine: { searched: 'all' } });
      expect(body.quarantine.events).toEqual([
        expect.objectContaining({
          ...{ event_uuid: eventId, entity_uuid: entityId, type, subType, reason: 'schema_violation' },
          explanation: expect.stringMatching(/The event breaks a rule: .*ask it with event id/),
        }),
      ]);
    }
    const foreign = await merchant.request('GET', `/merchant/lookup/${sent('stranger 7').eventId}`);
    expect(foreign.status).toBe(404);
  });
});

const until = (at: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, at - Date.now())));

function percentile(ascending: readonly number[], p: number): number {
  return ascending[Math.ceil(p * ascending.length) - 1] ?? Number.NaN;
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
