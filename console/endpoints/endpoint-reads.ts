import { queryOptions } from '@tanstack/react-query';
import { bodyOf, clock, rest } from '../api/api.ts';
import { PAGE_ITEMS_MAX } from '../api/pages.ts';
import { endpointsQuery, readEvents } from '../api/reads.ts';
import type { Delivery, EventListed } from '../api/shapes.ts';
import { given } from '../parts/search.ts';
import type { LastWeek } from './counts.ts';

/** The time between two looks at what changes by itself. */
const AGAIN_MS = 10_000;
const ATTEMPTS_AGAIN_MS = 60_000;
export const WEEK_MS = 7 * 86_400_000;
/** The most events of the last week that are counted. */
const COUNTED_MAX = 5 * PAGE_ITEMS_MAX;
const COMPARED_EVENTS = 10;

/** All endpoints, read again and again: a verdict is about now. */
export const endpointsNowQuery = queryOptions({ ...endpointsQuery, refetchInterval: AGAIN_MS });

export interface Owed {
  /** Deliveries that wait for an attempt. */
  readonly waiting: readonly Delivery[];
  readonly hasMore: boolean;
  /** The newest deliveries that arrived. */
  readonly arrived: readonly Delivery[];
}

/** The deliveries that are owed to an endpoint, or to all of them. */
export const owedQuery = (endpoint?: string) =>
  queryOptions({
    queryKey: ['owed', endpoint],
    refetchInterval: AGAIN_MS,
    queryFn: async (): Promise<Owed> => {
      const [failed, pending, arrived] = await Promise.all([
        deliveriesOf('failed', endpoint),
        deliveriesOf('pending', endpoint),
        deliveriesOf('delivered', endpoint),
      ]);
      return {
        waiting: [...failed.data, ...pending.data],
        hasMore: failed.has_more || pending.has_more,
        arrived: arrived.data,
      };
    },
  });

function deliveriesOf(status: 'failed' | 'pending' | 'delivered' | undefined, endpoint: string | undefined) {
  const query = { ...given({ status, endpoint_uuid: endpoint }), limit: PAGE_ITEMS_MAX };
  return bodyOf(rest.GET('/merchant/deliveries', { params: { query } }));
}

/** The newest deliveries of an endpoint. */
export const newestQuery = (endpoint: string) =>
  queryOptions({
    queryKey: ['newest', endpoint],
    refetchInterval: AGAIN_MS,
    queryFn: () => deliveriesOf(undefined, endpoint),
  });

/** The attempts of an endpoint in a period that ends now. */
export const attemptsQuery = (endpoint: string, periodMs: number, by?: 'code') =>
  queryOptions({
    queryKey: ['attempts', endpoint, periodMs, by],
    refetchInterval: ATTEMPTS_AGAIN_MS,
    queryFn: () => {
      const from = new Date(clock.now() - periodMs).toISOString();
      const query = { from, endpoint_uuid: endpoint, ...given({ by }) };
      return bodyOf(rest.GET('/merchant/metrics', { params: { query } }));
    },
  });

/** Counts the events of the last week by type, for all that a filter may name. */
export const lastWeekQuery = queryOptions({
  queryKey: ['last-week'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }): Promise<LastWeek> => {
    const since = new Date(clock.now() - WEEK_MS).toISOString();
    const { items, isCut } = await readEvents({ since }, { itemsMax: COUNTED_MAX, signal });
    const byType = new Map<string, number>();
    for (const { type } of items) byType.set(type, (byType.get(type) ?? 0) + 1);
    return { byType, total: items.length, hasMore: isCut };
  },
});

/** An event with its body in both versions; null where a version does not have it. */
export interface TwoBodies {
  readonly event: EventListed;
  readonly older: string | null;
  readonly newer: string;
}

/** The newest events with their bodies in both versions. */
export const bothVersionsQuery = queryOptions({
  queryKey: ['both-versions'],
  queryFn: async (): Promise<readonly TwoBodies[]> => {
    const page = async (version: '2.2.8' | '2.3.8') => {
      const query = { include: 'body', api_version: version, limit: COMPARED_EVENTS } as const;
      return (await bodyOf(rest.GET('/merchant/events', { params: { query } }))).data;
    };
    const [older, newer] = await Promise.all([page('2.2.8'), page('2.3.8')]);
    const bodies = new Map(older.map(({ event_uuid: id, body }) => [id, body ?? null]));
    return newer.flatMap((event) =>
      typeof event.body === 'string'
        ? [{ event, older: bodies.get(event.event_uuid) ?? null, newer: event.body }]
        : [],
    );
  },
});
