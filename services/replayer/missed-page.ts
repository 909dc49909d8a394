import type { PublishedTask } from '../broker/broker.ts';
import { deliveryId, requestedDeliveryId } from '../domain/ids.ts';
import { type RequestedDelivery, requestedTask } from '../domain/requested-task.ts';
import { ATTEMPTS_MAX } from '../domain/retry.ts';
import { renderBody } from '../domain/versions/render.ts';
import type { MissedEvent, ReplayRecord } from '../store/replays.ts';
import type { EndpointRecord, Store } from '../store/store.ts';
import { endpointLookup, replayedPage, takes } from './count-missed.ts';

type Stored = Pick<Store, 'replays' | 'endpoints' | 'merchants' | 'log'>;

/** The deliveries of one page of missed events. */
export interface MissedPage {
  readonly tasks: readonly PublishedTask[];
  /** Events whose body is no longer kept. */
  readonly leftOut: number;
  readonly next: string;
  readonly isLast: boolean;
}

/**
 * Returns the next page of a replay as tasks. Deliveries that an earlier try of this page has made are not made again:
 * ids are deterministic, and the delivery log knows them. `at`: whole milliseconds since the epoch.
 */
export async function missedPage(
  store: Stored,
  replay: ReplayRecord,
  limit: number,
  at: number,
): Promise<MissedPage> {
  const { events, next, isLast } = await replayedPage(store, replay, replay.place, limit);
  const endpointOf = endpointLookup(store);
  const made = await Promise.all(
    events.map(async (event) => {
      const endpoint = await endpointOf(event);
      return takes(endpoint, event) ? deliveryOf(store, replay.replayId, event, endpoint) : 'not_wanted';
    }),
  );
  const deliveries = made.filter((delivery) => typeof delivery === 'object');
  return {
    tasks: deliveries.map((delivery) => requestedTask(delivery, at)),
    leftOut: made.filter((delivery) => delivery === 'body_gone').length,
    next,
    isLast,
  };
}

/**
 * Returns the delivery. The first of an event has its usual id and the whole schedule; another has an id of its own and
 * one attempt.
 */
async function deliveryOf(
  store: Stored,
  replayId: string,
  missed: MissedEvent,
  endpoint: EndpointRecord,
): Promise<RequestedDelivery | 'made_before' | 'under_way' | 'body_gone'> {
  const { eventId, merchantId, endpointId } = missed;
  const own = missed.because === 'asked' ? await ownDelivery(store, missed) : undefined;
  if (own?.status === 'pending' || own?.status === 'failed') return 'under_way';
  const firstId = own?.deliveryId ?? missed.deliveryId;
  const id =
    firstId === null ? deliveryId(eventId, endpointId) : requestedDeliveryId(replayId, eventId, endpointId);
  if (await store.log.delivery(merchantId, endpointId, id)) return 'made_before';
  const content =
    firstId === null ? await rendered(store, missed, endpoint) : await sentBefore(store, missed, firstId);
  if (content === null) return 'body_gone';
  const { type, subType } = missed;
  const attemptsMax = firstId === null ? ATTEMPTS_MAX : 1;
  const ids = { deliveryId: id, eventId, merchantId, endpointId };
  return { ...ids, type, subType, trigger: 'replay', attemptsMax, ...content };
}

/** Returns the event's own delivery to the endpoint, which has the whole schedule. */
function ownDelivery({ log }: Stored, { merchantId, endpointId, eventId }: MissedEvent) {
  return log.delivery(merchantId, endpointId, deliveryId(eventId, endpointId));
}

type Content = Pick<
  RequestedDelivery,
  'entityId' | 'subjectId' | 'sequence' | 'apiVersion' | 'occurredAt' | 'body'
>;

/** Renders the event as the router would now: in the endpoint's version, with the fields that the merchant may see. */
async function rendered(
  store: Stored,
  { merchantId, eventId }: MissedEvent,
  { apiVersion }: EndpointRecord,
): Promise<Content | null> {
  const [found, merchant] = await Promise.all([
    store.log.event(merchantId, eventId),
    store.merchants.get(merchantId),
  ]);
  if (found === undefined) return null;
  const { data, entityId, occurredAt, ...rest } = found.event;
  if (data === null) return null;
  const senderAccountDetails = merchant?.senderAccountDetails ?? false;
  const result = renderBody({ ...rest, data, entityId, occurredAt }, apiVersion, { senderAccountDetails });
  if (result.kind !== 'rendered') return null;
  const { subjectId, sequence } = found;
  return { entityId, subjectId, sequence, occurredAt, apiVersion, body: result.body };
}

/** Returns the bytes that were sent, or would have been. */
async function sentBefore(
  store: Stored,
  { merchantId, endpointId }: MissedEvent,
  firstId: string,
): Promise<Content | null> {
  const first = await store.log.delivery(merchantId, endpointId, firstId);
  if (!first?.body) return null;
  const { entityId, subjectId, sequence, apiVersion, occurredAt, body } = first;
  return { entityId, subjectId, sequence, apiVersion, occurredAt, body };
}
