import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf, rest } from '../api/api.ts';
import { collect } from '../api/pages.ts';
import type { Delivery, EventListed, Replay } from '../api/shapes.ts';
import type { Window } from './missed-search.ts';

/** The most items of each list that the time line shows. */
export const SHOWN_MAX = 1000;
const AGAIN_MS = 30_000;
const RUNNING_AGAIN_MS = 1000;
const REPLAYS = 10;
const DELIVERIES_SHOWN = 100;

/** The deliveries that did not arrive: given up, or with attempts left. */
export const UNDELIVERED = ['failed', 'exhausted', 'refused', 'cancelled'] as const;
/** The results of routing that a replay brings back. */
export const UNSENT = ['endpoint_disabled', 'endpoint_auto_disabled'] as const;

const iso = (at: number) => new Date(at).toISOString();

/** What no endpoint received in a window, and the attempts of each. */
export const missedQuery = ({ from, to, stepMs }: Window) =>
  queryOptions({
    queryKey: ['missed', from, stepMs],
    refetchInterval: AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const since = iso(from);
      const options = { itemsMax: SHOWN_MAX, signal };
      const [metrics, deliveries, events] = await Promise.all([
        bodyOf(
          rest.GET('/merchant/metrics', {
            params: { query: { from: since, to: iso(to), step: stepMs / 1000, by: 'endpoint' } },
          }),
        ),
        Promise.all(
          UNDELIVERED.map((status) =>
            collect<Delivery>(
              (page) =>
                bodyOf(rest.GET('/merchant/deliveries', { params: { query: { ...page, since, status } } })),
              options,
            ),
          ),
        ),
        Promise.all(
          UNSENT.map((verdict) =>
            collect<EventListed>(
              (page) =>
                bodyOf(rest.GET('/merchant/events', { params: { query: { ...page, since, verdict } } })),
              options,
            ),
          ),
        ),
      ]);
      return {
        series: metrics.data,
        deliveries: deliveries.flatMap(({ items }) => items),
        events: events.flatMap(({ items }) => items),
        isCut: [...deliveries, ...events].some(({ isCut }) => isCut),
      };
    },
  });

/** Counts what a replay would send. `ended`: the replay that ended last, after which the count is another. */
export const dryRunQuery = (
  endpoint: string,
  { since, until }: { readonly since: string; readonly until?: string },
  ended?: string,
) =>
  queryOptions({
    queryKey: ['dry run', endpoint, since, until, ended],
    refetchInterval: AGAIN_MS,
    placeholderData: (before, query) => (query?.queryKey[1] === endpoint ? before : undefined),
    queryFn: async () => {
      const body = {
        since,
        ...(until === undefined ? {} : { until }),
        only: 'missing',
        dry_run: true,
      } as const;
      const counted = await bodyOf(
        rest.POST('/merchant/webhook-endpoints/{id}/replay', { params: { path: { id: endpoint } }, body }),
      );
      if (!('dry_run' in counted)) throw new Error('The service began a replay instead of counting.');
      return counted;
    },
  });

/** The newest replays of an endpoint; each second while one runs. */
export const replaysQuery = (endpoint: string) =>
  queryOptions({
    queryKey: ['replays', endpoint],
    queryFn: async (): Promise<readonly Replay[]> => {
      const params = { path: { id: endpoint }, query: { limit: REPLAYS } };
      return (await bodyOf(rest.GET('/merchant/webhook-endpoints/{id}/replays', { params }))).data;
    },
    refetchInterval: ({ state }) => (state.data?.some(isRunning) ? RUNNING_AGAIN_MS : AGAIN_MS),
  });

export function isRunning({ status }: Replay): boolean {
  return status === 'running';
}

/** The deliveries that a replay made, the newest of an endpoint. */
export const madeQuery = ({ endpoint_uuid: id, replay_uuid: replay, created_at: since, status }: Replay) =>
  queryOptions({
    queryKey: ['made', id, replay, status],
    refetchInterval: RUNNING_AGAIN_MS * 3,
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<readonly Delivery[]> => {
      const params = { path: { id }, query: { since, limit: DELIVERIES_SHOWN } };
      const page = await bodyOf(rest.GET('/merchant/webhook-endpoints/{id}/deliveries', { params }));
      return page.data.filter(({ trigger }) => trigger === 'replay');
    },
  });

/** Enables an endpoint where that is asked for, then replays what it missed in a range. */
export async function bringBack(
  id: string,
  range: { readonly since: string; readonly until: string },
  isEnabled: boolean,
): Promise<Replay> {
  const params = { path: { id } };
  if (!isEnabled)
    await bodyOf(rest.PATCH('/merchant/webhook-endpoints/{id}', { params, body: { status: 'active' } }));
  const body = { ...range, only: 'missing' } as const;
  const begun = await bodyOf(rest.POST('/merchant/webhook-endpoints/{id}/replay', { params, body }));
  if (!('replay_uuid' in begun)) throw new Error('The service counted instead of beginning a replay.');
  return begun;
}
