/** Guarantee: every attempt leaves one line of JSON in the log, whatever text it contains. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../services/domain/outcome.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { attemptLine } from '../../services/sender/attempt-line.ts';
import { createLogger, infoLines } from '../../services/telemetry/logger.ts';

const AT = Date.UTC(2030, 0, 1);

const TASK: DeliveryTask = {
  ...{ deliveryId: randomUUID(), eventId: 'e-1', merchantId: 'm-1', endpointId: randomUUID() },
  ...{
    entityId: randomUUID(),
    subjectId: null,
    sequence: 1_700_000_000_000_001,
    type: 'KYC',
    subType: 'VERIFIED',
    apiVersion: '2.3.8',
    trigger: 'live',
  },
  ...{ attempt: 2, attemptsMax: 7, hop: 1, dueAt: AT - 4, occurredAt: AT, acceptedAt: AT - 3000 },
  body: Buffer.from('{}'),
};

function madeOf(task: DeliveryTask, outcome: Outcome, failureDetail: string | null, at = AT): never {
  const response = { status: 503, headers: [], body: Buffer.alloc(0), bodyTruncated: false };
  const attempted = {
    ...{ kind: 'attempted', delivery: task, endpointVersion: 3, startedAt: at, durationMs: 12.345, outcome },
    ...{
      failureCode: failureDetail === null ? null : 'http_5xx',
      failureDetail,
      response,
      signature: 'v1,x',
    },
  };
  return { kind: 'attempted', attempted, lateMs: 4.2 } as never;
}

function lineOf(task: DeliveryTask, outcome: Outcome, failureDetail: string | null): unknown {
  return JSON.parse(attemptLine(task, madeOf(task, outcome, failureDetail), AT));
}

test('the log line of a failed attempt says why it failed, how late it was and when the next one is due', () => {
  expect(lineOf(TASK, { kind: 'retry', attempt: 3, dueAt: AT + 731_000 } as Outcome, 'HTTP 503')).toEqual({
    ...{ delivery: TASK.deliveryId, event: 'e-1', endpoint: TASK.endpointId, endpoint_version: 3 },
    ...{ merchant: 'm-1', type: 'KYC', sub_type: 'VERIFIED', trigger: 'live' },
    subject: TASK.entityId,
    ...{ attempt: 2, attempts_max: 7, hop: 1, outcome: 'retry' },
    ...{ failure_code: 'http_5xx', failure_detail: 'HTTP 503', response_status: 503 },
    ...{ level: 30, time: '2030-01-01T00:00:00.000Z', msg: 'attempt' },
    ...{ duration_ms: 12.3, late_ms: 4, since_accepted_ms: 3012, next_at: '2030-01-01T00:12:11.000Z' },
  });
});

test('the log line of an attempt names what its event is about, and a transaction as such', () => {
  const transaction = { ...TASK, type: 'fiatToCrypto', subjectId: 't-1' } as const;
  expect(lineOf(transaction, { kind: 'delivered' }, null)).toMatchObject({
    ...{ subject: 't-1', transaction: 't-1' },
  });
  const wallet = lineOf({ ...TASK, type: 'walletCreated', subjectId: 'w "1"' }, { kind: 'delivered' }, null);
  expect(wallet).toMatchObject({ subject: 'w "1"' });
  expect(wallet).not.toHaveProperty('transaction');
});

test('the log line of an attempt keeps any text unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (eventId, detail) => {
      const line = lineOf({ ...TASK, eventId }, { kind: 'delivered' }, detail);
      expect(line).toMatchObject({ event: eventId, failure_detail: detail, next_at: null });
    }),
  );
});

test('the log line of an attempt is the one that the logger would write of its fields', () => {
  const text = fc.string({ unit: 'binary' });
  const outcomes = fc.oneof(
    fc.constant({ kind: 'delivered' as const }),
    fc.constant({ kind: 'exhausted' as const }),
    fc.record({ kind: fc.constant('retry' as const), dueAt: fc.integer({ min: 0, max: 4e12 }) }),
  );
  fc.assert(
    fc.property(
      text,
      text,
      text,
      fc.option(text),
      outcomes,
      (eventId, merchantId, subType, detail, outcome) => {
        const written: string[] = [];
        const log = createLogger('info', { write: (line) => void written.push(line) });
        const task = { ...TASK, eventId, merchantId, subType };
        const line = attemptLine(task, madeOf(task, outcome as Outcome, detail), AT);
        const { level: _level, time, msg, ...fields } = JSON.parse(line);
        log.info(fields, msg);
        expect(line).toBe(written.join('').replace(/"time":"[^"]*"/, `"time":"${time}"`));
      },
    ),
  );
});

test('the lines of attempts go where the logger writes, and nowhere when it writes none of that level', () => {
  const output = { write: () => {} };
  expect(infoLines(createLogger('info', output))).toBe(output);
  expect(infoLines(createLogger('warn', output))).toBeNull();
  expect(() => infoLines(createLogger('info', output).child({}))).toThrow('createLogger');
});
