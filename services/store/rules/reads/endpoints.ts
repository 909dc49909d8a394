import { ENDPOINT_STATUSES, type EndpointStatus } from '../../../domain/endpoint.ts';
import { CursorInvalid } from '../../change.ts';
import type { Endpoints } from '../../endpoints.ts';
import { type EndpointRow, toEndpointRecord } from '../../rows/endpoint-rows.ts';
import type { Dialect, Statements } from '../../sql/statements.ts';
import { selectEndpoint } from '../select-endpoint.ts';
import { PAGE_MAX } from './page.ts';

/* Reads of endpoints that were not deleted. */

export async function endpoint(
  { dialect, first }: Statements,
  ...[merchantId, uuid]: Parameters<Endpoints['get']>
): ReturnType<Endpoints['get']> {
  const row = await first<EndpointRow>(selectEndpoint(dialect, 'e.uuid = $1 AND e.merchant_id = $2'), [
    uuid,
    merchantId,
  ]);
  return row && toEndpointRecord(row);
}

/** Reads an endpoint of whatever merchant. */
export async function foundEndpoint(
  { dialect, first }: Statements,
  uuid: string,
): ReturnType<Endpoints['find']> {
  const row = await first<EndpointRow>(selectEndpoint(dialect, 'e.uuid = $1'), [uuid]);
  return row && toEndpointRecord(row);
}

/** Reads a page over all merchants, or of one, newest first. */
export async function everyEndpoint(
  { dialect, rows }: Statements,
  { merchantId, status, isFailing, limit, after }: Parameters<Endpoints['every']>[0],
): ReturnType<Endpoints['every']> {
  const values: unknown[] = [placeAfter(after), Math.min(limit, PAGE_MAX + 1)];
  const value = (each: unknown) => `$${values.push(each)}`;
  const conditions = ['e.seq < $1'];
  if (merchantId !== undefined) conditions.push(`e.merchant_id = ${value(merchantId)}`);
  if (status !== undefined) conditions.push(`e.status = ${value(status)}`);
  if (isFailing) conditions.push(failing(dialect));
  const found = await rows<EndpointRow>(
    `${selectEndpoint(dialect, conditions.join(' AND '))} ORDER BY e.seq DESC LIMIT $2`,
    values,
  );
  return found.map((row) => ({ ...toEndpointRecord(row), cursor: `${row.seq}` }));
}

/** Counts the endpoints of a merchant, or of all. */
export async function endpointCounts(
  { dialect, rows }: Statements,
  merchantId: string | null,
): ReturnType<Endpoints['counts']> {
  const found = await rows<{
    readonly status: EndpointStatus;
    readonly count: number;
    readonly failing: number;
  }>(
    `SELECT e.status, count(*) AS count, sum(CASE WHEN ${failing(dialect)} THEN 1 ELSE 0 END) AS failing
     FROM endpoint e LEFT JOIN endpoint_health h ON h.endpoint = e.seq
     WHERE e.deleted_at IS NULL ${merchantId === null ? '' : 'AND e.merchant_id = $1'} GROUP BY e.status`,
    merchantId === null ? [] : [merchantId],
  );
  const statuses = Object.fromEntries(ENDPOINT_STATUSES.map((status) => [status, 0]));
  const counts = {
    ...statuses,
    ...Object.fromEntries(found.map(({ status, count }) => [status, Number(count)])),
  };
  const isFailing = found.reduce((sum, row) => sum + Number(row.failing), 0);
  return { ...(counts as Record<EndpointStatus, number>), failing: isFailing };
}

/** Its newest attempts failed, and it is still sent to. */
function failing({ counted }: Pick<Dialect, 'counted'>): string {
  return `e.status = 'active' AND ${counted('failure_count')} > 0`;
}

/** Returns the number before which a page begins. Throws CursorInvalid. */
function placeAfter(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new CursorInvalid('the cursor does not belong to this list');
}

/** Reads a page, newest first. */
export async function endpoints(
  { dialect, rows }: Statements,
  ...[merchantId, { status, limit, after }]: Parameters<Endpoints['list']>
): ReturnType<Endpoints['list']> {
  const { createdAt = Number.MAX_SAFE_INTEGER, uuid = '' } = after ?? {};
  const found = await rows<EndpointRow>(
    `${selectEndpoint(dialect, 'e.legacy = 0 AND e.merchant_id = $1')}
     ${status === undefined ? '' : 'AND e.status = $5'}
     AND (e.created_at, e.uuid) < ($2, $3) ORDER BY e.created_at DESC, e.uuid DESC LIMIT $4`,
    [merchantId, createdAt, uuid, Math.min(limit, PAGE_MAX), ...(status === undefined ? [] : [status])],
  );
  return found.map(toEndpointRecord);
}
