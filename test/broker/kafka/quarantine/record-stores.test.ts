/**
 * The record stores on Kafka: oldest first over all partitions, one record of each key, and a requeued record comes
 * back as it arrived, once.
 */
import { randomUUID } from 'node:crypto';
import type { Kafka } from 'kafkajs';
import { expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { fromTopic } from '../../../support/kafka/from-topic.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { openTables, type Tables } from '../../../support/kafka/tables.ts';
import { lineOf } from '../../../support/kafka/wire-format.ts';
import { aTask, deadLetter, quarantined } from '../../../support/records/broker-records.ts';
import { eventOf } from '../../../support/records/events.ts';

const ERROR = 50;

/** A record for the quarantine, told apart by its event id, whose bytes are an event. */
function stored(tables: Tables, entityId = randomUUID()) {
  const event = { ...eventOf('merchant-1', entityId), eventId: randomUUID() };
  const value = tables.records.encodeEvent(event);
  const { events: topic } = tables.topics;
  const key = Buffer.from(event.entityId);
  const partition = tables.sender.partitionOf(topic, event.entityId);
  return { event, record: fromTopic(quarantined(event, { bytes: value }), { topic, partition, key, value }) };
}

await describeWithKafka('the record stores on Kafka', ({ brokers }) => {
  it('list dead letters oldest first over all partitions, page by page', async () => {
    const tables = await openTables(brokers);
    const tasks = Array.from({ length: 7 }, () => aTask());
    for (const [index, task] of tasks.entries()) {
      const value = tables.records.encode('deadLetter', deadLetter(task));
      const to = { topic: tables.topics.dead, partition: index % 3, key: null };
      const { timestamp } = await tables.sender.send({ ...to, value });
      await eventually('the clock shows the next millisecond', () => Date.now() > timestamp);
    }
    const records = tables.deadLettersOn(tables.reader);
    const first = await records.list({ limit: 3 });
    const second = await records.list({ limit: 3, after: first.at(-1)?.position ?? '' });
    const third = await records.list({ limit: 3, after: second.at(-1)?.position ?? '' });
    expect([first.length, second.length, third.length]).toEqual([3, 3, 1]);
    expect([...first, ...second, ...third].map(({ record }) => record)).toEqual(tasks.map(deadLetter));
    expect(await records.list({ limit: 3, after: third.at(-1)?.position ?? '' })).toEqual([]);
    expect(await lineOf(records.list({ limit: 3, after: '7' }))).toBe('"7" is not a position in this store');
  });

  it('list one dead letter per delivery, however often crashes wrote it and wherever pages are cut', async () => {
    const tables = await openTables(brokers);
    const tasks = Array.from({ length: 24 }, () => aTask());
    const put = async (index: number) => {
      const task = tasks[index];
      if (!task) throw new Error(`there is no task ${index}`);
      const value = tables.records.encode('deadLetter', deadLetter(task));
      const to = { topic: tables.topics.dead, partition: index % 3, key: Buffer.from(task.deliveryId) };
      const { timestamp } = await tables.sender.send({ ...to, value });
      await eventually('the clock shows the next millisecond', () => Date.now() > timestamp);
    };
    for (const index of tasks.keys()) await put(index);
    // More copies than a page keeps in reserve, some of them twice.
    for (const index of [...Array.from({ length: 20 }, (_, each) => each), 0, 1, 2]) await put(index);
    const records = tables.deadLettersOn(tables.reader);
    const listed: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await records.list({ limit: 3, ...(after === undefined ? {} : { after }) });
      listed.push(...page.map(({ record }) => record.task.deliveryId));
      after = page.at(-1)?.position;
      if (after === undefined) break;
    }
    const order = [20, 21, 22, 23, ...Array.from({ length: 17 }, (_, each) => each + 3), 0, 1, 2];
    expect(listed).toEqual(order.map((index) => tasks[index]?.deliveryId));
  });

  it('requeue an event as it arrived, once, under the key of its entity', async () => {
    const tables = await openTables(brokers);
    const records = tables.quarantineOn(tables.reader);
    const { event, record } = stored(tables);
    const bytes = Buffer.from([9, 0, 255]);
    const unread = { ...quarantined(event, { bytes }), eventId: null };
    const garbage = fromTopic(unread, { topic: tables.topics.events, value: bytes });
    for (const one of [record, garbage, stored(tables).record]) await records.put(one);
    const list = await records.list({ limit: 10 });
    const [first = '', second = '', third = ''] = list.map(({ position }) => position);
    expect(list.slice(0, 2).map((one) => one.record)).toEqual(
      [record, garbage].map((one) => ({ ...one, bytes: expect.anything() })),
    );
    expect(await records.requeue([second, first, first, '999999', `${first}0`, '1-2-3'])).toEqual({
      requeued: 2,
      refused: [],
    });
    const content = await tables.contentOf(tables.topics.events);
    const back = content.map(({ key, value }) => [key?.toString(), value]);
    expect(back).toHaveLength(2);
    expect(back).toContainEqual([event.entityId, Buffer.from(record.bytes)]);
    expect(back).toContainEqual([undefined, bytes]);
    const ours = content.find(({ key }) => key?.length);
    expect(ours?.partition).toBe(tables.sender.partitionOf(tables.topics.events, event.entityId));
    expect((await records.list({ limit: 10 })).map(({ position }) => position)).toEqual([third]);
    expect(await records.requeue([first, second])).toEqual({ requeued: 0, refused: [] });
    expect(await tables.contentOf(tables.topics.events)).toHaveLength(2);
  });

  it('list full pages however many records were removed before', async () => {
    const tables = await openTables(brokers);
    const records = tables.quarantineOn(tables.reader);
    const ids: (string | null)[] = [];
    for (let index = 0; index < 30; index += 1) {
      const { record } = stored(tables);
      ids.push(record.eventId);
      await records.put(record);
    }
    const positions = (await records.list({ limit: 30 })).map(({ position }) => position);
    expect(await records.requeue(positions.slice(0, 25))).toEqual({ requeued: 25, refused: [] });
    const page = await records.list({ limit: 2 });
    expect(page.map(({ record }) => record.eventId)).toEqual(ids.slice(25, 27));
    const after = await records.list({ limit: 100, after: positions[3] ?? '' });
    expect(after.map(({ record }) => record.eventId)).toEqual(ids.slice(25));
  });

  it('leave out unreadable records, without shortening a page', async () => {
    const tables = await openTables(brokers);
    const { quarantine: topic } = tables.topics;
    const records = tables.quarantineOn(tables.reader);
    for (const key of [null, Buffer.from('k')]) {
      await tables.sender.send({ topic, partition: 0, key, value: Buffer.from('garbage') });
    }
    const { record } = stored(tables);
    await records.put(record);
    const list = await records.list({ limit: 1 });
    expect(list.map((one) => one.record.eventId)).toEqual([record.eventId]);
    expect(tables.lines.filter(({ level }) => level === ERROR)).toHaveLength(2);
  });

  it('ask only for the bounds of an empty record store', async () => {
    const tables = await openTables(brokers);
    const noConsumer = { consumer: () => expect.unreachable() } as unknown as Kafka;
    const records = tables.quarantineOn(tables.readerOn(noConsumer));
    expect(await records.list({ limit: 10 })).toEqual([]);
    expect(await records.requeue(['1-2-3', 'x'])).toEqual({ requeued: 0, refused: [] });
    const begun = Date.now();
    for (let index = 0; index < 10; index += 1) await records.list({ limit: 10 });
    expect(Date.now() - begun).toBeLessThan(1_000);
  });

  it.each([
    ['cut', 15_000],
    ['silent', 15_000],
  ] as const)('give up, in one line, when the connection is %s', async (state, withinMs) => {
    const tables = await openTables(brokers);
    await tables.quarantineOn(tables.reader).put(stored(tables).record);
    const broken = tables.readerOn(tables.brokenKafka);
    tables.line.set(state);
    const begun = Date.now();
    expect(await lineOf(tables.quarantineOn(broken).list({ limit: 1 }))).toMatch(
      /quarantine could not be read/,
    );
    expect(Date.now() - begun).toBeLessThan(withinMs);
    await broken.close();
  });
});
