import { wouldReceive } from '../domain/replay.ts';
import type { MissedEvent, ReplayScope } from '../store/replays.ts';
import type { EndpointRecord, Store } from '../store/store.ts';

type Stored = Pick<Store, 'replays' | 'endpoints'>;

/** Events examined in one step of counting. */
const COUNT_STEP = 1000;
/** Counting stops at this number. */
const COUNT_MAX = 1_000_000;

/** Returns how many events a replay would send now, COUNT_MAX at most. */
export async function countMissed(store: Stored, scope: ReplayScope): Promise<number> {
  const endpointOf = endpointLookup(store);
  let count = 0;
  for (let place: string | null = null; count < COUNT_MAX; ) {
    const page: Awaited<ReturnType<Store['replays']['missed']>> = await store.replays.missed(
      scope,
      place,
      COUNT_STEP,
    );
    for (const event of page.events) if (takes(await endpointOf(event), event)) count += 1;
    if (page.isLast) break;
    place = page.next;
  }
  return Math.min(count, COUNT_MAX);
}

/** Reads each endpoint once: a page's events have few. */
export function endpointLookup({ endpoints }: Stored) {
  const known = new Map<string, Promise<EndpointRecord | undefined>>();
  return ({ merchantId, endpointId }: MissedEvent): Promise<EndpointRecord | undefined> => {
    const found = known.get(endpointId) ?? endpoints.get(merchantId, endpointId);
    known.set(endpointId, found);
    return found;
  };
}

/** Whether the endpoint, as it is now, would receive the event. */
export function takes(endpoint: EndpointRecord | undefined, event: MissedEvent): endpoint is EndpointRecord {
  return endpoint !== undefined && wouldReceive(endpoint, event);
}
