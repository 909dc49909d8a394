import type { Actor, Changed } from '../../change.ts';
import { newLegacyEndpoint } from '../../rows/legacy-endpoint.ts';
import type { EndpointRecord, LegacyChange, UrlTaken } from '../../store.ts';
import type { EndpointWrites } from './endpoint-writes.ts';

/** The endpoint behind the single-URL operation, in the caller's transaction. */
export class LegacyEndpointWrites {
  readonly #endpoints: EndpointWrites;

  constructor(endpoints: EndpointWrites) {
    this.#endpoints = endpoints;
  }

  set(
    merchantId: string,
    uuid: string,
    change: LegacyChange | null,
    options: { readonly at: number; readonly actor: Actor },
  ): Changed<EndpointRecord | null> | UrlTaken | { readonly kind: 'incomplete' } {
    if (change === null) return this.#remove(merchantId, uuid, options);
    const { url, secret } = change;
    const on = url === undefined ? {} : ({ status: 'active' } as const);
    const changed = this.#endpoints.update(merchantId, uuid, { ...change, ...on }, options);
    if (changed.kind !== 'not_found') return changed;
    if (url === undefined || secret === undefined) return { kind: 'incomplete' };
    const created = this.#endpoints.create(newLegacyEndpoint(merchantId, uuid, url, secret), {
      ...options,
      quota: 0,
    });
    if (created.kind === 'quota_exceeded') throw new Error('the quota counts managed endpoints only');
    return created;
  }

  /** Removes the endpoint. When there is none, nothing is published, so there is nothing to wait for. */
  #remove(
    merchantId: string,
    uuid: string,
    options: { readonly at: number; readonly actor: Actor },
  ): Changed<null> {
    const removed = this.#endpoints.remove(merchantId, uuid, options);
    return { kind: 'ok', record: null, outboxId: removed.kind === 'ok' ? removed.outboxId : 0 };
  }
}
