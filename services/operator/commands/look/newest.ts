import { timestamp } from '../../../api/endpoint-json.ts';
import type { DeliveryRecord, EndpointRecord } from '../../../store/store.ts';
import { type OperatorDeps, on } from '../command.ts';

/** Summarises the newest deliveries and the failing endpoints of all merchants, which tells whether it is us or them. */

export const NEWEST_COMMANDS = {
  'deliveries summary': on('store', {
    describe:
      'Count the newest deliveries by result, and what fails by host and merchant; the console shows it',
    hasNoLine: true,
    isRead: true,
    run: summary,
  }),
};

const MINUTES = 15;
const MINUTE_MS = 60_000;
const DELIVERIES_MAX = 500;
const ENDPOINTS_MAX = 1000;
const NAMED_MAX = 8;

/** A delivery without an attempt yet. */
const WAITING = 'waiting';

async function summary({ store, clock }: OperatorDeps) {
  const now = Math.floor(clock.wall());
  const since = now - MINUTES * MINUTE_MS;
  const [page, failing, merchants] = await Promise.all([
    store.lists.deliveries(null, { since, limit: DELIVERIES_MAX }),
    store.endpoints.every({ isFailing: true, limit: ENDPOINTS_MAX }),
    store.merchants.list(),
  ]);
  const nameOf = (id: string) => merchants.find(({ merchantId }) => merchantId === id)?.name ?? null;
  const from = page.next === null ? since : Math.min(...page.records.map(({ createdAt }) => createdAt));
  return {
    // Where there are more deliveries than are looked at, the period is shorter.
    since: timestamp(from),
    deliveries: page.records.length,
    attemptsPerSecond: perSecond(page.records, now - from),
    results: countsOf(page.records, resultOf),
    p99Seconds: p99Of(page.records),
    failingHosts: groups(failing, hostOf),
    failingMerchants: groups(failing, ({ merchantId }) => merchantId).map(({ name, ...rest }) => ({
      merchantId: name,
      name: nameOf(name),
      ...rest,
    })),
  };
}

/** Attempts that deliveries of the period have had. */
function perSecond(records: readonly DeliveryRecord[], periodMs: number): number {
  const attempts = records.reduce((sum, { attemptsMade }) => sum + attemptsMade, 0);
  return periodMs > 0 ? Number((attempts / (periodMs / 1000)).toFixed(2)) : 0;
}

function resultOf({ status, attemptsMade, lastFailureCode, cancelReason }: DeliveryRecord): string {
  if (status === 'delivered') return status;
  if (attemptsMade === 0) return cancelReason ?? WAITING;
  return lastFailureCode ?? status;
}

/** Returns how often each name occurs, most first. */
function countsOf<Item>(items: readonly Item[], nameOf: (item: Item) => string) {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one).map(([name, count]) => ({ name, count }));
}

/** From the acceptance of an event to its 2xx; null when nothing was delivered. */
function p99Of(records: readonly DeliveryRecord[]): number | null {
  const took = records
    .flatMap(({ status, createdAt, lastAttemptAt }) =>
      status === 'delivered' && lastAttemptAt !== null ? [lastAttemptAt - createdAt] : [],
    )
    .sort((one, other) => one - other);
  const found = took[Math.min(took.length - 1, Math.floor(took.length * 0.99))];
  return found === undefined ? null : Math.max(0, found) / 1000;
}

function hostOf({ url }: Pick<EndpointRecord, 'url'>): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** Returns the failing endpoints by a name, those with most failures first. */
function groups(endpoints: readonly EndpointRecord[], nameOf: (endpoint: EndpointRecord) => string) {
  const named = countsOf(endpoints, nameOf).map(({ name, count }) => {
    const own = endpoints.filter((each) => nameOf(each) === name);
    const successes = own.map(({ lastSuccessAt }) => lastSuccessAt);
    return {
      name,
      endpoints: count,
      failures: own.reduce((sum, { failureCount }) => sum + failureCount, 0),
      // Since the oldest of their last successes; null where one has had none.
      failingSince: successes.includes(null) ? null : timestamp(Math.min(...successes.map(Number))),
      code: countsOf(own, ({ lastFailure }) => lastFailure?.code ?? 'unknown')[0]?.name ?? null,
      merchantIds: [...new Set(own.map(({ merchantId }) => merchantId))].slice(0, NAMED_MAX),
    };
  });
  return named.sort((one, other) => other.failures - one.failures).slice(0, NAMED_MAX);
}
