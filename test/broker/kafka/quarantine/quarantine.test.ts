/**
 * The quarantine keeps place, key and headers of a Kafka record, and puts it back into the topic it came from, or
 * refuses with a reason.
 */
import { randomUUID } from 'node:crypto';
import type { IHeaders } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import type { Quarantined } from '../../../../services/domain/quarantine.ts';
import { eventually } from '../../../support/eventually.ts';
import { fromTopic } from '../../../support/kafka/from-topic.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { openTables, type Tables } from '../../../support/kafka/tables.ts';
import { aTask, routed } from '../../../support/records/broker-records.ts';
import { eventOf } from '../../../support/records/events.ts';

const UNREADABLE = { reason: 'undecodable', detail: 'why', at: 1, eventId: null, merchantId: null } as const;

describe('the origin of a quarantined record', () => {
  it('keeps at most 4 KiB of the key and 16 KiB of the headers, and says when more was cut off', () => {
    const key = Buffer.alloc(5000, 'k');
    const headers = { a: Buffer.alloc(10_000, 'a'), b: Buffer.alloc(10_000, 'b') };
    const { origin } = fromTopic(UNREADABLE, { topic: 't', value: Buffer.from('v'), key, headers });
    expect(origin?.key).toHaveLength(4096);
    expect(origin?.headers.map(({ name }) => name)).toEqual(['a']);
    expect(origin?.isWhole).toBe(false);
  });
});

await describeWithKafka('the quarantine on Kafka', ({ brokers }) => {
  /** Stores one record, puts it back, and returns the answer. */
  async function putAndRequeue(tables: Tables, record: Quarantined) {
    const records = tables.quarantineOn(tables.reader);
    await records.put(record);
    const [{ position } = { position: '' }] = await records.list({ limit: 1 });
    const answer = await records.requeue([position]);
    return { records, position, answer };
  }

  it('puts an event back into its partition, with its key and every header', async () => {
    const tables = await openTables(brokers);
    const { events } = tables.topics;
    const value = tables.records.encodeEvent(eventOf('merchant-1', 'back'));
    const headers = { traceparent: Buffer.from('00-1-2-01'), twice: [Buffer.from([0xff]), Buffer.from('b')] };
    const record = fromTopic(UNREADABLE, { topic: events, value, key: Buffer.from('a key'), headers });
    const { answer, records } = await putAndRequeue(tables, record);
    expect(answer).toEqual({ requeued: 1, refused: [] });
    expect(await records.list({ limit: 1 })).toEqual([]);
    const found = await read(tables, events);
    expect(found).toMatchObject({ partition: 2, key: Buffer.from('a key'), value });
    // The header that says where an event was put back from.
    expect(found.headers).toEqual({ ...headers, 'hookrail-requeued': expect.any(Buffer) });
  });

  it('keeps a tombstone apart from an empty record, and puts it back as a tombstone', async () => {
    const tables = await openTables(brokers);
    const { events } = tables.topics;
    const record = fromTopic(UNREADABLE, { topic: events, value: null, key: Buffer.from('entity') });
    const { answer } = await putAndRequeue(tables, record);
    expect(answer.requeued).toBe(1);
    expect(await read(tables, events)).toMatchObject({ key: Buffer.from('entity'), value: null });
  });

  it('puts a task back on the stream of its class with a new mark, never on the events topic', async () => {
    const tables = await openTables(brokers);
    const task = aTask();
    const value = tables.records.encode('task', task);
    const record = fromTopic(UNREADABLE, {
      topic: tables.topics.deliver,
      value,
      key: Buffer.from(task.endpointId),
    });
    const { answer } = await putAndRequeue(tables, record);
    expect(answer).toEqual({ requeued: 1, refused: [] });
    const found = await read(tables, tables.topics.deliver);
    expect(tables.records.decode('task', found.value)).toEqual({ ...task, hop: task.hop + 1 });
    expect(await tables.contentOf(tables.topics.events)).toEqual([]);
  });

  it('puts a journal record back on its partition', async () => {
    const tables = await openTables(brokers);
    const { journal } = tables.topics;
    const value = tables.records.encode('journal', [routed(eventOf('merchant-1', 'journal'))]);
    const { answer } = await putAndRequeue(tables, fromTopic(UNREADABLE, { topic: journal, value }));
    expect(answer).toEqual({ requeued: 1, refused: [] });
    expect(await read(tables, journal)).toMatchObject({ partition: 2, value });
    expect(await tables.contentOf(tables.topics.events)).toEqual([]);
  });

  it('refuses to put back an unusable record, with the reason, and keeps it', async () => {
    const tables = await openTables(brokers);
    const { deliver, events } = tables.topics;
    const other = `other.${randomUUID()}`;
    for (const [record, reason] of [
      [fromTopic(UNREADABLE, { topic: deliver, value: Buffer.from('no task') }), 'it still cannot be read'],
      [fromTopic(UNREADABLE, { topic: other, value: Buffer.from('x') }), `it came from topic ${other}`],
      [fromTopic(UNREADABLE, { topic: events, value: Buffer.alloc(3_500_000, 1) }), '65536 of 3500000 bytes'],
    ] as const) {
      const { answer, records, position } = await putAndRequeue(tables, record);
      expect(answer).toEqual({
        requeued: 0,
        refused: [{ position, detail: expect.stringContaining(reason) }],
      });
      const kept = await records.read(position);
      expect(kept?.origin).toEqual({ ...record.origin, isWhole: record.bytes.length < 3_000_000 });
      await tables.admins.ask(async (admin) => {
        // The client deletes from leaders that it has heard of only.
        await admin.fetchTopicOffsets(tables.topics.quarantine);
        await admin.deleteTopicRecords({
          topic: tables.topics.quarantine,
          partitions: [{ partition: tables.sender.partitionOf(tables.topics.quarantine, ''), offset: '-1' }],
        });
      });
    }
  });

  it('keeps the first 64 KiB of a record that is too large, and its size', async () => {
    const tables = await openTables(brokers);
    const records = tables.quarantineOn(tables.reader);
    await records.put(
      fromTopic(UNREADABLE, { topic: tables.topics.events, value: Buffer.alloc(3_500_000, 1) }),
    );
    const [{ record } = { record: undefined }] = await records.list({ limit: 1 });
    expect(record?.bytes).toHaveLength(65_536);
    expect(record?.origin?.valueBytes).toBe(3_500_000);
    expect(record?.detail).toBe('why (the record has 3500000 bytes; the first 65536 are kept)');
  });

  /** The one record of a topic, with its headers. */
  async function read({ kafka }: Tables, topic: string) {
    const consumer = kafka.consumer({ groupId: `test.${randomUUID()}` });
    const found: { partition: number; key: Buffer | null; value: Buffer | null; headers: IHeaders }[] = [];
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ partition, message: { key, value, headers = {} } }) => {
        found.push({ partition, key, value, headers });
      },
    });
    await eventually('the record is in quarantine', () => found.length > 0, 20_000);
    await consumer.disconnect();
    expect(found).toHaveLength(1);
    return found[0] as (typeof found)[number];
  }
});
