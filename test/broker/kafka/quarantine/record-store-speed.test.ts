/**
 * Record stores on a cluster with Kafka's default settings, where every new consumer group waits 3 s for members: an operator's
 * question takes no group, and a replay takes time in proportion to its records.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type LocalKafka, startLocalKafka } from '../../../../scripts/local-kafka/cluster.ts';
import type { RecordStore, StallLog } from '../../../../services/broker/broker.ts';
import type { DeadLetter } from '../../../../services/domain/journal.ts';
import type { KafkaProducer } from '../../../../services/kafka-client/producer/producer.ts';
import { runServed } from '../../../../services/operator/commands/command.ts';
import { RECORD_STORE_COMMANDS } from '../../../../services/operator/commands/record-stores.ts';
import { fromTopic } from '../../../support/kafka/from-topic.ts';
import { describeWhereKafkaStarts } from '../../../support/kafka/suites.ts';
import { openTables } from '../../../support/kafka/tables.ts';
import { sizeOf } from '../../../support/long-runs.ts';
import { quarantined } from '../../../support/records/broker-records.ts';
import { eventOf } from '../../../support/records/events.ts';
import { NO_PLACES } from '../../../support/service/no-places.ts';

const RECORDS = sizeOf('RECORD_STORE_RECORDS');
/** 20,000 records within 20 s, and a generous share of it for a busy machine. */
const REPLAY_MS_MAX = 5000 + RECORDS * 2;
const NO_DEAD_LETTERS = { list: async () => [], visit: async () => {}, forget: async () => {} };

await describeWhereKafkaStarts('the record stores on a cluster with the default rebalance delay', () => {
  let cluster: LocalKafka;
  beforeAll(async () => {
    cluster = await startLocalKafka({
      nodes: 1,
      registry: false,
      isShortLived: true,
      settings: { 'group.initial.rebalance.delay.ms': 3000 },
      environment: process.env,
    });
  }, 300_000);
  afterAll(() => cluster?.stop());

  it('list, count and replay with one reading each, without waiting for a consumer group', async () => {
    const tables = await openTables(cluster.brokers);
    const quarantine = tables.quarantineOn(tables.reader);
    const puts: Promise<void>[] = [];
    for (let index = 0; index < RECORDS; index += 1) {
      const event = { ...eventOf('merchant-1', randomUUID()), eventId: randomUUID() };
      const value = tables.records.encodeEvent(event);
      const { events: topic } = tables.topics;
      const record = fromTopic(quarantined(event, { bytes: value }), {
        topic,
        key: Buffer.from(event.entityId),
        value,
      });
      const merchantId = `merchant-${index % 2}`;
      puts.push(quarantine.put({ ...record, merchantId, at: index < 10 ? 1 : record.at }));
    }
    await Promise.all(puts);
    const deadLetters: RecordStore<DeadLetter> = NO_DEAD_LETTERS;
    const recordStores = { quarantine, deadLetters, stalls: NO_STALLS };
    const run = (name: keyof typeof RECORD_STORE_COMMANDS, given = {}) =>
      runServed(RECORD_STORE_COMMANDS[name], given, {
        ...NO_PLACES,
        broker: (use) => use(recordStores, { now: Date.now(), audit: async () => {} }),
      });

    const listedAt = performance.now();
    expect(await run('quarantine list', { limit: 10 })).toHaveLength(10);
    const listMs = performance.now() - listedAt;
    expect(await run('quarantine list', { limit: 1000, merchant: 'merchant-1' })).toHaveLength(
      Math.min(1000, RECORDS / 2),
    );
    expect(await run('quarantine list', { limit: 1000, since: '2001-01-01T00:00:00Z' })).not.toContainEqual(
      expect.objectContaining({ at: '1970-01-01T00:00:00.001Z' }),
    );
    expect(await run('quarantine summary')).toEqual([
      expect.objectContaining({ count: RECORDS, oldest: '1970-01-01T00:00:00.001Z' }),
    ]);

    const underWay = mostUnderWay(tables.sender);
    const replayedAt = performance.now();
    expect(await run('quarantine replay', { merchant: 'merchant-0' })).toEqual({ replayed: RECORDS / 2 });
    expect(await run('quarantine replay', { all: true })).toEqual({ replayed: RECORDS / 2 });
    const replayMs = performance.now() - replayedAt;
    expect(await run('quarantine summary')).toEqual([]);
    expect(await tables.contentOf(tables.topics.events)).toHaveLength(RECORDS);
    console.info(`list ${Math.round(listMs)} ms, replay of ${RECORDS} records ${Math.round(replayMs)} ms`);
    expect(underWay()).toBeGreaterThan(100);
    expect(listMs).toBeLessThan(1500);
    expect(replayMs).toBeLessThan(REPLAY_MS_MAX);
  }, 120_000);
});

const NO_STALLS: StallLog = {
  writer: { module: '', data: null },
  follow: () => Promise.reject(new Error('nobody follows it')),
  append: () => Promise.reject(new Error('nothing was put aside')),
};

/** How many writes of this producer are under way at the same time, at most. */
function mostUnderWay(producer: KafkaProducer): () => number {
  const send = producer.send.bind(producer);
  let now = 0;
  let most = 0;
  vi.spyOn(producer, 'send').mockImplementation((...given) => {
    now += 1;
    most = Math.max(most, now);
    return send(...given).finally(() => {
      now -= 1;
    });
  });
  return () => most;
}
