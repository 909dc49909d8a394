/**
 * Guarantee: retries on Kafka follow the brokers' clocks. A machine whose clock is wrong makes its own retries and those of
 * other processes neither early nor late.
 */
import { describe, expect, it } from 'vitest';
import type { KafkaRecords } from '../../../../services/broker/kafka/registry/records.ts';
import { DelayedFeed } from '../../../../services/broker/kafka/streams/delayed-feed.ts';
import { dueTime, dueWindow } from '../../../../services/broker/kafka/time/due-time.ts';
import type { DeliveryTask } from '../../../../services/domain/task.ts';
import { BrokerTime } from '../../../../services/kafka-client/client/broker-time.ts';
import { Partition } from '../../../../services/kafka-client/consumer/partition.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { aTask } from '../../../support/records/broker-records.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const HOUR_MS = 3_600_000;
const LATENCY_MS = 2;
/** Of the estimate: the latency of an acknowledgement both ways, and whole milliseconds. */
const ERROR_MS = 2 * LATENCY_MS + 1;

/** A process and brokers whose clocks are ahead of its own by `aheadMs`. */
function bench(aheadMs: number) {
  const clock = new SimulatedClock();
  const lines: { readonly level: number; readonly msg: string }[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const time = new BrokerTime({ clock, log });
  const brokers = new Map([[1, aheadMs]]);
  const brokerNow = (broker = 1) => clock.now() + (brokers.get(broker) ?? 0);
  /** Writes a record and returns when it was appended. */
  const produce = (broker = 1, latencyMs = LATENCY_MS): number => {
    const sentAt = Math.floor(clock.now());
    clock.advance(latencyMs);
    const appendedAt = Math.floor(brokerNow(broker));
    clock.advance(latencyMs);
    time.acknowledged(broker, appendedAt, sentAt);
    return appendedAt;
  };
  return { clock, lines, time, brokers, brokerNow, produce };
}

const SKEWS = [0, HOUR_MS, -HOUR_MS];

describe('the brokers’ time', () => {
  it.each(SKEWS)('is known to within the latency, and never too late, when they are %d ms ahead', (ahead) => {
    const { clock, time, brokerNow, produce } = bench(ahead);
    expect(time.now()).toBe(Number.NEGATIVE_INFINITY);
    for (let round = 0; round < 20; round += 1) {
      produce(1, round % 7 === 0 ? 900 : LATENCY_MS);
      expect(time.now()).toBeLessThanOrEqual(brokerNow());
    }
    expect(brokerNow() - time.now()).toBeLessThanOrEqual(ERROR_MS);
    const at = clock.now() + 5000;
    expect(time.toClock(time.fromClock(at))).toBeGreaterThanOrEqual(at);
    expect(time.toClock(time.fromClock(at)) - at).toBeLessThanOrEqual(2 * ERROR_MS);
    expect([time.toClock(0), time.fromClock(0)]).toEqual([0, 0]);
  });

  it.each([HOUR_MS, -HOUR_MS])('is followed at once when their clocks are set by %d ms', (step) => {
    const { time, brokers, brokerNow, produce } = bench(0);
    produce();
    brokers.set(1, step);
    produce();
    expect(time.now()).toBeLessThanOrEqual(brokerNow());
    expect(brokerNow() - time.now()).toBeLessThanOrEqual(ERROR_MS);
  });

  it('is one that every broker has reached, and ignores brokers that are gone', () => {
    const { clock, time, brokers, brokerNow, produce } = bench(0);
    brokers.set(2, -400);
    produce(1);
    produce(2);
    produce(1);
    expect(time.now()).toBeLessThanOrEqual(brokerNow(2));
    for (let minute = 0; minute < 12; minute += 1) {
      clock.advance(60_000);
      produce(1);
    }
    expect(brokerNow(1) - time.now()).toBeLessThanOrEqual(ERROR_MS);
  });

  it('is not taken to be exact while no broker answers', () => {
    const { clock, time, brokers, brokerNow, produce } = bench(0);
    produce();
    clock.advance(HOUR_MS);
    // A clock that loses a tenth of a second in a thousand.
    brokers.set(1, -HOUR_MS / 10_000);
    expect(time.now()).toBeLessThanOrEqual(brokerNow());
  });

  it('is requested at the start, while no broker answers, and when a record comes from the future', () => {
    const { clock, time, brokerNow, brokers, produce } = bench(0);
    let asked = 0;
    time.keepKnown(() => {
      asked += 1;
    });
    expect(asked).toBe(1);
    clock.advance(10_000);
    expect(asked).toBeGreaterThan(3);
    produce();
    asked = 0;
    clock.advance(4 * 60_000);
    expect(asked).toBe(0);
    time.read(brokerNow());
    expect(asked).toBe(0);
    // The machine was suspended for an hour, and its monotonic clock stood still.
    brokers.set(1, HOUR_MS);
    time.read(brokerNow());
    expect(asked).toBe(1);
    produce();
    asked = 0;
    clock.advance(5 * 60_000 + 5000);
    expect(asked).toBeGreaterThan(0);
    time.close();
    asked = 0;
    clock.advance(HOUR_MS);
    expect(asked).toBe(0);
  });

  it.each([
    ['behind', HOUR_MS],
    ['ahead of', -HOUR_MS],
  ])('is logged once when this machine’s clock is %s it, and again when both agree', (side, ahead) => {
    const { clock, lines, time, brokers, produce } = bench(ahead);
    for (let round = 0; round < 5; round += 1) produce();
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringContaining(`this machine's clock is 3600 s ${side} the brokers'`),
    ]);
    expect(Math.abs(time.offsetMs - ahead)).toBeLessThanOrEqual(ERROR_MS);
    brokers.set(1, 0);
    clock.advance(1000);
    produce();
    produce();
    expect(lines).toHaveLength(2);
    expect(time.offsetMs).toBe(0);
  });

  it('is not called wrong because an acknowledgement took long', () => {
    const { lines, time, produce } = bench(0);
    produce(1, 5000);
    expect([time.offsetMs, lines.length]).toEqual([0, 0]);
  });
});

describe('delayed tasks', () => {
  const TIER = 66;
  const DELAY_MS = 66_000;

  function feedOf(skewMs: number) {
    const parts = bench(skewMs);
    const { clock, time } = parts;
    const tasks = new Map<number, DeliveryTask>();
    const feed = new DelayedFeed({
      records: { isKnown: () => true } as unknown as KafkaRecords,
      clock,
      time,
      decode: ({ offset }) => tasks.get(offset),
      closing: new AbortController().signal,
    });
    time.onGain = () => feed.onAvailable();
    const taken: { readonly task: DeliveryTask; readonly at: number; readonly brokerAt: number }[] = [];
    feed.onAvailable = () => {
      for (let item = feed.take(); item; item = feed.take())
        taken.push({ task: item.value, at: clock.now(), brokerAt: parts.brokerNow() });
    };
    const add = (appendedAt: number, task: DeliveryTask) => {
      const offset = tasks.size;
      tasks.set(offset, task);
      const partition = new Partition('retry', 0);
      const rest = { key: null, value: null, timestamp: appendedAt, headers: {}, bytes: 0 };
      const window = dueWindow(appendedAt, TIER, 1);
      feed.add({ partition, offset, ...rest }, dueTime(task, window), window, {
        isTrusted: true,
        done: () => {},
      });
      feed.onAvailable();
    };
    return { ...parts, add, taken };
  }

  it.each(SKEWS)('come when the delay is over, even when the brokers are %d ms ahead', (skew) => {
    const { clock, time, produce, add, taken } = feedOf(skew);
    produce();
    const failedAt = clock.now();
    const task = aTask({ attempt: 3, dueAt: time.fromClock(failedAt + DELAY_MS) });
    const appendedAt = produce();
    add(appendedAt, task);
    clock.advance(2 * DELAY_MS);
    expect(taken).toHaveLength(1);
    const [{ at, brokerAt, task: given } = { at: 0, brokerAt: 0, task }] = taken;
    expect(brokerAt).toBeGreaterThanOrEqual(appendedAt + DELAY_MS);
    expect(at - failedAt).toBeGreaterThanOrEqual(DELAY_MS);
    // Clocks may have drifted by 0.2 ms a second meanwhile.
    expect(at - failedAt).toBeLessThanOrEqual(DELAY_MS + 0.000_2 * DELAY_MS + 3 * ERROR_MS);
    expect(given.dueAt).toBeLessThanOrEqual(at);
    expect(at - given.dueAt).toBeLessThanOrEqual(3 * ERROR_MS);
  });

  it.each(SKEWS)('of an earlier process with a clock that was %d ms wrong come on time', (wrong) => {
    const { clock, produce, add, taken } = feedOf(0);
    const appendedAt = produce();
    add(appendedAt, aTask({ attempt: 3, dueAt: clock.now() + wrong + DELAY_MS }));
    clock.advance(DELAY_MS - 10);
    expect(taken).toHaveLength(0);
    clock.advance(60_100 + 10);
    expect(taken).toHaveLength(1);
    expect(taken[0]?.brokerAt).toBeGreaterThanOrEqual(appendedAt + DELAY_MS);
  });

  it('wait until the brokers’ time is known, and come at once if they are then due', () => {
    const { clock, brokerNow, produce, add, taken } = feedOf(-HOUR_MS);
    add(brokerNow() - DELAY_MS - 1000, aTask({ attempt: 3, dueAt: brokerNow() - 1000 }));
    add(brokerNow() - 1000, aTask({ attempt: 3, dueAt: brokerNow() + DELAY_MS - 1000 }));
    clock.advance(2000);
    expect(taken).toHaveLength(0);
    produce();
    expect(taken).toHaveLength(1);
    clock.advance(DELAY_MS);
    expect(taken).toHaveLength(2);
  });

  it('come as soon as the brokers’ clocks are known to be set forward', () => {
    const { clock, brokers, produce, add, taken } = feedOf(0);
    add(produce(), aTask({ attempt: 3 }));
    clock.advance(1000);
    brokers.set(1, HOUR_MS);
    produce();
    expect(taken).toHaveLength(1);
  });
});

describe('due times', () => {
  const window = dueWindow(1000, 3, 1);

  it('are the delay after the append, unless the task says later', () => {
    expect(dueTime({ attempt: 2, hop: 0, dueAt: 0 }, window)).toBe(4000);
    expect(dueTime({ attempt: 2, hop: 0, dueAt: 4005 }, window)).toBe(4005);
  });

  it('are bounded for retries and parked tasks, but not for a first attempt that was put off', () => {
    const dueAt = 1000 + HOUR_MS;
    expect(dueTime({ attempt: 2, hop: 0, dueAt }, window)).toBe(64_000);
    expect(dueTime({ attempt: 1, hop: 1, dueAt }, window)).toBe(64_000);
    expect(dueTime({ attempt: 1, hop: 0, dueAt }, window)).toBe(dueAt);
  });

  it('of tasks written under a smaller scale stay as they are', () => {
    const scaled = dueWindow(1000, 66, 100);
    expect(dueTime({ attempt: 3, hop: 0, dueAt: 0 }, scaled)).toBe(1660);
    expect(dueTime({ attempt: 3, hop: 0, dueAt: 67_000 }, scaled)).toBe(67_000);
  });
});
