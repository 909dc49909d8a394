/** Guarantee: every attempt leaves one line of JSON in the log, whatever text it contains. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../services/domain/outcome.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { attemptLine } from '../../services/sender/attempt-line.ts';
import { createLogger, withoutRedaction } from '../../services/telemetry/logger.ts';

const AT = Date.UTC(2030, 0, 1);

const TASK: DeliveryTask = {
  ...{ deliveryId: randomUUID(), eventId: 'e-1', merchantId: 'm-1', endpointId: randomUUID() },
  ...{ entityId: randomUUID(), type: 'KYC', subType: 'VERIFIED', apiVersion: '2.3.8', trigger: 'live' },
  ...{ attempt: 2, attemptsMax: 7, hop: 1, dueAt: AT - 4, occurredAt: AT, acceptedAt: AT - 3000 },
  body: Buffer.from('{}'),
};

function lineOf(task: DeliveryTask, outcome: Outcome, failureDetail: string | null): unknown {
  const response = { status: 503, headers: [], body: Buffer.alloc(0), bodyTruncated: false };
  const attempted = {
    ...{ kind: 'attempted', delivery: task, endpointVersion: 3, startedAt: AT, durationMs: 12.345, outcome },
    ...{
      failureCode: failureDetail === null ? null : 'http_5xx',
      failureDetail,
      response,
      signature: 'v1,x',
    },
  };
  const delivery = { kind: 'attempted', attempted, lateMs: 4.2 };
  const lines: string[] = [];
  const log = withoutRedaction(createLogger('info', { write: (line) => void lines.push(line) }));
  log.info(attemptLine(task, delivery as never), 'attempt');
  return JSON.parse(lines.join(''));
}

test('the log line of a failed attempt says why it failed, how late it was and when the next one is due', () => {
  expect(lineOf(TASK, { kind: 'retry', attempt: 3, dueAt: AT + 731_000 } as Outcome, 'HTTP 503')).toEqual({
    ...{ delivery: TASK.deliveryId, event: 'e-1', endpoint: TASK.endpointId, endpoint_version: 3 },
    ...{ merchant: 'm-1', type: 'KYC', sub_type: 'VERIFIED', trigger: 'live' },
    ...{ attempt: 2, attempts_max: 7, hop: 1, outcome: 'retry' },
    ...{ failure_code: 'http_5xx', failure_detail: 'HTTP 503', response_status: 503 },
    ...{ level: 30, time: expect.any(String), msg: 'attempt' },
    ...{ duration_ms: 12.3, late_ms: 4, since_accepted_ms: 3012, next_at: '2030-01-01T00:12:11.000Z' },
  });
});

test('the log line of an attempt keeps any text unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (eventId, detail) => {
      const line = lineOf({ ...TASK, eventId }, { kind: 'delivered' }, detail);
      expect(line).toMatchObject({ event: eventId, failure_detail: detail, next_at: null });
    }),
  );
});
