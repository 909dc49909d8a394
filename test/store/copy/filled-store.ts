import { createHash } from 'node:crypto';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { requestedDeliveryId } from '../../../services/domain/ids.ts';
import type { JournalEntry, SkipReason } from '../../../services/domain/journal.ts';
import type { AnswerToStore } from '../../../services/store/change.ts';
import type { Store } from '../../../services/store/store.ts';
import {
  bodyOf,
  cancelled,
  createEndpoint,
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  newEndpoint,
  OPERATOR,
  parked,
  requested,
  routed,
  START,
} from '../../support/records/journal-entries.ts';

/* A store with one of everything, in two parts, and what is recorded after it was copied. */

export const MERCHANTS = ['a-merchant', 'b-merchant'] as const;
const [MERCHANT, OTHER] = MERCHANTS;
/** Endpoints; `steady` only fails, and nobody changes it; the last one's id is no UUID. */
export const ENDPOINTS = {
  good: '00000000-0000-4000-8000-000000000001',
  moved: '00000000-0000-4000-8000-000000000002',
  failing: '00000000-0000-4000-8000-000000000003',
  deleted: '00000000-0000-4000-8000-000000000004',
  legacy: '00000000-0000-5000-8000-000000000005',
  late: '00000000-0000-4000-8000-000000000006',
  steady: '00000000-0000-4000-8000-000000000007',
  odd: 'an endpoint ü',
} as const;
const { good, moved, failing, deleted, legacy, late, steady, odd } = ENDPOINTS;
export const ENTITIES = {
  early: 'aaaaaaaa-0000-4000-8000-000000000001',
  late: 'aaaaaaaa-0000-4000-8000-000000000002',
};
const REPLAY = '11111111-0000-4000-8000-000000000001';
const OPTIONS = { at: START, actor: OPERATOR };

const event = (n: number, change: Partial<DomainEvent> = {}) => eventNumber(MERCHANT, n, change);

function skipped(of: DomainEvent, endpointId: string, reason: SkipReason): JournalEntry {
  return { ...routed(of, []), trace: [{ endpointId, verdict: reason }] };
}

/** Returns the entry of a delivery that was asked for, and its head. */
function resent(
  of: DomainEvent,
  endpointId: string,
  trigger: 'test' | 'manual' | 'replay',
  body: Uint8Array,
) {
  const deliveryId = requestedDeliveryId(of.eventId, endpointId, trigger);
  const asked = head(of, endpointId, {
    ...{ trigger, deliveryId, attemptsMax: trigger === 'replay' ? 7 : 1 },
    acceptedAt: of.occurredAt + 30 * HOUR_MS,
  });
  return { asked, entry: requested(asked, body) };
}

/** Endpoint changes are `at` an hour of the journal's time. */
const at = (hours: number) => ({ at: START + hours * HOUR_MS, actor: OPERATOR });

async function answerFor(store: Store, scope: string): Promise<AnswerToStore> {
  const claim = await store.answers.claim(scope, 0);
  if (claim.kind !== 'claimed') throw new Error(`${scope} is ${claim.kind}`);
  const sealed = JSON.stringify({ keyId: 'k1', ciphertext: 'an answer' });
  const expiresAt = START + 1000 * HOUR_MS;
  return { scope, token: claim.token, requestHash: 'hash', status: 201, sealed, expiresAt };
}

export async function manageBefore(store: Store): Promise<void> {
  for (const merchantId of MERCHANTS)
    await store.merchants.create({ merchantId, name: `${merchantId} ü`, senderAccountDetails: true });
  for (const uuid of [good, moved, failing, deleted, steady]) await createEndpoint(store, MERCHANT, uuid);
  const answer = await answerFor(store, 'key-1 POST /endpoints');
  await store.endpoints.create(newEndpoint(OTHER, odd, { url: 'https://odd.example.com' }), {
    ...{ ...OPTIONS, quota: 100, answer },
  });
  const secret = { sealed: { keyId: 'k2', ciphertext: 'legacy' }, hint: '…leg' };
  await store.endpoints.setLegacy(MERCHANT, legacy, { url: 'https://legacy.example.com', secret }, OPTIONS);
  for (const n of [1, 2]) await store.keys.create(keyOf(n));
  await store.keys.revoke('key-2', START + 5);
  await store.endpoints.remove(MERCHANT, deleted, at(1));
  const first = await store.outbox.pending(3);
  await store.outbox.published(first.map(({ outboxId }) => outboxId));
  await store.erasures.order({ entityId: ENTITIES.early, merchantId: null }, at(2));
}

const keyOf = (n: number) => ({
  ...{ keyId: `key-${n}`, kind: 'merchant' as const, merchantId: MERCHANT },
  hash: createHash('sha256').update(`${n}`).digest(),
  ...{ hint: 'sk_…', name: n === 1 ? 'shop' : null, createdAt: START, revokedAt: null, lastUsedAt: null },
});

/** The journal's first part: every kind of entry, and ids and texts of every kind. */
export function entriesBefore(): JournalEntry[] {
  const [live, gone, bad, waits, off, odder] = [0, 1, 2, 3, 4, 5].map((n) => event(n)) as DomainEvent[];
  const own = resent(live as DomainEvent, good, 'test', new Uint8Array([123, 0, 255, 125]));
  const again = resent(bad as DomainEvent, failing, 'manual', bodyOf(bad as DomainEvent));
  const unknown = resent(event(900), good, 'manual', Buffer.from('its event is not in the log'));
  const strange = { ...event(6), eventId: 'no uuid\0', merchantId: OTHER, subType: 'SUB\0TYPE' };
  const long = Buffer.alloc(16 * 1024, 'x');
  const headers: [string, string][] = [
    ['x-nul', 'a\0b'],
    ['x-twice', 'ü'],
  ];
  const erased = event(7, { entityId: ENTITIES.early, occurredAt: START + HOUR_MS });
  return [
    routed(live as DomainEvent, [good, moved], [failing]),
    delivered(head(live as DomainEvent, good)),
    failed(head(live as DomainEvent, moved), 'http_5xx', {
      ...{
        failureDetail: 'NUL \0 in it',
        response: { status: 503, headers, body: long, bodyTruncated: true },
      },
    }),
    ...[own.entry, delivered(own.asked), unknown.entry],
    routed(gone as DomainEvent, [deleted, failing]),
    ...[
      failed(head(gone as DomainEvent, failing), 'endpoint_gone'),
      cancelled(head(gone as DomainEvent, deleted)),
    ],
    routed(bad as DomainEvent, [failing]),
    failed(head(bad as DomainEvent, failing, { attempt: 7 })),
    again.entry,
    ...[routed(waits as DomainEvent, [good, legacy, steady]), failed(head(waits as DomainEvent, steady))],
    parked(head(waits as DomainEvent, good), START + 90 * HOUR_MS),
    skipped(off as DomainEvent, good, 'endpoint_disabled'),
    routed(odder as DomainEvent, []),
    // Its routing comes later: the attempt makes the delivery.
    failed(head(event(8), good)),
    routed(strange, [odd]),
    delivered(head(strange, odd), { response: null }),
    ...[routed(erased, [good]), delivered(head(erased, good))],
    // Routed again, with another endpoint, and not with the first.
    ...[routed(event(9), [good]), routed(event(9), [moved])],
  ];
}

export async function manageAfter(store: Store): Promise<void> {
  await createEndpoint(store, MERCHANT, late, {}, START + 20 * HOUR_MS);
  await store.endpoints.update(MERCHANT, good, { description: 'changed' }, at(21));
  await store.endpoints.update(MERCHANT, moved, { url: 'https://moved.example.com' }, at(22));
  await store.keys.create(keyOf(3));
  await store.keys.revoke('key-1', START + 6);
  await store.merchants.update(OTHER, { state: 'paused' });
  await store.merchants.create({ merchantId: 'c-merchant', name: 'since', senderAccountDetails: false });
  const { erasureId } = (await store.erasures.unfinished())[0] ?? { erasureId: 0 };
  const lateId = await store.erasures.order({ entityId: ENTITIES.late, merchantId: MERCHANT }, at(300));
  for (const id of [erasureId, lateId]) {
    for (let after: string | null | undefined; after !== null; )
      after = (await store.erasures.step(id, after)).next;
    await store.erasures.finish(id, { events: 1, deliveries: 1 }, at(301));
  }
  const scope = {
    merchantId: MERCHANT,
    endpointId: good,
    only: 'missing',
    types: null,
    eventIds: null,
  } as const;
  const times = { since: START, until: START + 1000 * HOUR_MS, count: 2 };
  await store.replays.create({ replayId: REPLAY, ...scope, ...times }, at(23));
  const { next: place } = await store.replays.missed({ ...scope, ...times }, null, 1);
  await store.replays.advance(REPLAY, { from: null, place, published: 1, leftOut: 0 });
}

/** The journal's second part, which changes what the first one has made. */
export function entriesAfter(): JournalEntry[] {
  const [live, , bad, waits, off] = [0, 1, 2, 3, 4].map((n) => event(n)) as DomainEvent[];
  const again = resent(bad as DomainEvent, failing, 'manual', bodyOf(bad as DomainEvent));
  const replay = resent(off as DomainEvent, good, 'replay', bodyOf(off as DomainEvent));
  const erased = event(10, { entityId: ENTITIES.late });
  return [
    ...[delivered(head(live as DomainEvent, moved, { attempt: 2 })), failed(again.asked)],
    delivered(head(waits as DomainEvent, good)),
    ...[replay.entry, delivered(replay.asked)],
    routed(event(8), [good]),
    delivered(head(event(8), good, { attempt: 2 })),
    ...[routed(erased, [good]), delivered(head(erased, good))],
    routed(event(11), [good, failing, steady]),
    ...[good, failing, steady].map((endpointId) => failed(head(event(11), endpointId))),
    routed(event(9), [good, moved]),
    failed(head(event(9), moved), 'dns_error'),
  ];
}

/** The journal of the service that runs on the copy. */
export function entriesLater(): JournalEntry[] {
  return [
    delivered(head(event(11), good, { attempt: 2 })),
    ...[2, 3, 4, 5, 6, 7].map((attempt) =>
      failed(head(event(11), steady, { attempt }), 'http_5xx', { startedAt: START + 40 * HOUR_MS }),
    ),
    ...[routed(event(12), [good, late]), delivered(head(event(12), late))],
    skipped(event(13), failing, 'endpoint_auto_disabled'),
  ];
}
