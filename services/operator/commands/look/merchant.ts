import { timestampOrNull } from '../../../api/endpoint-json.ts';
import { findMerchant } from '../../../management/merchants.ts';
import type { EndpointCounts } from '../../../store/endpoints.ts';
import type { Given } from '../arguments.ts';
import { type OperatorDeps, on } from '../command.ts';

/** One merchant at a glance. */

const ID = { id: { type: 'text', required: true, positional: true, describe: 'The merchant’s id' } } as const;
/** Deliveries that are counted; of more it is said that there are. */
const COUNT_MAX = 1000;
const CHANGES_MAX = 100;

export const MERCHANT_LOOKS = {
  'merchants get': on('store', {
    describe: 'Show a merchant: its state and since when, keys, endpoints, what is owed, its last event',
    isRead: true,
    args: ID,
    isLong: true,
    run: get,
  }),
  'merchants summary': on('store', {
    describe: 'Count merchants on hold and endpoints by status; status shows it',
    hasNoLine: true,
    isRead: true,
    run: summary,
  }),
};

/** Merchants on hold that a state of the service names. */
const NAMES_MAX = 5;

/** The merchants on hold, and the number of endpoints in each state. */
export interface MerchantsSummary {
  readonly onHold: { readonly count: number; readonly names: readonly string[] };
  readonly endpoints: EndpointCounts;
}

async function summary({ store }: OperatorDeps): Promise<MerchantsSummary> {
  const onHold = (await store.merchants.list()).filter(({ state }) => state === 'paused');
  const names = onHold.slice(0, NAMES_MAX).map(({ name }) => name);
  return { onHold: { count: onHold.length, names }, endpoints: await store.endpoints.counts(null) };
}

async function get({ store }: OperatorDeps, { id }: Given<typeof ID>) {
  const merchant = await findMerchant({ store }, id);
  const [keys, endpoints, pending, failed, events, since] = await Promise.all([
    store.keys.list(),
    store.endpoints.counts(id),
    store.lists.deliveries(id, { status: 'pending', limit: COUNT_MAX }),
    store.lists.deliveries(id, { status: 'failed', limit: COUNT_MAX }),
    store.lists.events(id, { limit: 1 }),
    changedAt({ store }, id, merchant.state),
  ]);
  const owed = pending.records.length + failed.records.length;
  const [last] = events.records;
  const { merchantId, name, state, senderAccountDetails } = merchant;
  return {
    ...{ merchantId, name, state },
    stateSince: timestampOrNull(since),
    senderAccountDetails,
    keys: keys
      .filter((key) => key.merchantId === id && key.revokedAt === null)
      .map(({ hint, name: keyName }) => (keyName === null ? hint : `${hint} (${keyName})`)),
    endpoints,
    // On hold all of it is held.
    owed,
    held: state === 'paused' ? owed : 0,
    parked: [...pending.records, ...failed.records].filter(({ parkedReason }) => parkedReason !== null)
      .length,
    // The counts are of the newest deliveries that were looked through.
    isMore: pending.next !== null || failed.next !== null,
    lastEvent: last === undefined ? null : last.event.eventId,
    lastEventAt: timestampOrNull(last?.createdAt ?? null),
  };
}

/** Returns when the merchant came into its state; null where the newest changes do not have it. */
async function changedAt(
  { store: { audit } }: Pick<OperatorDeps, 'store'>,
  merchantId: string,
  state: string,
): Promise<number | null> {
  const changes = await audit.list({ merchantId, limit: CHANGES_MAX });
  const found = changes.find(
    ({ action, details }) =>
      (action === 'merchant.update' && details.state === state) ||
      (action === 'merchant.close' && state === 'closed') ||
      action === 'merchant.create',
  );
  return found?.at ?? null;
}
