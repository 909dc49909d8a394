import type { RequestHandler } from 'express';
import type { QuarantinedFound, QuarantinedHead } from '../../broker/broker.ts';
import { isNoticeType, type WebhookType } from '../../domain/notices/notice.ts';
import { messageOf } from '../../messages/error-message.ts';
import type { EventListed, PublishRights } from '../../store/store.ts';
import type { ApiContext } from '../context.ts';
import { timestamp } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError, BrokerUnavailable } from '../problem.ts';
import { pathId } from '../routes/read-endpoints.ts';
import type { AcceptedEvent, AcceptedEvents } from './accepted-events.ts';
import type { EndpointCounts } from './dry-run.ts';
import { whyJson } from './publish-answer.ts';

/** A key that asks. */
interface Asking extends PublishRights {
  readonly keyId: string;
}

interface Sent {
  readonly publishedBy?: string | undefined;
  readonly merchantId: string | null;
  /** Absent: it is not known. */
  readonly type?: WebhookType;
}

/**
 * GET /producer/events/{event_id}: what became of an event. A key sees what it published itself, and what it could have
 * published (docs/decisions.md, "Producers"); of anything else it hears what it hears of an event that does not exist.
 */
export function readPublished(context: ApiContext, accepted: AcceptedEvents): RequestHandler {
  return async (request, response) => {
    const eventId = pathId(request, 'event_id');
    const asking = { keyId: String(response.locals.keyId), ...response.locals.publishRights };
    // Asked first: what is routed and recorded after it was asked about is not on its way any more, at worst unseen.
    const onItsWay = accepted.find(eventId);
    const kept = await quarantinedOf(context, eventId);
    const routed = await context.store.log.eventsOf(eventId);
    const answer = answerOf(asking, {
      routed: routed.filter(({ event }) => maySee(asking, event)),
      kept: kept.records.filter((record) => maySee(asking, record)),
      onItsWay: onItsWay && maySee(asking, onItsWay) ? onItsWay : undefined,
    });
    if (answer === undefined) throw notFound(kept.since);
    sendJson(response, 200, { event_id: eventId, ...answer });
  };
}

/** Returns whether a key published an event or could have: what it may not publish does not exist for it. */
function maySee({ keyId, types, merchants }: Asking, { publishedBy, merchantId, type }: Sent): boolean {
  if (publishedBy === keyId) return true;
  const isOfType = types === undefined || (type !== undefined && !isNoticeType(type) && types.includes(type));
  const isOfMerchant = merchants === undefined || (merchantId !== null && merchants.includes(merchantId));
  return isOfType && isOfMerchant;
}

interface Found {
  readonly routed: readonly EventListed[];
  readonly kept: readonly QuarantinedHead[];
  readonly onItsWay: AcceptedEvent | undefined;
}

/** The key's own event goes before another's with the same id, and a routed one before one in quarantine. */
function answerOf({ keyId }: Asking, { routed, kept, onItsWay }: Found): object | undefined {
  const isOwn = ({ publishedBy }: Sent) => publishedBy === keyId;
  const own = routed.find(({ event }) => isOwn(event));
  const shown = own ?? (kept.some(isOwn) ? undefined : routed[0]);
  const quarantine = kept.map(({ reason, detail, at, merchantId }) => ({
    merchant_id: merchantId,
    quarantined_at: timestamp(at),
    ...whyJson(reason, detail),
  }));
  if (shown) return { ...routedJson(shown), quarantine };
  const nowhere = { accepted_at: null, routed_at: null, endpoints: null };
  const [newest] = kept;
  if (newest) {
    const detail = 'The event is in quarantine: it was delivered to nobody, and is kept with the reason.';
    return { status: 'quarantined', detail, merchant_id: newest.merchantId, ...nowhere, quarantine };
  }
  if (!onItsWay) return undefined;
  const detail =
    'The event is durable. Neither its routing nor a quarantine is recorded yet: ask again in a moment.';
  const { merchantId, at } = onItsWay;
  return {
    status: 'accepted',
    detail,
    merchant_id: merchantId,
    ...nowhere,
    accepted_at: timestamp(at),
    quarantine,
  };
}

function routedJson({ event, createdAt, routedAt, trace }: EventListed) {
  const routed = trace.filter(({ verdict }) => verdict === 'delivered_to').length;
  const endpoints: EndpointCounts = { routed, skipped: trace.length - routed };
  return {
    status: 'routed',
    detail: `The event was routed to ${counted(routed)}; ${counted(endpoints.skipped)} did not want it or could not get it.`,
    merchant_id: event.merchantId,
    accepted_at: timestamp(createdAt),
    routed_at: timestamp(routedAt),
    endpoints,
  };
}

function counted(endpoints: number): string {
  return endpoints === 1 ? '1 endpoint' : `${endpoints === 0 ? 'no' : endpoints} endpoints`;
}

async function quarantinedOf({ broker }: ApiContext, eventId: string): Promise<QuarantinedFound> {
  try {
    return await broker.quarantine.find({ eventId });
  } catch (error) {
    throw new BrokerUnavailable(messageOf(error));
  }
}

function notFound(since: number | null): ApiError {
  const searched =
    since === null ? '' : ` In the quarantine, only what came after ${timestamp(since)} was looked through.`;
  return new ApiError(
    'event_not_found',
    `No event with this id, which this key published or could have published, is recorded.${searched}`,
  );
}
