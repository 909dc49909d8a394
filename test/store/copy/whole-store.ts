import { expect } from 'vitest';
import type { DeliveryRecord, MerchantLists, Store } from '../../../services/store/store.ts';
import { HOUR_MS, START } from '../../support/records/journal-entries.ts';
import { differenceOf } from './difference.ts';

const PAGE = 3;
const MANY = 1000;

/**
 * Returns everything that can be read of a store. The feed is in the order of its contents: what was recorded twice comes
 * where each store has recorded it. Without the feed's positions and the replays' places, which each engine has its own of.
 */
export async function wholeStore(store: Store, merchantIds: readonly string[], now: number) {
  return {
    merchants: await store.merchants.list(),
    keys: await store.keys.list(),
    directory: await store.outbox.snapshot(null, MANY),
    outbox: await store.outbox.pending(MANY),
    audit: await store.audit.list({ limit: MANY }),
    erasures: await store.erasures.unfinished(),
    sealed: await store.sealings.counts(now),
    replays: (await store.replays.list({ limit: MANY })).map((replay) => ({ ...replay, place: null })),
    answer: { ...(await store.answers.claim('key-1 POST /endpoints', now)), token: null },
    ofMerchants: await Promise.all(merchantIds.map((merchantId) => ofMerchant(store, merchantId))),
  };
}

async function ofMerchant(store: Store, merchantId: string) {
  const deliveries = inOneOrder(await pages(store.lists.deliveries.bind(store.lists), merchantId));
  const events = await pages(store.lists.events.bind(store.lists), merchantId);
  const scope = { merchantId, endpointId: null, only: 'missing', types: null, eventIds: null } as const;
  const times = { since: START, until: START + 1000 * HOUR_MS };
  const { entries, gap } = await store.feed.read(merchantId, { after: '0', limit: MANY });
  return {
    endpoints: await store.endpoints.list(merchantId, { limit: MANY }),
    deliveries,
    failed: inOneOrder((await store.lists.deliveries(merchantId, { status: 'failed', limit: MANY })).records),
    exhausted: inOneOrder(
      (await store.lists.deliveries(merchantId, { status: 'exhausted', limit: MANY })).records,
    ),
    full: await Promise.all(
      deliveries.map(({ endpointId, deliveryId }) => store.log.delivery(merchantId, endpointId, deliveryId)),
    ),
    events,
    data: await Promise.all(events.map(({ event: { eventId } }) => store.log.event(merchantId, eventId))),
    metrics: await store.metrics.read(merchantId, {
      ...{ from: START, to: START + 200 * HOUR_MS, step: HOUR_MS },
      by: 'endpoint',
    }),
    missed: (await store.replays.missed({ ...scope, ...times }, null, MANY)).events,
    feed: { gap, entries: entries.map(({ position: _, ...entry }) => asText(entry)).sort() },
  };
}

/** Puts deliveries of one millisecond, which each engine has in an order of its own, in the order of their ids. */
function inOneOrder(deliveries: readonly DeliveryRecord[]): readonly DeliveryRecord[] {
  const keyOf = ({ createdAt, deliveryId }: DeliveryRecord) => `${createdAt} ${deliveryId}`;
  return [...deliveries].sort((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1));
}

/** Returns it as text, with U+0000 as PostgreSQL keeps it. */
function asText(value: unknown): string {
  return JSON.stringify(value).replaceAll('\\u0000', '\ufffd');
}

type Page<Row> = { readonly records: readonly Row[]; readonly next: string | null };

/** Reads a list page by page. */
async function pages<Row>(
  list: (merchantId: string, options: Parameters<MerchantLists['events']>[1]) => Promise<Page<Row>>,
  merchantId: string,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await list(merchantId, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    rows.push(...page.records);
    after = page.next;
  }
  return rows;
}

/** Expects two stores to show the same, where PostgreSQL can keep it. */
export function expectSame(one: unknown, other: unknown): void {
  const where = differenceOf(one, other);
  const at = (value: unknown) =>
    where?.split('.').reduce<unknown>((each, name) => (each as Record<string, unknown>)?.[name], value);
  if (where !== null) expect({ where, value: at(other) }).toEqual({ where, value: at(one) });
}
