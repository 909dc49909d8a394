import { FINAL } from '../../client/delivery-status.ts';
import { decodeEventJson, eventToJson } from '../../services/codec/event-json.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { EVENT, pageOf } from '../client/answer-shape.ts';
import { type ApiClient, bodyOf } from '../client/api-client.ts';
import { type EventAnswer, MerchantApi } from '../client/merchant-api.ts';
import { type EventListed, itemsOf } from '../runs/log-of-run.ts';
import { dataOfBody } from './event-of-body.ts';
import type { JourneyLine } from './journey-file.ts';
import { redacted } from './redact.ts';

/** An event of the log with its data. */
export interface Recorded {
  readonly acceptedAt: number;
  readonly event: DomainEvent;
  readonly endpoints: JourneyLine['endpoints'];
}

export interface Wanted {
  /** RFC 3339. */
  readonly since?: string | undefined;
  readonly entity?: string | undefined;
}

const PAGE_ITEMS = 100;

/** Lists the events that are wanted, newest first, until `isEnough`. */
export function listEvents(
  client: ApiClient,
  { since, entity }: Wanted,
  isEnough: () => boolean,
): AsyncGenerator<EventListed> {
  return itemsOf<EventListed>(
    (cursor) =>
      bodyOf(
        client.rest.GET('/merchant/events', {
          params: {
            query: {
              limit: PAGE_ITEMS,
              ...(since === undefined ? {} : { since }),
              ...(entity === undefined ? {} : { entity_uuid: entity }),
              ...(cursor === undefined ? {} : { cursor }),
            },
          },
        }),
        pageOf(EVENT),
      ),
    isEnough,
  );
}

/** Reads an event with its body and what became of it; undefined where the body is not kept, or has no event's form. */
export async function readRecorded(
  client: ApiClient,
  listed: Pick<EventListed, 'event_uuid' | 'created_at'>,
  merchantId: string,
): Promise<Recorded | undefined> {
  const detail = await new MerchantApi(client).event(listed.event_uuid);
  const event = eventOf(detail, merchantId);
  if (event === undefined) return undefined;
  return { acceptedAt: Date.parse(listed.created_at), event, endpoints: endpointsOf(detail) };
}

function endpointsOf({ endpoints }: EventAnswer): JourneyLine['endpoints'] {
  return endpoints.map(({ endpoint_uuid, verdict, status }) => ({ endpoint_uuid, verdict, status }));
}

function eventOf(detail: EventAnswer, merchantId: string): DomainEvent | undefined {
  if (detail.body === null) return undefined;
  const decoded = decodeEventJson({
    type: detail.type,
    header: {
      eventId: detail.event_uuid,
      merchantId,
      entityId: detail.entity_uuid,
      entityKind: detail.entity_kind,
      subType: detail.subType,
      occurredAt: detail.occurred_at,
      simulated: detail.simulated,
    },
    data: dataOfBody(detail.type, detail.body),
  });
  return decoded.ok ? decoded.event : undefined;
}

/** Returns whether a delivery of the event can still change. */
export function isOpen({ endpoints = [] }: Recorded): boolean {
  return endpoints.some(({ verdict, status }) => verdict === 'routed' && !FINAL.includes(status ?? ''));
}

/** Returns the lines of a journey, in the order in which hookrail accepted the events. */
export function journeyOf(
  recorded: readonly Recorded[],
  redaction: { readonly seed: string } | undefined,
): readonly JourneyLine[] {
  const inOrder = [...recorded].sort((a, b) => a.acceptedAt - b.acceptedAt);
  const startedAt = inOrder[0]?.acceptedAt ?? 0;
  const events = inOrder.map(({ event }) => event);
  const shown = redaction === undefined ? events : redacted(events, redaction.seed);
  return inOrder.map(({ acceptedAt, endpoints = [] }, index) => ({
    step: String(index + 1),
    offset_ms: acceptedAt - startedAt,
    accepted_at: new Date(acceptedAt).toISOString(),
    ...(redaction === undefined ? {} : { redacted: true }),
    event: eventToJson(shown[index] as DomainEvent),
    endpoints,
  }));
}
