import type { Health, HealthPolicy } from '../../../domain/health.ts';
import { failingLevel, failingSince, mayBeTold } from '../../../domain/notices/failing.ts';
import type { NewNotice } from '../../../domain/notices/notice.ts';
import type { EndpointRow } from '../../rows/endpoint-rows.ts';
import { type NoticeRow, toNotice } from '../../rows/notice-rows.ts';
import type { Transaction } from '../../sql/transaction.ts';
import { addNotice, gatherNotice } from './notice-writes.ts';

/** How the rule switched an endpoint off. */
export interface SwitchedOff {
  readonly at: number;
  readonly reason: 'gone' | 'consecutive_failures';
  readonly failures: number;
}

/** Deliveries whose last attempt failed, and when the first and the last of them ended. */
export interface Exhausted {
  readonly count: number;
  readonly at: number;
  readonly lastAt: number;
}

/** The change of an endpoint's health by a batch. */
interface HealthChange {
  readonly row: EndpointRow;
  readonly before: Health;
  readonly after: Health;
  /** It is switched off by it, of which there is a notice. */
  readonly isOff: boolean;
  readonly exhausted: Exhausted | null;
  readonly policy: HealthPolicy;
}

/** Adds the notices that the change causes. Of an endpoint that gets notices itself there are none: no notice causes another. */
export async function tellHealth(tx: Transaction, change: HealthChange): Promise<void> {
  const { row, before, after, isOff, exhausted, policy } = change;
  if (row.notices !== null) return;
  const { activated_at: activeSince } = row;
  const level = isOff ? 0 : failingLevel(after, activeSince, policy);
  if (level > failingLevel(before, activeSince, policy)) await addNotice(tx, failing(change, level));
  if (hasRecovered(change)) await tellRecovered(tx, change);
  if (exhausted === null) return;
  const { count, at, lastAt } = exhausted;
  const cause = `delivery.exhausted/${row.uuid}`;
  const notice = {
    ...about(row),
    cause,
    type: 'delivery.exhausted',
    subType: 'GATHERED',
    at,
    data: {},
  } as const;
  await gatherNotice(tx, { notice, count, lastAt });
}

/** Adds the notice that the rule has disabled the endpoint. */
export async function tellDisabled(
  tx: Transaction,
  row: EndpointRow,
  health: Health,
  off: SwitchedOff,
): Promise<void> {
  if (row.notices !== null) return;
  await addNotice(tx, {
    ...about(row),
    cause: `endpoint.disabled/${row.uuid}/${row.version}`,
    type: 'endpoint.disabled',
    subType: off.reason === 'gone' ? 'GONE' : 'CONSECUTIVE_FAILURES',
    at: off.at,
    data: {
      url: row.url,
      failingSince: whole(failingSince(health, row.activated_at)),
      failureCount: off.failures,
      ...lastFailure(health),
    },
  });
}

function failing({ row, after, policy }: HealthChange, percent: number): NewNotice {
  const since = failingSince(after, row.activated_at) ?? row.activated_at;
  const at = after.lastFailureAt ?? since;
  const earliestAt = Math.floor(since) + policy.withoutSuccessMs;
  return {
    ...about(row),
    cause: `endpoint.failing/${row.uuid}/${Math.floor(since)}/${percent}`,
    type: 'endpoint.failing',
    subType: `AT_${percent}`,
    at,
    data: {
      ...{ url: row.url, percent, failingSince: whole(since), failureCount: after.failureCount },
      ...{ disabledAtFailures: policy.failedAttempts, disabledFrom: earliestAt },
      secondsLeft: Math.max(0, Math.floor((earliestAt - at) / 1000)),
      ...lastFailure(after),
    },
  };
}

/** Whether it has succeeded after it had failed for long, or for the first time since it was activated. */
function hasRecovered({ row, before, after, policy }: HealthChange): boolean {
  const { lastSuccessAt } = before;
  if (after.lastSuccessAt === null || after.lastSuccessAt <= (lastSuccessAt ?? 0)) return false;
  const isFirst = lastSuccessAt === null || lastSuccessAt < row.activated_at;
  return isFirst || mayBeTold(before, row.activated_at, policy);
}

/** Adds the notice that an endpoint works again, if its merchant was told that it does not. */
async function tellRecovered(tx: Transaction, { row, after }: HealthChange): Promise<void> {
  const told = await tx.first<NoticeRow>(
    `SELECT * FROM notice WHERE endpoint_uuid = $1
     AND type IN ('endpoint.failing', 'endpoint.disabled', 'endpoint.recovered') ORDER BY seq DESC LIMIT 1`,
    [row.uuid],
  );
  if (told === undefined || told.type === 'endpoint.recovered') return;
  const { noticeId, type, at, data } = toNotice(told);
  const wasDisabled = type === 'endpoint.disabled';
  await addNotice(tx, {
    ...about(row),
    cause: `endpoint.recovered/${noticeId}`,
    type: 'endpoint.recovered',
    subType: wasDisabled ? 'AFTER_DISABLED' : 'AFTER_FAILING',
    at: after.lastSuccessAt ?? at,
    data: {
      url: row.url,
      failingSince: data.failingSince ?? at,
      disabledAt: wasDisabled ? at : null,
    },
  });
}

function about(row: EndpointRow) {
  return { merchantId: row.merchant_id, endpointId: row.uuid };
}

function lastFailure({ lastFailure }: Health) {
  return {
    lastFailureCode: lastFailure?.code ?? null,
    lastResponseStatus: lastFailure?.responseStatus ?? null,
  };
}

function whole(at: number | null): number | null {
  return at === null ? null : Math.floor(at);
}
