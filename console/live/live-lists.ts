import { type DeliveriesQuery, UNDELIVERED } from '../api/reads.ts';
import type { Lists } from '../exports/list-rows.ts';
import type { LiveFilters } from './live-filters.ts';

/** Returns the lists of the API that have what the filters let through. */
export function listsOf({ type, endpoint, failed }: LiveFilters): Lists {
  const query = {
    ...(type === undefined ? {} : { type: type as NonNullable<DeliveriesQuery['type']> }),
    ...(endpoint === undefined ? {} : { endpoint_uuid: endpoint }),
  };
  if (!failed) return { deliveries: [query], events: [query] };
  return { deliveries: UNDELIVERED.map((status) => ({ ...query, status })), events: [] };
}
