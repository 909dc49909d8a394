/**
 * Guarantee: an event that is too large for the streams is refused or quarantined with its size and the limit, and stops
 * nothing: the next event of its partition is delivered.
 */
import { rmSync } from 'node:fs';
import { CompressionTypes, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeEvent } from '../../../services/codec/event-avro.ts';
import { eventSchemaText, recordNameOf } from '../../../services/codec/event-schemas.ts';
import { EVENT_DATA_BYTES_MAX } from '../../../services/domain/event.ts';
import { runOperator } from '../../../services/operator.ts';
import { eventually } from '../../support/eventually.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { eventOf, jsonEventOf } from '../../support/records/events.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../../support/service/system.ts';

const KYB = { type: 'KYB', subType: 'REJECTED' } as const;

/** A valid rejection of a company whose data has about so many bytes as JSON. */
function rejection(merchantId: string, seed: string, bytes: number) {
  const event = eventOf(merchantId, seed, KYB);
  const reasons = 100;
  const text = 'ß'.repeat(Math.floor(bytes / reasons / 4));
  const rejection_reasons = Array.from({ length: reasons }, () => ({ code: text, message: text }));
  return { ...event, data: { ...event.data, rejection_reasons } };
}

await describeWithKafka('the limit on the size of events', (kafka) => {
  const prefix = freshPrefix();
  let setup: ServiceSetup;
  let service: Service;
  let environment: Record<string, string>;
  let merchant: MerchantClient;
  let receiver: Awaited<ReturnType<typeof startLoggingReceiver>>;

  beforeAll(async () => {
    setup = await prepareSetup();
    environment = { ...setup.environment, ...kafkaEnvironment(kafka, prefix) };
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    service = await startService(environment);
    merchant = new MerchantClient(setup, () => service);
    await merchant.createEndpoint(`${receiver.url}/hook`);
  }, 180_000);

  afterAll(async () => {
    await service?.end('SIGTERM');
    await receiver?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  }, 30_000);

  const arrived = (eventId: string) => receiver.arrivals.some((arrival) => arrival.eventId === eventId);

  it('refuses one above it at the REST door, and takes one below', async () => {
    const json = jsonEventOf(setup.merchantId, 'rest', KYB);
    const ofSize = (bytes: number) => ({ ...json, data: rejection(setup.merchantId, 'rest', bytes).data });
    const refused = await merchant.publish([ofSize(EVENT_DATA_BYTES_MAX)]);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      code: 'validation_error',
      errors: [
        {
          pointer: '/0/data',
          code: 'too_long',
          detail: expect.stringMatching(/^has \d+ bytes as JSON: at most 262144 are allowed$/),
        },
      ],
    });
    expect((await merchant.publish([ofSize(EVENT_DATA_BYTES_MAX - 8192)])).status).toBe(202);
    await eventually('the event below the limit is delivered', () => arrived(json.header.eventId), 30_000);
  }, 60_000);

  it('quarantines larger ones from Kafka, with their size, and lets events behind them be delivered', async () => {
    const topic = environment.HOOKRAIL_EVENTS_TOPIC ?? '';
    const idOf = async (type: 'KYB' | 'fiatToCrypto') => {
      const answer = await fetch(`${kafka.registryUrl}/subjects/${recordNameOf(type)}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ schema: JSON.stringify(JSON.parse(eventSchemaText(type))) }),
      });
      return ((await answer.json()) as { id: number }).id;
    };
    const large = rejection(setup.merchantId, 'large', 400_000);
    const good = eventOf(setup.merchantId, 'good');
    const producer = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const bomb = { value: Buffer.alloc(3_500_000), partition: 0, key: 'bomb' };
    const compression = CompressionTypes.GZIP;
    // The events of the other test lie where their merchant's key sends them, which may be this partition.
    // Alone it would not even be decompressed.
    const junk = { value: 'junk', partition: 0 };
    const [written] = await producer.send({ topic, messages: [bomb, junk], compression });
    const first = Number(written?.baseOffset);
    const messages = [encodeEvent(large, await idOf('KYB')), encodeEvent(good, await idOf('fiatToCrypto'))];
    for (const value of messages) await producer.send({ topic, messages: [{ value, partition: 0 }] });
    await producer.disconnect();
    await eventually('the good event is delivered', () => arrived(good.eventId), 30_000);
    const records = await eventually('the record is in quarantine', async () => {
      const list = await quarantine();
      return list.length === 3 ? list : undefined;
    });
    // Records of different merchants that were quarantined in the same millisecond have no order.
    const offsetOf = ({ place }: Record<string, unknown>) => Number(String(place).split('@')[1]);
    records.sort((one, other) => offsetOf(one) - offsetOf(other));
    expect(records).toMatchObject([
      { reason: 'unknown_schema', place: `${topic}/0@${first}`, key: 'bomb', bytes: 3_500_000 },
      { reason: 'undecodable', place: `${topic}/0@${first + 1}` },
      {
        reason: 'too_large',
        eventId: large.eventId,
        merchantId: setup.merchantId,
        place: `${topic}/0@${first + 2}`,
      },
    ]);
    expect(records[0]?.detail).toContain('the record has 3500000 bytes; the first 65536 are kept');
    expect(records[2]?.detail).toMatch(/^\/data has 40\d{4} bytes as JSON: at most 262144 are allowed$/);
  }, 90_000);

  async function quarantine(): Promise<Record<string, unknown>[]> {
    const out: string[] = [];
    const { port } = new URL(service.operationsUrl);
    const given = { HOOKRAIL_DATA_DIR: setup.dataDir, HOOKRAIL_OPS_PORT: port };
    const argv = ['quarantine', 'list', '--output', 'json'];
    expect(await runOperator(argv, given, (line) => out.push(line), console.error)).toBe(0);
    return JSON.parse(out.join('\n'));
  }
});
