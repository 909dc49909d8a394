/** The verdict on an endpoint: whose fault it is that webhooks do not arrive. */
import { describe, expect, test } from 'vitest';
import { FAILURE_CODES } from '../../services/domain/attempt.ts';
import {
  type EndpointFacts,
  judgeEndpoint,
  type Waiting,
} from '../../services/domain/failures/endpoint-verdict.ts';
import { CODE_SIGNS } from '../../services/domain/failures/failure-codes.ts';
import { PARKED_REASONS } from '../../services/domain/task.ts';

const [EARLY, LATE, NEXT] = [1_000, 2_000, 3_000].map((ms) => Date.parse('2026-01-01T00:00:00Z') + ms) as [
  number,
  number,
  number,
];
const FINE: EndpointFacts = {
  ...{ status: 'active', offSince: null, offReason: null, failureCount: 0 },
  ...{ lastSuccessAt: EARLY, lastFailureAt: null, lastFailure: null, provedAt: null },
  ...{ waiting: [], hasMore: false },
};
const ANSWERED_500 = { code: 'http_5xx', responseStatus: 500 } as const;
const FAILING: EndpointFacts = {
  ...FINE,
  ...{ failureCount: 3, lastFailureAt: LATE, lastFailure: ANSWERED_500 },
};
const OWED: Waiting = {
  parkedReason: null,
  nextAttemptAt: NEXT,
  lastAttemptAt: LATE,
  lastFailure: ANSWERED_500,
};
const judged = (facts: Partial<EndpointFacts>, from = FINE) => judgeEndpoint({ ...from, ...facts });

describe('the verdict on an endpoint', () => {
  test('is healthy after a success, and idle before anything was sent', () => {
    expect(judged({})).toMatchObject({ side: 'healthy', says: 'Last success at 2026-01-01T00:00:01.000Z.' });
    expect(judged({ lastSuccessAt: null })).toMatchObject({ side: 'idle' });
  });

  test('names the answer of the server, the last success and what waits', () => {
    expect(judged({ waiting: [OWED, OWED] }, FAILING)).toEqual({
      side: 'yours',
      says:
        'HTTP 500 from your server, no success since 2026-01-01T00:00:01.000Z. ' +
        '2 deliveries wait, the next attempt is due at 2026-01-01T00:00:03.000Z.',
      remedy: CODE_SIGNS.http_5xx.remedy,
    });
    expect(judged({ waiting: [OWED], hasMore: true }, FAILING).says).toContain('At least 1 delivery waits');
    expect(judged({ lastSuccessAt: null }, FAILING).says).toContain('no success so far');
  });

  test.each([
    ['dns_error', 'network', 'DNS'],
    ['connect_refused', 'network', 'refused'],
    ['connect_timeout', 'network', 'No connection in time'],
    ['tls_error', 'network', 'TLS'],
    ['response_timeout', 'yours', 'No response from your server in time'],
  ] as const)('says whose fault %s is', (code, side, says) => {
    const found = judged({ lastFailure: { code, responseStatus: null } }, FAILING);
    expect([found.side, found.says]).toEqual([side, expect.stringContaining(says)]);
  });

  test.each(FAILURE_CODES)('of a failure with %s has a remedy', (code) => {
    expect(judged({ lastFailure: { code, responseStatus: null } }, FAILING).remedy).toBeTruthy();
  });

  test('is healthy again when a test or a resend was answered after the last failure, not before it', () => {
    expect(judged({ provedAt: NEXT, waiting: [OWED] }, FAILING)).toMatchObject({
      side: 'healthy',
      says: expect.stringContaining(
        'answered a test or a resend at 2026-01-01T00:00:03.000Z. 1 delivery waits',
      ),
    });
    expect(judged({ provedAt: EARLY }, FAILING).side).toBe('yours');
  });

  test('says that some fail while others arrive', () => {
    expect(judged({ waiting: [OWED] })).toMatchObject({
      side: 'yours',
      says: 'HTTP 500 from your server, of 1 delivery; others arrive.',
    });
    expect(judged({ waiting: [OWED], lastSuccessAt: NEXT }).side).toBe('healthy');
  });

  test.each(PARKED_REASONS)('says whose fault it is that deliveries wait with %s', (parkedReason) => {
    const ofReceiver = ['endpoint_full', 'rate_limited_here', 'origin_connections'];
    const side = ofReceiver.includes(parkedReason) ? 'yours' : 'ours';
    const waiting = [{ ...OWED, parkedReason, lastAttemptAt: null, lastFailure: null }];
    expect(judged({ waiting }).side).toBe(side);
  });

  test('is of the service while it holds deliveries back, also of an endpoint that failed before', () => {
    const waiting = [{ ...OWED, parkedReason: 'merchant_paused' as const }];
    expect(judged({ waiting }, FAILING)).toMatchObject({
      side: 'ours',
      says: expect.stringContaining('The operator has put your deliveries on hold. 1 delivery waits'),
    });
  });

  test('tells an endpoint that its merchant disabled from one that hookrail did', () => {
    expect(judged({ status: 'disabled', offSince: LATE })).toMatchObject({ side: 'off' });
    const auto = { status: 'auto_disabled', offSince: LATE } as const;
    expect(judged({ ...auto, offReason: 'gone' }).says).toContain('answered 410');
    const refused = { code: 'connect_refused', responseStatus: null } as const;
    expect(judged({ ...auto, offReason: 'consecutive_failures', lastFailure: refused })).toMatchObject({
      side: 'network',
      says: expect.stringContaining('the connection is refused'),
    });
  });
});
