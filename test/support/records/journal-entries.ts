import type { FailureCode } from '../../../services/domain/attempt.ts';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import { type DomainEvent, eventAsText } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import type {
  Attempted,
  Cancelled,
  DeliveryHead,
  JournalEntry,
  Parked,
  Requested,
  Routed,
} from '../../../services/domain/journal.ts';
import type { CancelReason } from '../../../services/domain/outcome.ts';
import type { ParkedReason } from '../../../services/domain/task.ts';
import type { NewEndpoint, Store } from '../../../services/store/store.ts';
import { eventOf } from './events.ts';

export const HOUR_MS = 3_600_000;
/** The start of these entries' time. */
export const START = Date.UTC(2030, 0, 1);
export const OPERATOR = { kind: 'operator' } as const;

/** Returns an endpoint ready to be created; its URL is derived from `uuid`. */
export function newEndpoint(
  merchantId: string,
  uuid: string,
  change: Partial<NewEndpoint> = {},
): NewEndpoint {
  return {
    uuid,
    merchantId,
    url: `https://${uuid}.example.com/hooks`,
    description: '',
    subscribedEvents: null,
    apiVersion: '2.3.8',
    secret: { keyId: 'k1', ciphertext: `sealed-for-${uuid}` },
    secretHint: '…abcd',
    legacy: false,
    ...change,
  };
}

/** Creates an endpoint and returns its record. */
export async function createEndpoint(
  store: Pick<Store, 'endpoints'>,
  merchantId: string,
  uuid: string,
  change: Partial<NewEndpoint> = {},
  at = START,
) {
  const created = await store.endpoints.create(newEndpoint(merchantId, uuid, change), {
    at,
    actor: OPERATOR,
    quota: 100,
  });
  if (created.kind !== 'ok') throw new Error(`not created: ${created.kind}`);
  return created;
}

export function bodyOf(event: DomainEvent): Uint8Array {
  return new TextEncoder().encode(
    `{"uuid":"${event.entityId}","type":"${event.type}","é":"${event.eventId}"}`,
  );
}

/** Returns the entry of an event routed to `endpointIds` and filtered at `skipped`. */
export function routed(
  event: DomainEvent,
  endpointIds: readonly string[],
  skipped: readonly string[] = [],
): Routed {
  return {
    kind: 'routed',
    at: event.occurredAt + 5.5,
    acceptedAt: event.occurredAt + 2.25,
    event: eventAsText(event),
    subjectId: subjectIdOf(event),
    bodies: endpointIds.length > 0 ? [{ apiVersion: '2.3.8', body: bodyOf(event) }] : [],
    trace: [
      ...endpointIds.map((endpointId) => ({
        endpointId,
        verdict: 'delivered_to' as const,
        deliveryId: deliveryId(event.eventId, endpointId),
        apiVersion: '2.3.8' as const,
      })),
      ...skipped.map((endpointId) => ({ endpointId, verdict: 'filtered' as const })),
    ],
  };
}

export function head(
  event: DomainEvent,
  endpointId: string,
  change: Partial<DeliveryHead> = {},
): DeliveryHead {
  return {
    deliveryId: deliveryId(event.eventId, endpointId),
    eventId: event.eventId,
    merchantId: event.merchantId,
    endpointId,
    entityId: event.entityId,
    subjectId: subjectIdOf(event),
    sequence: event.sequence ?? 0,
    type: event.type,
    subType: event.subType,
    apiVersion: '2.3.8',
    trigger: 'live',
    attempt: 1,
    attemptsMax: 7,
    occurredAt: event.occurredAt,
    acceptedAt: event.occurredAt + 2.25,
    ...change,
  };
}

type AttemptChange = Partial<Omit<Attempted, 'kind' | 'delivery'>>;

/** Returns the entry of an acknowledged attempt. */
export function delivered(delivery: DeliveryHead, change: AttemptChange = {}): Attempted {
  return {
    kind: 'attempted',
    delivery,
    endpointVersion: 1,
    startedAt: delivery.acceptedAt + 10.125,
    durationMs: 20.5,
    outcome: { kind: 'delivered' },
    failureCode: null,
    failureDetail: null,
    response: {
      status: 200,
      headers: [
        ['content-type', 'text/plain'],
        ['x-twice', 'a'],
        ['x-twice', 'b'],
      ],
      body: new Uint8Array([111, 107, 0, 255]),
      bodyTruncated: false,
    },
    signature: 'v1,c2lnbmF0dXJl',
    ...change,
  };
}

/** Returns the entry of a failed attempt, which is the last when `attempt` is `attemptsMax`. */
export function failed(
  delivery: DeliveryHead,
  code: FailureCode = 'http_5xx',
  change: AttemptChange = {},
): Attempted {
  const startedAt = change.startedAt ?? delivery.acceptedAt + delivery.attempt * 1000;
  const isLast = delivery.attempt >= delivery.attemptsMax;
  return {
    ...delivered(delivery),
    startedAt,
    outcome:
      code === 'endpoint_gone'
        ? { kind: 'refused' }
        : isLast
          ? { kind: 'exhausted' }
          : { kind: 'retry', dueAt: startedAt + 3000 },
    failureCode: code,
    failureDetail: `it was ${code}`,
    response: null,
    ...change,
  };
}

export function parked(
  delivery: DeliveryHead,
  until: number,
  reason: ParkedReason = 'endpoint_full',
): Parked {
  return { kind: 'parked', at: delivery.acceptedAt + 40_000, delivery, reason, until };
}

export function cancelled(delivery: DeliveryHead, reason: CancelReason = 'endpoint_deleted'): Cancelled {
  return { kind: 'cancelled', at: delivery.acceptedAt + 50_000, delivery, reason };
}

export function requested(delivery: DeliveryHead, body: Uint8Array, at = delivery.acceptedAt): Requested {
  return { kind: 'requested', at, delivery, body };
}

/** Returns a function that feeds a store's journal: each call is the next batch of one partition. */
export function journalOf(store: Pick<Store, 'log'>, partition = 'journal-0') {
  let last = 0;
  return async (...entries: readonly JournalEntry[]): Promise<void> => {
    const first = last + 1;
    last += entries.length;
    await store.log.applyJournal([{ partition, first, last, entries }]);
  };
}

/** Returns the n-th event of a merchant, an hour after the previous one. */
export function eventNumber(merchantId: string, n: number, change: Partial<DomainEvent> = {}): DomainEvent {
  return eventOf(merchantId, `event ${n}`, { occurredAt: START + n * HOUR_MS, ...change });
}
