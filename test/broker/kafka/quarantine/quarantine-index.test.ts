/**
 * The quarantined records of an event are found by its id at a bounded cost: only the end of the topic is read, and the
 * answer says from when on.
 */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { QuarantineIndex } from '../../../../services/broker/kafka/quarantine/quarantine-index.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { fromTopic } from '../../../support/kafka/from-topic.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { openTables, type Tables } from '../../../support/kafka/tables.ts';
import { quarantined } from '../../../support/records/broker-records.ts';
import { eventOf } from '../../../support/records/events.ts';

const RECORD_BYTES = 1000;

await describeWithKafka('the quarantine by event ids', ({ brokers }) => {
  /** Puts a record of each event into quarantine; of one merchant, so in one partition. */
  async function put(tables: Tables, count: number): Promise<string[]> {
    const store = tables.quarantineOn(tables.reader);
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const event = { ...eventOf('merchant-1', 'quarantined'), eventId: randomUUID() };
      const value = Buffer.alloc(RECORD_BYTES);
      const record = quarantined(event, { bytes: value });
      const { events: topic } = tables.topics;
      await store.put(fromTopic(record, { topic, value, key: Buffer.from(event.entityId) }));
      ids.push(event.eventId);
    }
    return ids;
  }
  const indexOn = ({ records, topics, reader }: Tables, limits: object) =>
    new QuarantineIndex({ records, reader, clock: systemClock(), topic: topics.quarantine, ...limits });
  const foundBy = async (index: QuarantineIndex, ids: readonly string[]) => {
    const answers = [];
    for (const id of ids) answers.push((await index.find({ eventId: id })).records.length);
    return answers;
  };

  it('reads the newest records only, follows from there, and says from when on', async () => {
    const tables = await openTables(brokers);
    const before = await put(tables, 8);
    // Three partitions: two of each.
    const index = indexOn(tables, { recordsMax: 6 });
    expect(await foundBy(index, before)).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);
    expect((await index.find({ eventId: randomUUID() })).since).toBeGreaterThan(0);
    const after = await put(tables, 2);
    expect(await foundBy(index, [...before.slice(-2), ...after])).toEqual([1, 1, 1, 1]);
    // Six are remembered at the most.
    await put(tables, 2);
    await index.find({ eventId: randomUUID() });
    await put(tables, 2);
    expect(await foundBy(index, [...before.slice(-2), ...after])).toEqual([0, 0, 1, 1]);
  });

  it('reads fewer records when they are large together', async () => {
    const tables = await openTables(brokers);
    const ids = await put(tables, 100);
    const index = indexOn(tables, { recordsMax: 3000, readBytesMax: 50 * RECORD_BYTES });
    const found = await foundBy(index, ids);
    const count = found.filter((each) => each > 0).length;
    expect([found[0], found.at(-1)]).toEqual([0, 1]);
    expect(count).toBeLessThan(50);
    expect((await index.find({ eventId: randomUUID() })).since).toBeGreaterThan(0);
  });

  it('is asked by many at once, and each hears of what was there when it asked', async () => {
    const tables = await openTables(brokers);
    const index = indexOn(tables, {});
    const [first = ''] = await put(tables, 1);
    const early = index.find({ eventId: first });
    const [second = ''] = await put(tables, 1);
    const late = await Promise.all([
      index.find({ eventId: second }),
      index.find({ eventId: second }),
      index.find({ eventId: first }),
    ]);
    expect(late.map(({ records }) => records.length)).toEqual([1, 1, 1]);
    expect((await early).records).toHaveLength(1);
    expect((await early).since).toBeNull();
  });
});
