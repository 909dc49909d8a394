import type { Actor, Changed } from '../change.ts';
import type { EndpointRecord, LegacyChange, UrlTaken } from '../endpoints.ts';
import { newLegacyEndpoint } from '../rows/legacy-endpoint.ts';
import type { Transaction } from '../sql/transaction.ts';
import { createEndpoint, removeEndpoint, updateEndpoint } from './endpoint-writes.ts';

/** Sets the endpoint behind the single-URL operation. */
export async function setLegacyEndpoint(
  tx: Transaction,
  merchantId: string,
  uuid: string,
  change: LegacyChange | null,
  options: { readonly at: number; readonly actor: Actor },
): Promise<Changed<EndpointRecord | null> | UrlTaken | { readonly kind: 'incomplete' }> {
  if (change === null) {
    const removed = await removeEndpoint(tx, merchantId, uuid, options);
    // Without an endpoint nothing is published, so there is nothing to wait for.
    return { kind: 'ok', record: null, outboxId: removed.kind === 'ok' ? removed.outboxId : 0 };
  }
  const { url, secret } = change;
  const on = url === undefined ? {} : ({ status: 'active' } as const);
  const changed = await updateEndpoint(tx, merchantId, uuid, { ...change, ...on }, options);
  if (changed.kind === 'headers_changed') throw new Error('a legacy change sets no headers');
  if (changed.kind !== 'not_found') return changed;
  if (url === undefined || secret === undefined) return { kind: 'incomplete' };
  const created = await createEndpoint(tx, newLegacyEndpoint(merchantId, uuid, url, secret), {
    ...options,
    quota: 0,
  });
  if (created.kind === 'quota_exceeded') throw new Error('the quota counts managed endpoints only');
  return created;
}
