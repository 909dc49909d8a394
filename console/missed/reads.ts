import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf, rest } from '../api/api.ts';
import { readDeliveries, readEvents, UNDELIVERED, UNSENT } from '../api/reads.ts';
import type { Delivery, Replay } from '../api/shapes.ts';
import type { Window } from './missed-search.ts';

/** The most items of each list that the time line shows. */
export const SHOWN_MAX = 1000;
const AGAIN_MS = 30_000;
const RUNNING_AGAIN_MS = 1000;
const REPLAYS = 10;
const MADE_MAX = 100;

/** Begins the keys of what is on the time lines. */
export const MISSED = 'missed';

/** Reads what each endpoint missed in a window, and its attempts. */
export const missedQuery = ({ from, to, stepMs }: Window) =>
  queryOptions({
    queryKey: [MISSED, from, stepMs],
    refetchInterval: AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const since = new Date(from).toISOString();
      const period = { from: since, to: new Date(to).toISOString(), step: stepMs / 1000 };
      const options = { itemsMax: SHOWN_MAX, signal };
      const [metrics, deliveries, events] = await Promise.all([
        bodyOf(rest.GET('/merchant/metrics', { params: { query: { ...period, by: 'endpoint' } } })),
        Promise.all(UNDELIVERED.map((status) => readDeliveries({ since, status }, options))),
        Promise.all(UNSENT.map((verdict) => readEvents({ since, verdict }, options))),
      ]);
      return {
        series: metrics.data,
        deliveries: deliveries.flatMap(({ items }) => items),
        events: events.flatMap(({ items }) => items),
        isCut: [...deliveries, ...events].some(({ isCut }) => isCut),
      };
    },
  });

/** A range as the API has it. */
export interface Period {
  readonly since: string;
  readonly until?: string;
}

const replay = (id: string, period: Period, isDry: boolean) =>
  bodyOf(
    rest.POST('/merchant/webhook-endpoints/{id}/replay', {
      params: { path: { id } },
      body: { ...period, only: 'missing', dry_run: isDry },
    }),
  );

/** Counts what a replay would send. `ended`: the replay that ended last, after which the count is another. */
export const dryRunQuery = (endpoint: string, period: Period, ended: string | undefined) =>
  queryOptions({
    queryKey: ['dry run', endpoint, period, ended],
    refetchInterval: AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const counted = await replay(endpoint, period, true);
      if (!('dry_run' in counted)) throw new Error('The service began a replay instead of counting.');
      return counted;
    },
  });

/** Enables an endpoint where it is not active, then replays what it missed in a range. */
export async function bringBack(id: string, period: Period, isActive: boolean): Promise<void> {
  const params = { path: { id } };
  if (!isActive) await rest.PATCH('/merchant/webhook-endpoints/{id}', { params, body: { status: 'active' } });
  await replay(id, period, false);
}

export function isRunning({ status }: Replay): boolean {
  return status === 'running';
}

/** The newest replays of an endpoint; each second while one runs. */
export const replaysQuery = (id: string) =>
  queryOptions({
    queryKey: ['replays', id],
    queryFn: async (): Promise<readonly Replay[]> => {
      const params = { path: { id }, query: { limit: REPLAYS } };
      return (await bodyOf(rest.GET('/merchant/webhook-endpoints/{id}/replays', { params }))).data;
    },
    refetchInterval: ({ state }) => (state.data?.some(isRunning) ? RUNNING_AGAIN_MS : AGAIN_MS),
  });

/** The deliveries that the newest replay of an endpoint made. */
export const madeQuery = ({ endpoint_uuid: endpoint, replay_uuid: id, created_at: since, status }: Replay) =>
  queryOptions({
    queryKey: ['made', id, status],
    refetchInterval: RUNNING_AGAIN_MS * 3,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly Delivery[]> => {
      const options = { itemsMax: MADE_MAX, signal };
      const { items } = await readDeliveries({ endpoint_uuid: endpoint, since }, options);
      return items.filter(({ trigger }) => trigger === 'replay');
    },
  });
