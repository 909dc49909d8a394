import type { PublishedEvent } from '../../broker/broker.ts';
import type { DomainEvent } from '../../domain/event.ts';
import type { Refusal } from '../../domain/quarantine.ts';
import { routeTo } from '../../domain/routing/route.ts';
import type { ApiContext } from '../context.ts';
import { answerJson, judgedOf, whyJson } from './publish-answer.ts';

/** How many endpoints an event is routed to, and how many it is not. Which and whose is the merchant's business. */
export interface EndpointCounts {
  readonly routed: number;
  readonly skipped: number;
}

/** Returns the body of the answer to a dry run: what would become of each event if it were published now. */
export function dryRunJson(
  context: Pick<ApiContext, 'directory'>,
  events: readonly DomainEvent[],
  results: readonly PublishedEvent[],
  judgement: { readonly refusals: ReadonlyMap<DomainEvent, Refusal>; readonly now: number },
) {
  const counts: (EndpointCounts | null)[] = [];
  const judged = judgedOf(events, results, judgement.refusals, judgement.now).map((each, index) => {
    const event = events[index];
    const routed = each.status === 'accepted' && event ? routedNow(context, event) : null;
    counts.push(typeof routed === 'string' ? null : routed);
    if (typeof routed !== 'string') return each;
    // The real answer would be `accepted`: only the router finds this.
    return {
      status: 'quarantined',
      why: whyJson('schema_violation', `The event breaks a rule: ${routed}.`),
    } as const;
  });
  return { dry_run: true, ...answerJson(events, judged, (index) => ({ endpoints: counts[index] ?? null })) };
}

/** Returns the counts, or why the router would not route the event. */
function routedNow(
  { directory }: Pick<ApiContext, 'directory'>,
  event: DomainEvent,
): EndpointCounts | string {
  const merchant = directory.merchant(event.merchantId);
  // In the store already, and on its way to the routers.
  if (merchant === undefined) return { routed: 0, skipped: 0 };
  let routed = 0;
  let skipped = 0;
  const { fault } = routeTo(event, merchant, directory.endpointsOf(event.merchantId), (_, verdict) => {
    if (typeof verdict === 'string') skipped += 1;
    else routed += 1;
  });
  return fault ?? { routed, skipped };
}
