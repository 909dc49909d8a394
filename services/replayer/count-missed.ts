import type { WebhookType } from '../domain/notices/notice.ts';
import { type MissedBecause, wouldReceive } from '../domain/replay.ts';
import type { MissedEvent, ReplayScope, Replays } from '../store/replays.ts';
import type { EndpointRecord, Store } from '../store/store.ts';

type Stored = Pick<Store, 'replays' | 'endpoints' | 'log'>;

/** Events examined in one step of counting. */
const COUNT_STEP = 1000;
/** Counting stops at this number. */
const COUNT_MAX = 1_000_000;

export interface ReplayCount {
  /** COUNT_MAX at most. */
  readonly count: number;
  readonly byType: Readonly<Partial<Record<WebhookType, number>>>;
  readonly byReason: Readonly<Partial<Record<MissedBecause, number>>>;
}

/** Returns how many events a replay would send now. */
export async function countMissed(store: Stored, scope: ReplayScope): Promise<ReplayCount> {
  const endpointOf = endpointLookup(store);
  const byType: Partial<Record<WebhookType, number>> = {};
  const byReason: Partial<Record<MissedBecause, number>> = {};
  let count = 0;
  for (let place: string | null = null; count < COUNT_MAX; ) {
    const page: Awaited<ReturnType<Replays['missed']>> = await replayedPage(store, scope, place, COUNT_STEP);
    for (const event of page.events) {
      if (count === COUNT_MAX || !takes(await endpointOf(event), event)) continue;
      count += 1;
      byType[event.type] = (byType[event.type] ?? 0) + 1;
      byReason[event.because] = (byReason[event.because] ?? 0) + 1;
    }
    if (page.isLast) break;
    place = page.next;
  }
  return { count, byType, byReason };
}

/** Returns a page of a replay's events: of named ones, which are all sent, without looking through the others. */
export async function replayedPage(
  { log, replays }: Pick<Store, 'replays' | 'log'>,
  scope: ReplayScope,
  place: string | null,
  limit: number,
): ReturnType<Replays['missed']> {
  const { merchantId, endpointId, eventIds } = scope;
  if (scope.only !== 'all' || eventIds === null || merchantId === null || endpointId === null)
    return replays.missed(scope, place, limit);
  const from = Number(place ?? 0);
  const page = eventIds.slice(from, from + limit);
  const found = await Promise.all(page.map((eventId) => log.event(merchantId, eventId)));
  const events = found.flatMap((each): MissedEvent[] => {
    if (!each || (scope.types !== null && !scope.types.includes(each.event.type))) return [];
    const { eventId, type, subType } = each.event;
    return [{ eventId, merchantId, endpointId, type, subType, because: 'asked', deliveryId: null }];
  });
  const next = from + page.length;
  return { events, next: `${next}`, isLast: next >= eventIds.length };
}

/** Reads each endpoint once: a page's events have few. */
export function endpointLookup({ endpoints }: Pick<Store, 'endpoints'>) {
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
