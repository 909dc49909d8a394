import type { RequestHandler, Response } from 'express';
import type { ApiVersion } from '../../domain/endpoint.ts';
import type { EventData } from '../../domain/event.ts';
import type { Clock } from '../../process/clock.ts';
import type { EventFed } from '../../store/event-feed.ts';
import type { EventFilter, EventListed } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { apiVersionOf, bodyJson } from '../events/event-body.ts';
import { eventJson } from '../events/event-json.ts';
import { sendJson } from '../idempotency.ts';
import { decodeCursor, encodeCursor, explainCursor, queryOf } from '../pagination.ts';
import { CatchUpPace, type PagesRead } from '../stream/catch-up-pace.ts';

/** The most items of a page that is no page of the feed. */
export const LIST_LIMIT_MAX = 100;
/**
 * Bodies are rendered for this long, then not for as long: an event on its way to its endpoints takes many turns of the
 * process's loop, and would otherwise wait for some bodies in each.
 */
const SLICE_MS = 1;
/**
 * A page of 500 with bodies costs 50 ms, half of it on the main thread. A reader that catches up page by page would take most
 * of a core: it is held to a third of one, at which 10,000 events take three seconds.
 */
export const FEED_PAGES: PagesRead = {
  ofKey: { perSecond: 6, burst: 2 },
  ofAll: { perSecond: 25, burst: 4 },
};
/** Begins the text of every cursor of the feed: a cursor of a list has no letters. */
const CURSOR_PREFIX = 'feed/';

/** Returns whether a request is for the event feed: a cursor continues what it came from, whatever `order` says. */
export function isFeed(query: URLSearchParams): boolean {
  const cursor = query.get('cursor');
  if (cursor === null) return query.get('order') === 'asc';
  return Buffer.from(cursor, 'base64url').toString().startsWith(CURSOR_PREFIX);
}

/** Counts a request for the event feed, or for bodies, in one class, and every other in another. A request of the first class waits for its turn. */
export function ofOrder(
  feed: RequestHandler,
  others: RequestHandler,
  { clock, stopping }: Pick<ApiContext, 'clock' | 'stopping'>,
): RequestHandler {
  const pace = new CatchUpPace(clock, FEED_PAGES);
  return (request, response, next) => {
    if (!isOfFeed(queryOf(request))) return others(request, response, next);
    return feed(request, response, (refused) => {
      if (refused) return next(refused);
      const closed = new AbortController();
      response.once('close', () => closed.abort());
      const over = AbortSignal.any([closed.signal, stopping]);
      void pace.turn(String(response.locals.keyId), over).then(() => {
        if (!closed.signal.aborted) next();
      });
    });
  };
}

function isOfFeed(query: URLSearchParams): boolean {
  return isFeed(query) || includesBody(query);
}

/** Returns the events of a page of the list, newest first, with their bodies where the request includes them. */
export async function listedJson(
  { store, clock }: ApiContext,
  merchantId: string,
  query: URLSearchParams,
  records: readonly EventListed[],
): Promise<readonly object[]> {
  if (!includesBody(query)) return records.map(eventJson);
  const fed: EventFed[] = [];
  for (const record of records) {
    const found = await store.log.event(merchantId, record.event.eventId);
    const data = found?.event.data ?? null;
    fed.push({ ...record, data: data === null ? null : JSON.stringify(data) });
  }
  return withBodies(fed, apiVersionOf(query), await store.merchants.get(merchantId), clock);
}

function includesBody(query: URLSearchParams): boolean {
  return query.get('include') === 'body';
}

/** Sends a page of the event feed: oldest first, in the order of recording, with a cursor that never ends. */
export async function sendFeed(
  { store, clock }: ApiContext,
  response: Response,
  query: URLSearchParams,
  { after: _, ...filter }: EventFilter & { readonly after?: string; readonly limit: number },
): Promise<void> {
  const merchantId = merchantOf(response);
  const after = decodeCursor(query.get('cursor'), positionOf);
  const withData = includesBody(query);
  const page = await store.eventFeed
    .read(merchantId, { ...filter, withData, ...(after === undefined ? {} : { after }) })
    .catch(explainCursor);
  const data = withData
    ? await withBodies(page.records, apiVersionOf(query), await store.merchants.get(merchantId), clock)
    : page.records.map(eventJson);
  sendJson(response, 200, {
    data,
    has_more: !page.isEnd,
    next_cursor: encodeCursor(`${CURSOR_PREFIX}${page.next}`),
    gap: page.gap,
  });
}

function positionOf(text: string): string | undefined {
  return text.startsWith(CURSOR_PREFIX) ? text.slice(CURSOR_PREFIX.length) : undefined;
}

/** Renders the bodies, a few at a time: deliveries go on in between. */
async function withBodies(
  records: readonly EventFed[],
  apiVersion: ApiVersion,
  merchant: Parameters<typeof bodyJson>[2],
  clock: Clock,
): Promise<object[]> {
  const listed: object[] = [];
  let since = clock.now();
  for (const record of records) {
    const data = record.data === null ? null : (JSON.parse(record.data) as EventData);
    listed.push({ ...eventJson(record), ...bodyJson({ ...record.event, data }, apiVersion, merchant) });
    if (clock.now() - since < SLICE_MS) continue;
    await clock.sleep(SLICE_MS);
    since = clock.now();
  }
  return listed;
}
