import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { FINAL } from '../../client/delivery-status.ts';
import type { paths } from '../../client/generated/merchant-api.ts';
import { platformKeysIn } from '../../services/domain/verification/platform-signature.ts';
import { bodyOf, rest } from './api.ts';
import { type CollectOptions, collect } from './pages.ts';
import { isSignedOut, Refusal } from './refusal.ts';
import { ended } from './session.ts';
import type { Delivery, Endpoint, EventListed, Resent } from './shapes.ts';

const TRIES_MAX = 3;
/** The time between two reads of something that may still change. */
const AGAIN_MS = 3000;
const ENDPOINTS_FRESH_MS = 60_000;
const KEYS_FRESH_MS = 300_000;

/** Reads and changes of the API. A 401 means that the session is over, except that of a link, which had none yet. */
export function makeQueryClient(): QueryClient {
  const onError = (error: Error) => {
    if (isSignedOut(error) && error.code !== 'portal_link_invalid') ended(client, error.code);
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        retry: (failures, error) =>
          failures < TRIES_MAX && !(error instanceof Refusal && error.status < 500 && error.status !== 429),
      },
    },
  });
  return client;
}

export const lookUpQuery = (id: string) =>
  queryOptions({
    queryKey: ['lookup', id],
    queryFn: () => bodyOf(rest.GET('/merchant/lookup/{any_id}', { params: { path: { any_id: id } } })),
  });

export const storyQuery = (id: string) => {
  const params = { path: { subject_id: id } };
  return queryOptions({
    queryKey: ['story', id],
    queryFn: () => bodyOf(rest.GET('/merchant/subjects/{subject_id}', { params })),
    refetchInterval: AGAIN_MS,
  });
};

export const eventQuery = (id: string) =>
  queryOptions({
    queryKey: ['event', id],
    queryFn: () => bodyOf(rest.GET('/merchant/events/{event_id}', { params: { path: { event_id: id } } })),
    refetchInterval: AGAIN_MS,
  });

/** Returns whether nothing more happens to a delivery by itself. */
export function isEnded(status: string): boolean {
  return FINAL.includes(status);
}

/** The platform's public keys, by which the signature v1a of a webhook is verified. */
export const platformKeysQuery = queryOptions({
  queryKey: ['platform keys'],
  queryFn: async () => platformKeysIn(JSON.stringify(await bodyOf(rest.GET('/.well-known/webhook-keys')))),
  staleTime: KEYS_FRESH_MS,
});

export const deliveryQuery = (endpoint: string, id: string) => {
  const params = { path: { id: endpoint, delivery_id: id } };
  return queryOptions({
    queryKey: ['delivery', endpoint, id],
    queryFn: () => bodyOf(rest.GET('/merchant/webhook-endpoints/{id}/deliveries/{delivery_id}', { params })),
    refetchInterval: ({ state }) => (state.data && isEnded(state.data.status) ? false : AGAIN_MS),
  });
};

/** All endpoints, the one behind the single webhook of 2.2.8 as well. */
export const endpointsQuery = queryOptions({
  queryKey: ['endpoints'],
  staleTime: ENDPOINTS_FRESH_MS,
  queryFn: async (): Promise<readonly Endpoint[]> => {
    const { items: found } = await collect((query) =>
      bodyOf(rest.GET('/merchant/webhook-endpoints', { params: { query } })),
    );
    const { webhook_endpoint: legacy } = await bodyOf(rest.GET('/merchant'));
    const isListed = legacy === null || found.some(({ uuid }) => uuid === legacy.uuid);
    return isListed ? found : [...found, legacy];
  },
});

/** The deliveries that did not arrive: given up, or with attempts left. */
export const UNDELIVERED = ['failed', 'exhausted', 'refused', 'cancelled'] as const;
/** The results of routing that a replay brings back. */
export const UNSENT = ['endpoint_disabled', 'endpoint_auto_disabled'] as const;

type ListQuery<Path extends '/merchant/deliveries' | '/merchant/events'> = Omit<
  NonNullable<paths[Path]['get']['parameters']['query']>,
  'limit' | 'cursor'
>;
export type DeliveriesQuery = ListQuery<'/merchant/deliveries'>;
export type EventsQuery = ListQuery<'/merchant/events'>;

/** Reads deliveries to all endpoints, newest first. */
export function readDeliveries(query: DeliveriesQuery, options: CollectOptions) {
  return collect<Delivery>(
    (page) => bodyOf(rest.GET('/merchant/deliveries', { params: { query: { ...query, ...page } } })),
    options,
  );
}

/** Reads events with their routing, newest first. */
export function readEvents(query: EventsQuery, options: CollectOptions) {
  return collect<EventListed>(
    (page) => bodyOf(rest.GET('/merchant/events', { params: { query: { ...query, ...page } } })),
    options,
  );
}

/** Sends the event of a delivery again, to its endpoint, as a delivery of its own. */
export function resend(endpoint: string, id: string): Promise<Resent> {
  const params = { path: { id: endpoint, delivery_id: id } };
  return bodyOf(rest.POST('/merchant/webhook-endpoints/{id}/deliveries/{delivery_id}/resend', { params }));
}
