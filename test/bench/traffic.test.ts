/** Requests and records per delivery. */
import { describe, expect, test } from 'vitest';
import { kindOf, perDelivery, trafficSince } from '../../scripts/bench/kafka/traffic.ts';

describe('the traffic between a service and its brokers', () => {
  test.each([
    ['bench7.payments.events', 'events'],
    ['bench7.deliver', 'deliver'],
    ['bench7.retry.3s', 'retry'],
    ['bench7.retry.46658s', 'retry'],
    ['bench7.journal', 'journal'],
  ])('is counted for %s as %s', (topic, kind) => {
    expect(kindOf(topic, 'bench7.')).toBe(kind);
  });

  test('is what was added in all slices, divided by the deliveries', () => {
    const before = { requests: { Fetch: 100 }, produced: { events: 10, dead: 3 }, fetched: {} };
    const after = {
      requests: { Fetch: 130, Produce: 5 },
      produced: { events: 60, dead: 3 },
      fetched: { events: 50 },
    };
    const slice = trafficSince(before, after);
    expect(slice).toEqual({
      requests: { Fetch: 30, Produce: 5 },
      produced: { events: 50 },
      fetched: { events: 50 },
    });
    expect(perDelivery([slice, slice], 100)).toEqual({
      requests: { Fetch: 0.6, Produce: 0.1 },
      produced: { events: 1 },
      fetched: { events: 1 },
    });
  });
});
