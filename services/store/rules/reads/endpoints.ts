import type { Endpoints } from '../../endpoints.ts';
import { type EndpointRow, toEndpointRecord } from '../../rows/endpoint-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { PAGE_MAX } from '../page.ts';
import { selectEndpoint } from '../select-endpoint.ts';

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
