import { type ApiVersion, type Endpoint, subscribes } from '../endpoint.ts';
import type { DomainEvent } from '../event.ts';
import type { SkipReason } from '../journal.ts';
import type { Merchant } from '../merchant.ts';
import { type Rendered, renderBody } from '../versions/render.ts';

/** The bodies of an event, one per API version in use, or why it cannot be routed. */
export type RoutedBodies =
  | {
      readonly fault: null;
      readonly bodies: readonly { readonly apiVersion: ApiVersion; readonly body: Uint8Array }[];
    }
  | { readonly fault: string };

/**
 * Decides where an event goes: calls `decided` for each endpoint, with the body it gets or why it gets none, in their
 * order. The event as a whole is refused when it breaks the presence table: then what was decided counts for nothing.
 */
export function routeTo(
  event: DomainEvent,
  merchant: Merchant,
  endpoints: Iterable<Endpoint>,
  decided: (endpoint: Endpoint, verdict: Uint8Array | SkipReason) => void,
): RoutedBodies {
  const known: Partial<Record<ApiVersion, Rendered>> = {};
  const bodies: { apiVersion: ApiVersion; body: Uint8Array }[] = [];
  for (const endpoint of endpoints) {
    const skip = whyNot(endpoint, event);
    if (skip) {
      decided(endpoint, skip);
      continue;
    }
    const { apiVersion } = endpoint;
    let rendered = known[apiVersion];
    if (!rendered) {
      rendered = renderBody(event, apiVersion, { senderAccountDetails: merchant.senderAccountDetails });
      known[apiVersion] = rendered;
      if (rendered.kind === 'rendered') bodies.push({ apiVersion, body: rendered.body });
    }
    if (rendered.kind === 'invalid') return { fault: `${rendered.pointer}: ${rendered.detail}` };
    decided(endpoint, rendered.kind === 'skipped' ? rendered.reason : rendered.body);
  }
  return { fault: null, bodies };
}

/** Checks status and filter; the renderer checks whether the version has the event. */
function whyNot(endpoint: Endpoint, event: DomainEvent): SkipReason | null {
  if (endpoint.status === 'disabled') return 'endpoint_disabled';
  if (endpoint.status === 'auto_disabled') return 'endpoint_auto_disabled';
  return subscribes(endpoint, event.type) ? null : 'filtered';
}
