import { type EventsQuery, UNDELIVERED } from '../api/reads.ts';
import type { Lists } from '../exports/list-rows.ts';
import { given, textsIn } from '../parts/search.ts';

const textsOf = textsIn('type', 'endpoint');
const trueIn = (value: unknown) => (value === true ? (true as const) : undefined);

/** Returns the filters in an address; what it does not know is left out. A colleague who opens it sees the same. */
export function liveFiltersIn(search: Record<string, unknown>) {
  const flags = { failed: trueIn(search.failed), grouped: trueIn(search.grouped) };
  return { ...textsOf(search), ...given(flags) };
}

export type LiveFilters = ReturnType<typeof liveFiltersIn>;

/** Returns the lists of the API that have what the filters let through. */
export function listsOf({ type, endpoint, failed }: LiveFilters): Lists {
  const query = given({ type: type as EventsQuery['type'], endpoint_uuid: endpoint });
  if (!failed) return { deliveries: [query], events: [query] };
  return { deliveries: UNDELIVERED.map((status) => ({ ...query, status })), events: [] };
}
