import type { MetricGroup, MetricsQuery } from '../../../services/store/metrics.ts';
import type { AttemptRecord, DeliveryRecord, Store } from '../../../services/store/store.ts';

const PAGE = 1000;

/** An attempt of the delivery log, as its counts name it. */
export interface LoggedAttempt {
  readonly startedAt: number;
  readonly durationMs: number;
  readonly endpoint: string;
  readonly type: string;
  readonly code: string | null;
  readonly outcome: string;
}

/** Reads every attempt of a merchant's log. */
export async function loggedAttempts(
  store: Pick<Store, 'lists' | 'log'>,
  merchantId: string,
): Promise<readonly LoggedAttempt[]> {
  const found: LoggedAttempt[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.lists.deliveries(merchantId, { limit: PAGE, ...(after ? { after } : {}) });
    for (const record of page.records) {
      const delivery = await store.log.delivery(merchantId, record.endpointId, record.deliveryId);
      for (const attempt of delivery?.attempts ?? []) found.push(toLogged(record, attempt));
    }
    if (page.next === null) return found;
    after = page.next;
  }
}

function toLogged({ endpointId, type }: DeliveryRecord, attempt: AttemptRecord): LoggedAttempt {
  const { startedAt, durationMs, failureCode: code, nextAttemptAt } = attempt;
  const last = code === 'endpoint_gone' ? 'refused' : 'exhausted';
  const failed = nextAttemptAt === null ? last : 'retry';
  return {
    startedAt,
    durationMs,
    endpoint: endpointId,
    type,
    code,
    outcome: code === null ? 'delivered' : failed,
  };
}

/** The counts of a query by series and point, as text: `delivered 2030-01-01T00:05:00.000Z: 3, 0 failed`. */
export type Recount = readonly string[];

/** Counts attempts anew, one by one. */
export function recount(attempts: readonly LoggedAttempt[], { by, ...query }: MetricsQuery): Recount {
  const counts = new Map<string, { attempts: number; failed: number }>();
  for (const attempt of attempts) {
    const { startedAt, endpoint, type } = attempt;
    const { from, to, step } = query;
    if (startedAt < from || startedAt >= to) continue;
    if (query.endpointId !== undefined && endpoint !== query.endpointId) continue;
    if (query.type !== undefined && type !== query.type) continue;
    const name = nameOf(attempt, by);
    if (name === undefined) continue;
    const key = `${name} ${new Date(from + Math.floor((startedAt - from) / step) * step).toISOString()}`;
    const known = counts.get(key) ?? { attempts: 0, failed: 0 };
    known.attempts += 1;
    if (attempt.outcome !== 'delivered') known.failed += 1;
    counts.set(key, known);
  }
  return [...counts].map(([key, each]) => `${key}: ${each.attempts}, ${each.failed} failed`).sort();
}

function nameOf(attempt: LoggedAttempt, by: MetricGroup | undefined): string | undefined {
  return by === undefined ? 'all' : (attempt[by] ?? undefined);
}

/** Returns what the metrics say, in the form of `recount`. */
export async function counted(
  store: Pick<Store, 'metrics'>,
  merchantId: string,
  query: MetricsQuery,
): Promise<Recount> {
  const series = await store.metrics.read(merchantId, query);
  return series
    .flatMap(({ name, points }) =>
      points
        .filter(({ attempts }) => attempts > 0)
        .map(
          ({ at, attempts, failed }) =>
            `${name ?? 'all'} ${new Date(at).toISOString()}: ${attempts}, ${failed} failed`,
        ),
    )
    .sort();
}
