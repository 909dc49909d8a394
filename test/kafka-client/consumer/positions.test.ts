/**
 * Guarantee: a partition that is being read is not read again because of one answer of the brokers: neither when a
 * leader returns an old end, nor when a broker returns an old id of the topic.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Admins, PartitionSilent } from '../../../services/kafka-client/client/admins.ts';
import type { Doubt } from '../../../services/kafka-client/client/doubt.ts';
import { writeNote } from '../../../services/kafka-client/consumer/commit-note.ts';
import { Partition } from '../../../services/kafka-client/consumer/partition.ts';
import { Positions, type PositionsOptions } from '../../../services/kafka-client/consumer/positions.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const READ = 28;

/** A partition of which 28 records were read and done, and brokers whose answers can be set. */
function beingRead() {
  const clock = new SimulatedClock();
  const brokers = { low: 0, high: READ, id: 'id' as string | null, isSilent: false, committed: READ };
  const lines: { readonly level: number; readonly msg: string }[] = [];
  const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) });
  const partition = new Partition('topic', 0);
  partition.topicId = 'id';
  partition.start({ offset: READ, windowStart: READ, done: new Set(), topicId: 'id', lost: null }, 0);
  const seen = { paused: 0, fetched: [] as (number | null)[], replaced: [] as Doubt[] };
  const note = { windowStart: READ, done: new Set<number>(), topicId: 'id', lost: null };
  const options: Partial<PositionsOptions> = {
    clock,
    log,
    topic: 'topic',
    groupId: 'group',
    admins: {
      boundsOf: async () => {
        if (brokers.isSilent) throw new PartitionSilent('topic/0: no leader');
        return { low: brokers.low, high: brokers.high };
      },
      committedOf: async () => {
        const offset = brokers.committed;
        return { offset, metadata: writeNote({ ...note, offset }) };
      },
    } as unknown as Admins,
    topicId: async () => brokers.id,
    isEnded: () => false,
    pause: () => {
      seen.paused += 1;
    },
    fetchFrom: ({ next }) => void seen.fetched.push(next),
    replaced: (old, doubt) => {
      old.isAlive = false;
      seen.replaced.push(doubt);
    },
  };
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 1) {
      for (let turns = 0; turns < 5; turns += 1) await turn();
      clock.advance(1000);
    }
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  const positions = new Positions(options as PositionsOptions);
  return { positions, partition, brokers, seen, lines, pass };
}

describe('the position of a partition that is being read', () => {
  it('waits while the log ends before it, and stays when it no longer does', async () => {
    const { positions, partition, brokers, seen, lines, pass } = beingRead();
    brokers.high = 14;
    void positions.check(partition, 'out of range');
    await pass(25);
    expect([seen.paused, seen.fetched, seen.replaced]).toEqual([1, [], []]);
    brokers.high = READ + 2;
    await pass(3);
    expect([seen.fetched, seen.replaced]).toEqual([[READ], []]);
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('the log ends before records that were read'),
      expect.stringContaining('no longer contradict the position'),
      'offset gap, refetching',
    ]);
  });

  it('is given up when the log ends before it for half a minute, without a pause of the brokers', async () => {
    const { positions, partition, brokers, seen, pass } = beingRead();
    brokers.high = 14;
    void positions.check(partition, { fetchedFrom: 40 });
    await pass(20);
    brokers.isSilent = true;
    await pass(20);
    brokers.isSilent = false;
    await pass(25);
    expect(seen.replaced).toEqual([]);
    await pass(7);
    expect(seen.replaced.map(({ lowestEnd }) => lowestEnd)).toEqual([14]);
    expect(seen.fetched).toEqual([]);
  });

  it('continues where the log lost its end, after what this process had done', async () => {
    const { positions, partition, brokers, seen, pass } = beingRead();
    brokers.high = 14;
    brokers.committed = 10;
    void positions.check(partition, 'out of range');
    await pass(31);
    brokers.high = 16;
    const again = new Partition('topic', 0);
    void positions.find(again, partition, seen.replaced[0]);
    await pass(1);
    expect([seen.fetched, again.prefix, again.toCommit()?.offset]).toEqual([[10], 14, '14']);
    expect([13, 14, 15].filter((offset) => again.isNew(offset))).toEqual([14, 15]);
  });

  it('stays while a broker that is behind returns an earlier id, or none', async () => {
    const { positions, partition, brokers, seen, pass } = beingRead();
    brokers.id = 'old';
    await positions.verify([partition]);
    await pass(4);
    brokers.id = null;
    await pass(10);
    brokers.id = 'id';
    await pass(2);
    expect([seen.paused, seen.fetched, seen.replaced]).toEqual([1, [READ], []]);
    brokers.id = null;
    await positions.verify([partition]);
    await pass(2);
    expect(seen.paused).toBe(1);
  });

  it('is given up when the brokers return another id for seconds', async () => {
    const { positions, partition, brokers, seen, pass } = beingRead();
    brokers.id = 'new';
    await positions.verify([partition]);
    await pass(7);
    expect([seen.fetched, seen.replaced.length]).toEqual([[], 1]);
  });

  it('is not compared with an id that was requested before it was known', async () => {
    const { positions, partition, brokers, seen, pass } = beingRead();
    const next = partition.next;
    partition.next = null;
    brokers.id = 'old';
    const verified = positions.verify([partition]);
    partition.next = next;
    await verified;
    await pass(7);
    expect([seen.paused, seen.replaced]).toEqual([0, []]);
  });

  it('follows deleted records, and is checked once at a time', async () => {
    const { positions, partition, brokers, seen, lines, pass } = beingRead();
    brokers.low = 30;
    brokers.high = 40;
    void positions.check(partition, 'out of range');
    void positions.check(partition, 'out of range');
    await pass(2);
    expect([seen.paused, seen.fetched, partition.lost]).toEqual([2, [30], { from: 28, to: 30, count: 2 }]);
    expect(lines.map(({ level }) => level)).toEqual([50]);
  });

  it('is fetched from again only after a pause while leader and bounds disagree', async () => {
    const { positions, partition, seen, pass } = beingRead();
    void positions.check(partition, 'out of range');
    await pass(0);
    expect(seen.fetched).toEqual([]);
    await pass(1);
    expect(seen.fetched).toEqual([READ]);
  });
});
