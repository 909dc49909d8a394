/**
 * The lag of the partitions that a process reads: how many records wait and for how long (retries only once due),
 * whether one stands still, when unread records are deleted, and how many questions to the brokers that costs.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Lag } from '../../../../services/broker/kafka/lag/lag.ts';
import type { LagTopic } from '../../../../services/broker/kafka/lag/lag-topics.ts';
import type { Admins } from '../../../../services/kafka-client/client/admins.ts';
import type { Offsets } from '../../../../services/kafka-client/client/leader-questions.ts';
import { Partition, type ReadRecord } from '../../../../services/kafka-client/consumer/partition.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const DAY_MS = 86_400_000;
const TASKS: LagTopic = { topic: 'deliver', groupId: 'deliver', stream: 'tasks', delayMs: 0 };
const RETRIES: LagTopic = { topic: 'retry', groupId: 'retry', stream: 'delayed', delayMs: 66_000 };

const offsetsOf = (topics: readonly string[], at: (topic: string) => number): Offsets =>
  new Map(topics.map((topic) => [topic, new Map([[0, at(topic)]])]));

/** Brokers that say what the test sets. */
function brokers() {
  const ends = new Map(Object.entries({ deliver: 0, retry: 0 }));
  const asked = { own: 0, all: 0, commits: 0 };
  /** The brokers do not answer while it is true. */
  const silence = { isSilent: false };
  const starts = { deliver: 0 };
  /** By another process. */
  const committed = { deliver: 0 };
  const told = (topics: readonly string[]) => offsetsOf(topics, (topic) => ends.get(topic) ?? 0);
  const admins = {
    endsOf: async (topics: readonly string[]) => {
      if (silence.isSilent) throw new Error('no answer');
      asked.all += 1;
      return told(topics);
    },
    startsOf: async (topics: readonly string[]) =>
      offsetsOf(topics, (topic) => (topic === 'deliver' ? starts.deliver : 0)),
    troubles: [],
    commitsOf: async () => {
      asked.commits += 1;
      return new Map([[0, { offset: committed.deliver }]]);
    },
    endsOfPartitions: async (topics: readonly { topic: string }[]) => {
      asked.own += 1;
      return told(topics.map(({ topic }) => topic));
    },
  } as unknown as Admins;
  return { admins, ends, asked, silence, starts, committed };
}

/** One partition of each topic, on brokers whose logs end where the test says. */
async function world() {
  const clock = new SimulatedClock();
  const { admins, ends, ...set } = brokers();
  const lag = new Lag(admins, clock, [TASKS, RETRIES], () => 7 * DAY_MS);
  await lag.open();
  const watching = {
    deliver: lag.watching('deliver', { take: () => {} }),
    retry: lag.watching('retry', { take: () => {} }),
  };
  const hold = (topic: 'deliver' | 'retry') => {
    const partition = new Partition(topic, 0);
    partition.start({ offset: 0, windowStart: 0, done: new Set(), topicId: null, lost: null }, 0);
    watching[topic].assigned(partition);
    return partition;
  };
  const partitions = { deliver: hold('deliver'), retry: hold('retry') };
  return {
    clock,
    lag,
    watching,
    ...set,
    partitions,
    status: (topic: 'deliver' | 'retry') => {
      const found = lag.partitions().find((one) => one.topic === topic);
      if (!found) throw new Error(`${topic} is not told`);
      return found;
    },
    /** The process reads the record at this offset; the brokers have it. */
    read(topic: 'deliver' | 'retry', offset: number, timestamp = clock.now()): ReadRecord {
      const partition = partitions[topic];
      ends.set(topic, Math.max(ends.get(topic) ?? 0, offset + 1));
      const record = { partition, offset, timestamp, key: null, value: null, headers: {}, bytes: 1 };
      if (partition.isNew(offset)) partition.hold(1);
      watching[topic].take(record);
      return record;
    },
    done(record: ReadRecord) {
      record.partition.done(record.offset, 1);
      watching[record.partition.topic as 'deliver' | 'retry'].settled(record);
    },
    append: (topic: string, end: number) => void ends.set(topic, end),
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1000);
        await turn();
      }
    },
  };
}

describe('the lag of partitions that this process reads', () => {
  it('counts records that are not done, with the age of the oldest and the time until it is deleted', async () => {
    const { pass, read, done, status } = await world();
    expect(status('deliver')).toMatchObject({ lag: 0, oldestMs: 0, retentionLeftMs: null, stalled: null });
    const first = read('deliver', 0);
    await pass(10);
    const second = read('deliver', 1);
    await pass(10);
    expect(status('deliver')).toMatchObject({
      lag: 2,
      oldestMs: 20_000,
      retentionLeftMs: 7 * DAY_MS - 20_000,
    });
    done(first);
    expect(status('deliver')).toMatchObject({
      lag: 1,
      oldestMs: 10_000,
      retentionLeftMs: 7 * DAY_MS - 10_000,
    });
    done(second);
    expect(status('deliver')).toMatchObject({ lag: 0, oldestMs: 0, retentionLeftMs: null });
  });

  it('does not count retries that wait for their time', async () => {
    const { pass, read, done, status } = await world();
    const early = read('retry', 0);
    await pass(60);
    read('retry', 1);
    expect(status('retry')).toMatchObject({ lag: 0, oldestMs: 0 });
    await pass(16);
    expect(status('retry')).toMatchObject({ lag: 1, oldestMs: 10_000 });
    done(early);
    expect(status('retry')).toMatchObject({ lag: 0, oldestMs: 0 });
  });

  it('says that a partition stands still once records came for a minute and none was done', async () => {
    const { pass, read, done, append, status } = await world();
    const stuck = read('deliver', 0);
    await pass(10);
    append('deliver', 5);
    await pass(45);
    expect(status('deliver').stalled).toBeNull();
    await pass(20);
    expect(status('deliver').stalled?.reason).toBe(
      '1 records were read and none is settled, the first at offset 0',
    );
    done(stuck);
    await pass(6);
    expect(status('deliver').stalled).toBeNull();
    await pass(70);
    append('deliver', 9);
    await pass(6);
    expect(status('deliver').stalled?.reason).toBe(
      'no record arrives at offset 1, although the log ends at 9',
    );
  });

  it('does not call a partition stalled when nothing new comes or progress is made', async () => {
    const { pass, read, done, status } = await world();
    read('deliver', 0);
    await pass(120);
    expect(status('deliver').stalled).toBeNull();
    for (let offset = 1; offset < 20; offset += 1) {
      done(read('deliver', offset));
      await pass(10);
    }
    expect(status('deliver').stalled).toBeNull();
  });

  it('tells how long progress has not been committed, and counts failed commits and lost records', async () => {
    const { watching, pass, read, done, status } = await world();
    done(read('deliver', 0));
    await pass(30);
    watching.deliver.commitFailed();
    watching.deliver.lost(0, 7);
    watching.deliver.outOfRange(0);
    const { uncommittedMs, ...counts } = status('deliver');
    expect(uncommittedMs).toBeGreaterThanOrEqual(25_000);
    expect(counts).toMatchObject({ commitFailures: 1, lost: 7, outOfRange: 1 });
    watching.deliver.committed(0, 1);
    expect(status('deliver').uncommittedMs).toBe(0);
  });

  it('asks one question every five seconds, and about whole streams only on request', async () => {
    const { lag, asked, pass } = await world();
    await pass(20);
    const before = { ...asked };
    for (let minute = 0; minute < 60; minute += 1) {
      lag.partitions();
      await pass(1);
    }
    expect(asked.own - before.own).toBe(12);
    expect(asked).toMatchObject({ all: before.all, commits: before.commits });
    lag.backlog();
    await turn();
    expect(asked.all).toBe(before.all + 1);
    lag.close();
  });
});

describe('the age of first attempts that another process should read', () => {
  /** A process that reads none of them, and whose age is scraped every `everyS` seconds. */
  async function elsewhere(everyS = 15) {
    const all = await world();
    all.partitions.deliver.isAlive = false;
    const scrape = async () => {
      const age = all.lag.othersWaitingMs();
      await turn();
      return age;
    };
    return {
      ...all,
      scrape,
      /** Returns what each scrape found. */
      async scraped(seconds: number) {
        const found: (number | null)[] = [];
        for (let passed = 0; passed < seconds; passed += everyS) {
          await all.pass(everyS);
          found.push(await scrape());
        }
        return found;
      },
    };
  }

  it('grows while nobody reads them, on a process that only writes them, and is 0 once they are done', async () => {
    const { append, committed, scraped, scrape, pass } = await elsewhere();
    await scrape();
    append('deliver', 3);
    const ages = (await scraped(105)).map((age) => Math.round((age ?? -1) / 1000));
    expect(ages.every((age, index) => Math.abs(age - 15 * index - 10) <= 5)).toBe(true);
    committed.deliver = 3;
    await pass(6);
    expect(await scrape()).toBe(0);
  });

  it('begins again when records are done, and is not kept by a process that starts meanwhile', async () => {
    const { append, committed, scraped, scrape, pass } = await elsewhere();
    append('deliver', 3);
    expect((await scraped(60)).at(-1)).toBeGreaterThan(30_000);
    committed.deliver = 2;
    await pass(6);
    expect(await scrape()).toBeLessThan(6000);
    committed.deliver = 3;
    expect((await scraped(60)).at(-1)).toBe(0);
  });

  it('is not known once the brokers have been silent for 15 s, and is known again with their answer', async () => {
    const { append, committed, silence, scraped, scrape, pass } = await elsewhere();
    append('deliver', 1);
    expect((await scraped(60)).at(-1)).toBeGreaterThan(30_000);
    silence.isSilent = true;
    await pass(10);
    expect(await scrape()).toBeGreaterThan(30_000);
    await pass(10);
    expect(await scrape()).toBeNull();
    silence.isSilent = false;
    committed.deliver = 1;
    await pass(6);
    expect(await scrape()).toBe(0);
  });

  it('does not count records that retention has deleted', async () => {
    const { append, scraped, starts } = await elsewhere();
    await scraped(30);
    append('deliver', 3);
    starts.deliver = 3;
    expect((await scraped(60)).at(-1)).toBe(0);
  });

  it('is asked for while it is scraped, every minute too, and for five minutes after that', async () => {
    const { asked, scraped, pass } = await elsewhere(60);
    expect((await scraped(300)).slice(1)).toEqual([0, 0, 0, 0]);
    await pass(300);
    const before = asked.commits;
    await pass(300);
    expect(asked.commits).toBe(before);
  });

  it('is not asked for by a process that reads them all', async () => {
    const { lag, asked, pass } = await world();
    await pass(20);
    const before = asked.commits;
    expect(lag.othersWaitingMs()).toBe(0);
    await pass(60);
    expect(asked.commits).toBe(before);
  });
});
