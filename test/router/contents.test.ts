/** A router judges an event's content like the API, so that what comes from Kafka meets the same rules. */
import { expect, test } from 'vitest';
import { Directory } from '../../services/domain/directory.ts';
import type { DomainEvent, EventType } from '../../services/domain/event.ts';
import { fanOut } from '../../services/router/fan-out.ts';
import { merchantChange } from '../support/records/broker-records.ts';
import { eventOf } from '../support/records/events.ts';

const MERCHANT = 'acme';
const NOW = Date.UTC(2026, 0, 1);

function routed(change: Partial<DomainEvent>) {
  const event = { ...eventOf(MERCHANT, 'contents'), ...change };
  const directory = new Directory();
  directory.apply(merchantChange(event.merchantId, 1));
  const received = { bytes: new Uint8Array(), acceptedAt: NOW, decoded: { ok: true as const, event } };
  return fanOut(received, { directory, acceptsSimulated: true, now: NOW });
}

const { data } = eventOf(MERCHANT, 'contents');

/** An event that says two things at once: its subType, and the status of another one. */
function contradictory(type: EventType, subType: string, status: string): DomainEvent {
  const event = eventOf(MERCHANT, 'contents', { type, subType });
  return { ...event, data: { ...event.data, status } };
}

test.each<[string, Partial<DomainEvent>, RegExp]>([
  ['U+0000 in the merchant', { merchantId: 'a\u0000b' }, /^\/header\/merchantId must not have .*U\+0000/],
  ['U+0000 in a text', { data: { ...data, chain: 'a\u0000' } }, /^\/data\/chain /],
  ['seconds', { occurredAt: 1_764_000_000 }, /looks like seconds$/],
  ['microseconds', { occurredAt: 1_764_000_000_000_000 }, /looks like microseconds$/],
  ['two days ahead', { occurredAt: NOW + 2 * 86_400_000 }, /^\/header\/occurredAt [^;]*$/],
  [
    'another status',
    { data: { ...data, status: 'REFUNDED' } },
    /^\/data\/status must not be REFUNDED on SUCCESS/,
  ],
  [
    'the status UNBLOCKED on BLOCKED',
    contradictory('entityStatusUpdate', 'BLOCKED', 'UNBLOCKED'),
    /^\/data\/status must not be UNBLOCKED on BLOCKED: that is a value of UNBLOCKED$/,
  ],
  [
    'the status KYC_NEEDED on FULL_USER',
    contradictory('KYC', 'FULL_USER', 'KYC_NEEDED'),
    /^\/data\/status must not be KYC_NEEDED on FULL_USER: that is a value of KYC_NEEDED$/,
  ],
])('the router quarantines an event with %s, and names the place', (_what, change, detail) => {
  const result = routed(change);
  expect(result).toMatchObject({ kind: 'quarantined', record: { reason: 'schema_violation' } });
  expect(result.kind === 'quarantined' && result.record.detail).toMatch(detail);
});

test.each<[string, Partial<DomainEvent>]>([
  ['23 hours ahead', { occurredAt: NOW + 23 * 3_600_000 }],
  ['the first of 2009', { occurredAt: Date.UTC(2009, 0, 1) }],
  ['a status that nobody knows', { data: { ...data, status: 'NEW_STATUS' } }],
])('the router routes an event with %s', (_what, change) => {
  expect(routed(change).kind).toBe('routed');
});
