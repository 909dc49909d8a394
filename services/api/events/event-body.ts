import { API_VERSION_DEFAULT, type ApiVersion } from '../../domain/endpoint.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { renderBody } from '../../domain/versions/render.ts';
import type { StoredEvent } from '../../store/store.ts';

/** Returns the version in which a request asks for bodies. */
export function apiVersionOf(query: URLSearchParams): ApiVersion {
  return (query.get('api_version') as ApiVersion | null) ?? API_VERSION_DEFAULT;
}

/**
 * Returns an event's body as a merchant with these entitlements reads it: the event itself may hold fields that only
 * entitled merchants see. Null where the version does not have the event, and where it is no longer kept.
 */
export function bodyJson(
  { data, ...event }: StoredEvent,
  apiVersion: ApiVersion,
  merchant: { readonly senderAccountDetails: boolean } | undefined,
): { readonly body: string | null; readonly body_removed: boolean } {
  if (data === null) return { body: null, body_removed: true };
  const whole: DomainEvent = { ...event, data };
  const rendered = renderBody(whole, apiVersion, {
    senderAccountDetails: merchant?.senderAccountDetails ?? false,
  });
  const body = rendered.kind === 'rendered' ? Buffer.from(rendered.body).toString('utf8') : null;
  return { body, body_removed: false };
}
