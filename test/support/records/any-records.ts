/** Records of hookrail's own streams with any values that their schemas allow. */
import fc from 'fast-check';
import { type DomainEvent, eventAsText } from '../../../services/domain/event.ts';
import type { DeliveryHead, JournalEntry } from '../../../services/domain/journal.ts';
import { type DeliveryTask, PARKED_REASONS } from '../../../services/domain/task.ts';

export const text = fc.string({ unit: 'grapheme', maxLength: 40 });
export const time = fc.double({ min: 0, max: 4e12, noNaN: true }).map((ms) => ms + 0);
export const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
export const small = fc.integer({ min: 0, max: 1000 });
export const or = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const headFields = {
  deliveryId: text,
  eventId: text,
  merchantId: text,
  endpointId: text,
  entityId: text,
  subjectId: or(text),
  sequence: fc.integer({ min: 0, max: 2 ** 53 - 1 }),
  type: text,
  subType: text,
  apiVersion: text,
  trigger: text,
  attempt: small,
  attemptsMax: small,
  occurredAt: time,
  acceptedAt: time,
};
const head = fc.record(headFields) as unknown as fc.Arbitrary<DeliveryHead>;
export const task = fc.record(
  {
    ...{ ...headFields, dueAt: time, hop: small, body: bytes, traceparent: text, linkedSpan: text },
    parked: fc.record({ reason: fc.constantFrom(...PARKED_REASONS), since: time }),
  },
  { requiredKeys: [...(Object.keys(headFields) as (keyof typeof headFields)[]), 'dueAt', 'hop', 'body'] },
) as unknown as fc.Arbitrary<DeliveryTask>;
export const event = fc.record({
  eventId: text,
  merchantId: text,
  entityId: text,
  entityKind: fc.constant('USER'),
  type: text,
  subType: text,
  occurredAt: time,
  simulated: fc.boolean(),
  data: fc.dictionary(text, fc.jsonValue()).map((data) => JSON.parse(JSON.stringify(data))),
  publishedBy: fc.option(fc.oneof(fc.uuid(), text), { nil: undefined }),
  sequence: fc.option(fc.integer({ min: 0, max: 2 ** 53 - 1 }), { nil: undefined }),
}) as unknown as fc.Arbitrary<DomainEvent>;
const response = fc.record({
  status: small,
  headers: fc.array(fc.tuple(text, text)),
  body: bytes,
  bodyTruncated: fc.boolean(),
});
export const journal = fc.oneof(
  fc.record({
    kind: fc.constant('routed'),
    at: time,
    acceptedAt: time,
    event: event.map(eventAsText),
    subjectId: or(text),
    bodies: fc.array(fc.record({ apiVersion: text, body: bytes }), { maxLength: 2 }),
    trace: fc.array(
      fc.oneof(
        fc.record({
          endpointId: text,
          verdict: fc.constant('delivered_to'),
          deliveryId: text,
          apiVersion: text,
        }),
        fc.record({ endpointId: text, verdict: fc.constant('filtered') }),
      ),
    ),
  }),
  fc.record({ kind: fc.constant('requested'), at: time, delivery: head, body: bytes }),
  fc.record({
    kind: fc.constant('attempted'),
    delivery: head,
    endpointVersion: small,
    startedAt: time,
    durationMs: time,
    outcome: fc.oneof(
      fc.record({ kind: fc.constant('retry'), dueAt: time }),
      fc.record({ kind: fc.constant('delivered') }),
    ),
    failureCode: or(text),
    failureDetail: or(text),
    response: or(response),
    signature: text,
  }),
  fc.record({ kind: fc.constant('cancelled'), at: time, delivery: head, reason: text }),
  fc.record({
    kind: fc.constant('parked'),
    at: time,
    delivery: head,
    reason: text,
    // Without an end it is null, which is written as 0.
    until: fc.oneof(
      fc.constant(null),
      time.filter((at) => at !== 0),
    ),
  }),
) as unknown as fc.Arbitrary<JournalEntry>;
