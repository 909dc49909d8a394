import type { LegacyChange, NewEndpoint } from '../endpoints.ts';

/** Shown instead of a merchant's description. */
const DESCRIPTION = 'The single webhook URL of API 2.2.8';

/** Returns the endpoint behind the single-URL operation, as it is created. */
export function newLegacyEndpoint(
  merchantId: string,
  uuid: string,
  url: string,
  secret: NonNullable<LegacyChange['secret']>,
): NewEndpoint {
  return {
    uuid,
    merchantId,
    url,
    description: DESCRIPTION,
    subscribedEvents: null,
    apiVersion: '2.2.8',
    secret: secret.sealed,
    secretHint: secret.hint,
    legacy: true,
  };
}
