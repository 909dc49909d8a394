/** Expectations are met by deliveries that were seen, in time and at every endpoint, and by nothing less. */
import { expect, test } from 'vitest';
import type { EndpointName } from '../../../simulator/client/endpoint-names.ts';
import type { Watched, WatchedDelivery } from '../../../simulator/client/watch-news.ts';
import { judge } from '../../../simulator/scenario/expectations.ts';
import type { Expectation } from '../../../simulator/scenario/scenario.ts';

const checkout: EndpointName = {
  uuid: 'e',
  description: 'checkout',
  url: 'https://a.com/',
  apiVersion: '2.3.8',
  label: 'checkout',
  isOnly: false,
};

const SENT_AT = Date.parse('2030-01-31T12:00:00Z');

function delivery(status: string, endedAfterMs: number): WatchedDelivery {
  const attempt = {
    number: 1,
    started_at: new Date(SENT_AT + endedAfterMs - 5).toISOString(),
    duration_ms: 5,
    response_status: 200,
    failure_code: null,
    failure_detail: null,
    next_attempt_at: null,
  };
  return { status, endpoint: checkout, attempts: [attempt] } as unknown as WatchedDelivery;
}

function seen(...deliveries: (WatchedDelivery | null)[]): Watched {
  const entries = deliveries.map((item, i) => [String(i), item] as const);
  const skipped = [{ endpoint: checkout, verdict: 'filtered' }];
  return { step: 'done', eventId: 'e', sentAt: SENT_AT, routed: true, deliveries: new Map(entries), skipped };
}

const met = (status: Expectation['status'], watched: Watched[], withinMs = 1000) =>
  judge([{ step: 'done', status, withinMs }], watched)[0]?.met;

test('the expectation "delivered" needs every endpoint, in time', () => {
  expect(met('delivered', [seen(delivery('delivered', 900))])).toBe(true);
  expect(met('delivered', [seen(delivery('delivered', 1100))])).toBe(false);
  expect(met('delivered', [seen(delivery('delivered', 10), delivery('failed', 10))])).toBe(false);
  expect(met('delivered', [seen(delivery('delivered', 10), null)])).toBe(false);
  expect(met('delivered', [seen()])).toBe(false);
});

test('the expectations "failed" and "cancelled" need one endpoint', () => {
  expect(met('failed', [seen(delivery('delivered', 10), delivery('failed', 10))])).toBe(true);
  expect(met('cancelled', [seen(delivery('delivered', 10))])).toBe(false);
});

test('the expectation "skipped" needs that no endpoint got the event', () => {
  expect(met('skipped', [seen()])).toBe(true);
  expect(met('skipped', [seen(delivery('delivered', 10))])).toBe(false);
});

test('an event that was not sent or not routed meets no expectation', () => {
  expect(met('skipped', [])).toBe(false);
  expect(met('skipped', [{ ...seen(), routed: false }])).toBe(false);
});
