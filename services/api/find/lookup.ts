import type { RequestHandler } from 'express';
import type { QuarantinedHead } from '../../broker/broker.ts';
import { subjectIdFrom, subjectKindOf } from '../../domain/catalog/subject.ts';
import { deliveryId, isUuid } from '../../domain/ids.ts';
import type { Store } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { timestamp } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { quarantinedAbout, quarantineOf, searchNote } from './quarantined-events.ts';
import { quarantinedSubject } from './story.ts';

/** One thing that has the id. */
interface Found {
  readonly kind: string;
  /** Describes the id in a sentence. */
  readonly summary: string;
  /** The path that describes it. */
  readonly path: string;
}

type Finder = (store: Store, merchantId: string, id: string) => Promise<Found | undefined>;

const ENDPOINTS = '/merchant/webhook-endpoints';

/** Every kind of id that a merchant may come with. */
const FINDERS: readonly Finder[] = [event, subject, entity, delivery, endpoint, replay, notice, request];

/** GET /merchant/lookup/{any_id}: says what an id is, and where it is described. */
export function lookUp(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const given = String(request.params.any_id);
    const id = subjectIdFrom(given) ?? given;
    const merchantId = merchantOf(response);
    const results: Found[] = [];
    // One after the other: in parallel, a single request would take most of the store's connections.
    for (const find of FINDERS) {
      const found = await find(context.store, merchantId, id);
      if (found) results.push(found);
    }
    if (results.length === 0) results.push(await quarantined(context, merchantId, id));
    sendJson(response, 200, { id, found: results });
  };
}

/** Returns the thing in quarantine that has the id. Throws ApiError when there is none. */
async function quarantined(context: ApiContext, merchantId: string, id: string): Promise<Found> {
  const search = await quarantinedAbout(quarantineOf(context), merchantId, id);
  const [newest] = search.records;
  if (newest === undefined) throw new ApiError('id_not_found', searchNote(search) ?? '');
  const { kind } = quarantinedSubject(newest, id);
  const called = kind === 'entity' ? 'user or corporate' : kind.replaceAll('_', ' ');
  const type = newest.type === undefined ? '' : `${newest.type}/${newest.subType ?? '?'} `;
  const since = `in quarantine since ${timestamp(newest.at)}`;
  return {
    kind,
    summary:
      kind === 'event'
        ? `The event ${type}that is ${since}: it was not sent.`
        : `A ${called}; of its events none was sent, and the newest, ${type.trim()}, is ${since}.`,
    path: `/merchant/subjects/${encodeURIComponent(kind === 'event' ? storyIdOf(newest, id) : id)}`,
  };
}

/** Returns the id whose story has a quarantined event: of what it is about, if that could be read. */
function storyIdOf({ subjectId, entityId }: QuarantinedHead, eventId: string): string {
  return subjectId ?? entityId ?? eventId;
}

async function event({ log }: Store, merchantId: string, id: string): Promise<Found | undefined> {
  const found = await log.event(merchantId, id);
  if (!found) return undefined;
  const { type, subType, occurredAt } = found.event;
  return {
    kind: 'event',
    summary: `The event ${type}/${subType} of ${timestamp(occurredAt)}.`,
    path: `/merchant/events/${id}`,
  };
}

async function subject({ lists }: Store, merchantId: string, id: string): Promise<Found | undefined> {
  const [newest] = (await lists.events(merchantId, { subjectId: id, limit: 1 })).records;
  if (!newest || newest.subjectId === null) return undefined;
  const { type, subType } = newest.event;
  const kind = subjectKindOf(type, newest.subjectId);
  return {
    kind,
    summary: `A ${kind.replaceAll('_', ' ')}; its newest event is ${type}/${subType} of ${timestamp(newest.event.occurredAt)}.`,
    path: `/merchant/subjects/${encodeURIComponent(id)}`,
  };
}

async function entity({ lists }: Store, merchantId: string, id: string): Promise<Found | undefined> {
  const [newest] = (await lists.events(merchantId, { entityId: id, limit: 1 })).records;
  if (!newest) return undefined;
  const { entityKind, type, subType, occurredAt } = newest.event;
  const who = entityKind === 'USER' ? 'user' : 'corporate';
  return {
    kind: 'entity',
    summary: `A ${who}; the newest event about it is ${type}/${subType} of ${timestamp(occurredAt)}.`,
    path: `/merchant/subjects/${encodeURIComponent(id)}`,
  };
}

async function delivery({ log }: Store, merchantId: string, id: string): Promise<Found | undefined> {
  const endpointId = await log.endpointOf(merchantId, id);
  const found = endpointId === undefined ? undefined : await log.delivery(merchantId, endpointId, id);
  if (!found) return undefined;
  const { type, subType, status, attemptsMade } = found;
  return {
    kind: 'delivery',
    summary: `A delivery of ${type}/${subType}: ${status} after ${attemptsMade} ${attemptsMade === 1 ? 'attempt' : 'attempts'}.`,
    path: `${ENDPOINTS}/${endpointId}/deliveries/${id}`,
  };
}

async function endpoint(store: Store, merchantId: string, id: string): Promise<Found | undefined> {
  const found = await store.endpoints.get(merchantId, id);
  if (found) {
    const { legacy, status, url } = found;
    const summary = `Your ${legacy ? 'single webhook of 2.2.8' : 'endpoint'}, ${status}: ${url}`;
    return { kind: 'endpoint', summary, path: legacy ? '/merchant' : `${ENDPOINTS}/${id}` };
  }
  const left = await store.lists.deliveries(merchantId, { endpointId: id, limit: 1 });
  if (left.records.length === 0) return undefined;
  const summary = 'An endpoint of yours that was deleted; its deliveries are still listed.';
  return { kind: 'endpoint', summary, path: `/merchant/deliveries?endpoint_uuid=${id}` };
}

async function replay({ replays }: Store, merchantId: string, id: string): Promise<Found | undefined> {
  const found = await replays.get(id);
  if (!found || found.merchantId !== merchantId || found.endpointId === null) return undefined;
  const { status, published, count, endpointId } = found;
  return {
    kind: 'replay',
    summary: `A replay, ${status}: ${published} of ${count} events are sent.`,
    path: `${ENDPOINTS}/${endpointId}/replays/${id}`,
  };
}

/** An operational notice, by its `webhook-id`, that was sent to an endpoint of the merchant. */
async function notice(store: Store, merchantId: string, id: string): Promise<Found | undefined> {
  const found = isUuid(id) ? await store.notices.get(id) : undefined;
  if (!found) return undefined;
  const { type, subType, at } = found;
  const recipients = await store.notices.recipients(merchantId);
  for (const { merchantId: owner, uuid } of recipients) {
    const sent = deliveryId(id, uuid);
    if (owner !== merchantId || !(await store.log.delivery(merchantId, uuid, sent))) continue;
    return {
      kind: 'notice',
      summary: `The operational notice ${type}/${subType} of ${timestamp(at)}.`,
      path: `${ENDPOINTS}/${uuid}/deliveries/${sent}`,
    };
  }
  return undefined;
}

/** A request that changed something: what others did is not kept. */
async function request({ audit }: Store, merchantId: string, id: string): Promise<Found | undefined> {
  if (!isUuid(id)) return undefined;
  const [entry] = await audit.list({ merchantId, requestId: id, limit: 1 });
  if (!entry) return undefined;
  const { action, at, endpointId, details } = entry;
  const made = typeof details.deliveryId === 'string' ? `/deliveries/${details.deliveryId}` : '';
  return {
    kind: 'request',
    summary: `The request of ${timestamp(at)} that did ${action}.`,
    path: endpointId === null ? '/merchant' : `${ENDPOINTS}/${endpointId}${made}`,
  };
}
