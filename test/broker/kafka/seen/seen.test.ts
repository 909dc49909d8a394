/**
 * Guarantee: copies are recognised within a window of the log's own time and within a number, in bounded memory, and the
 * first record of an id is the one with the lowest offset.
 */
import type avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { IdsBudget } from '../../../../services/broker/kafka/seen/ids-budget.ts';
import { RecentIds } from '../../../../services/broker/kafka/seen/recent-ids.ts';
import { RepeatedEvents } from '../../../../services/broker/kafka/seen/repeated-events.ts';
import { SeenTasks } from '../../../../services/broker/kafka/seen/seen-tasks.ts';
import { EventDecoder, encodeEvent } from '../../../../services/codec/event-avro.ts';
import { eventSchemaText } from '../../../../services/codec/event-schemas.ts';
import { avroType } from '../../../../services/codec/logical-types.ts';
import { Partition } from '../../../../services/kafka-client/consumer/partition.ts';
import { anEvent } from '../../../support/records/broker-records.ts';

const HOUR_MS = 3_600_000;

const tasks = (windowMs: number, max = 1_000_000, from = 0) =>
  new SeenTasks(windowMs, new IdsBudget(max), from);

describe('the memory of seen tasks', () => {
  it('recognises a copy within the window, and does not take a record for a copy of itself', () => {
    const seen = tasks(1000);
    expect(seen.isCopy('a', 1, 0)).toBe(false);
    expect(seen.isCopy('a', 1, 0)).toBe(false);
    expect(seen.isCopy('a', 2, 900)).toBe(true);
    expect(seen.isCopy('b', 3, 900)).toBe(false);
    // The window, and at most a quarter of it more.
    expect(seen.isCopy('a', 4, 2200)).toBe(false);
  });

  it('measures the window in the time of the log: hours without a record count as a minute', () => {
    const seen = tasks(120_000);
    expect(seen.isCopy('a', 1, 0)).toBe(false);
    // An outage of two hours; the second copy lands right after it.
    expect(seen.isCopy('a', 2, 7_200_000)).toBe(true);
  });

  it('forgets old tasks, never before their time, and starts reading no earlier than needed', () => {
    const budget = new IdsBudget(1_000_000);
    const seen = new SeenTasks(1000, budget, 0);
    for (let offset = 0; offset < 10_000; offset += 1) seen.isCopy(`task ${offset}`, offset, offset * 10);
    expect(seen.start).toBeLessThanOrEqual(9_899);
    expect(seen.start).toBeGreaterThan(9_700);
    expect(budget.room).toBeLessThan(1500);
    expect(seen.isCopy('task 9899', 10_000, 99_990)).toBe(true);
    expect(seen.isCopy('task 9000', 10_001, 99_990)).toBe(false);
    seen.close();
    expect(budget.room).toBe(0);
  });

  it('starts reading where it last did until something is forgotten', () => {
    const seen = tasks(1000, 1_000_000, 70);
    expect(seen.start).toBe(70);
    seen.isCopy('a', 75, 0);
    expect(seen.start).toBe(70);
    seen.isCopy('b', 80, 5000);
    expect(seen.start).toBe(80);
  });

  it('takes at most 50 bytes per task for two hundred thousand tasks', () => {
    const count = 200_000;
    const before = process.memoryUsage().arrayBuffers;
    const seen = tasks(900_000, 4_000_000);
    for (let offset = 0; offset < count; offset += 1) seen.isCopy(`task ${offset}/2/0`, offset, offset);
    expect(seen.isCopy('task 20000/2/0', count, count)).toBe(true);
    expect((process.memoryUsage().arrayBuffers - before) / count).toBeLessThan(50);
  });
});

describe('the budget of ids that partitions share', () => {
  it('is never exceeded, and the oldest ids are forgotten first, whichever partition has them', () => {
    let full = 0;
    const budget = new IdsBudget(8192, () => {
      full += 1;
    });
    const options = { windowMs: HOUR_MS, budget, from: 0, hasContent: false };
    const [quiet, busy] = [new RecentIds(options), new RecentIds(options)];
    for (let offset = 0; offset < 500; offset += 1) quiet.add(`quiet ${offset}`, offset, 0);
    for (let offset = 0; offset < 6000; offset += 1) busy.add(`busy ${offset}`, offset, 0);
    expect([full, quiet.start, busy.start]).toEqual([0, 0, 0]);
    for (let offset = 6000; offset < 20_000; offset += 1) {
      busy.add(`busy ${offset}`, offset, 0);
      expect(budget.room).toBeLessThanOrEqual(8192);
    }
    expect(full).toBeGreaterThan(0);
    // The quiet partition's were the oldest.
    expect(quiet.add('quiet 1', 500, 0)).toBe('new');
    expect(busy.add('busy 100', 20_000, 0)).toBe('new');
    expect(busy.add('busy 19999', 20_001, 0)).toBe('same');
    expect(busy.start).toBeGreaterThan(20_000 - 8192);
  });
});

describe('the memory of seen event ids', () => {
  function seenEvents(windowMs = HOUR_MS, max = 100_000) {
    const budget = new IdsBudget(max);
    const seen = new RepeatedEvents({ windowMs, budget });
    const assign = (offset: number, windowStart = offset) => {
      const partition = new Partition('events', 0);
      partition.start({ offset, windowStart, done: new Set(), topicId: null, lost: null }, 0);
      seen.assigned(partition);
      return partition;
    };
    return { seen, budget, assign };
  }

  it('tells a repeat from a conflict, and the first record from both, however often it is read', () => {
    const { seen, assign } = seenEvents();
    const event = anEvent();
    const other = { ...event, occurredAt: event.occurredAt + 1 };
    for (const partition of [assign(0), assign(0)]) {
      expect(seen.check(partition, 3, 0, event, undefined)).toBe('first');
      expect(seen.check(partition, 4, 0, event, undefined)).toBe('repeat');
      expect(seen.check(partition, 5, 0, other, undefined)).toBe('conflict');
      expect(seen.check(partition, 6, 0, event, undefined)).toBe('repeat');
      expect(seen.check(partition, 7, 0, anEvent(), undefined)).toBe('first');
    }
  });

  it('routes an event that an operator puts back once for each quarantined record', () => {
    const { seen, assign } = seenEvents();
    const partition = assign(0);
    const event = anEvent();
    expect(seen.check(partition, 1, 0, event, undefined)).toBe('first');
    expect(seen.check(partition, 2, 0, event, 'one')).toBe('first');
    expect(seen.check(partition, 3, 0, event, 'one')).toBe('repeat');
    expect(seen.check(partition, 4, 0, event, 'another')).toBe('first');
    expect(seen.check(partition, 5, 0, event, undefined)).toBe('repeat');
  });

  it('accepts producers’ clocks 30 days behind or 50 minutes ahead', () => {
    const { seen, assign } = seenEvents();
    const partition = assign(0);
    const now = 1_700_000_000_000;
    const event = anEvent();
    let offset = 0;
    const at = (time: number, given = anEvent()) => seen.check(partition, offset++, time, given, undefined);
    expect(at(now - 30 * 24 * HOUR_MS)).toBe('first');
    expect(at(now, event)).toBe('first');
    expect(at(now + 50 * 60_000)).toBe('first');
    expect(at(now - 30 * 24 * HOUR_MS, event)).toBe('repeat');
    for (let minute = 0; minute < 55; minute += 1) at(now + minute * 60_000);
    expect(at(now + 55 * 60_000, event)).toBe('repeat');
  });

  it('is given back when the partition belongs to another process', () => {
    const { seen, assign, budget } = seenEvents();
    const partition = assign(0);
    seen.check(partition, 0, 0, anEvent(), undefined);
    expect(budget.room).toBeGreaterThan(0);
    partition.isAlive = false;
    seen.prune();
    expect(budget.room).toBe(0);
  });

  it('reads back no more records than it can remember ids', () => {
    const { assign } = seenEvents(HOUR_MS, 1000);
    expect(assign(5000, 100).next).toBe(4000);
    expect(assign(5000, 4900).next).toBe(4900);
  });

  it('sees the same content in one event under two versions of its schema', () => {
    const { seen, assign } = seenEvents();
    const partition = assign(0);
    const event = anEvent({ type: 'fiatToCrypto' });
    const schema = JSON.parse(eventSchemaText('fiatToCrypto'));
    schema.fields[1].type.fields.unshift({ name: 'colour', type: ['null', 'string'], default: null });
    const decoder = new EventDecoder((id) => (id === 7 ? eventSchemaText('fiatToCrypto') : schema));
    const bytes = encodeEvent(event, 7);
    const own = avroType(JSON.parse(eventSchemaText('fiatToCrypto'))) as avro.Type;
    const newer = avroType(schema) as avro.Type;
    const record = own.fromBuffer(bytes.subarray(5)) as { data: object };
    const body = newer.toBuffer({ ...record, data: { ...record.data, colour: 'red' } });
    const again = Buffer.concat([Buffer.from([0, 0, 0, 0, 8]), body]);
    const verdicts = [bytes, again].map((given, offset) => {
      const decoded = decoder.decode(given);
      if (!decoded.ok) throw new Error(decoded.detail);
      return seen.check(partition, offset, 0, decoded.event, undefined);
    });
    expect(verdicts).toEqual(['first', 'repeat']);
  });
});
