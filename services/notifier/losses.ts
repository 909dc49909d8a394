import type { CauseDeps } from './cause-deps.ts';

/** Adds a notice for each range of records that was deleted before it was processed. */
export async function tellLosses({ store, broker, clock }: CauseDeps): Promise<void> {
  const at = clock.wall();
  const topics = (await broker.losses?.list()) ?? [];
  for (const { stream, topic, losses } of topics)
    for (const { partition, from, to, count } of losses)
      await store.notices.add({
        // A range grows while more is lost: each end is another loss.
        cause: `events.lost/${topic}/${partition}/${from}/${to}`,
        ...{ type: 'events.lost', subType: 'DELETED_UNREAD', merchantId: null, endpointId: null, at },
        data: { from: null, until: at, stream, count },
      });
}
