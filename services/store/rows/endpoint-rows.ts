import type { FailureCode } from '../../domain/attempt.ts';
import type { EndpointCheck } from '../../domain/checks/endpoint-check.ts';
import type { DirectoryChange } from '../../domain/directory.ts';
import type { ApiVersion, Endpoint, EndpointStatus } from '../../domain/endpoint.ts';
import type { Health } from '../../domain/health.ts';
import type { NoticeFormat, WebhookType } from '../../domain/notices/notice.ts';
import type { EndpointRecord } from '../store.ts';
import { type SealColumns, sealOf } from './record-seals.ts';

/** The hint of a secret that only senders can open. */
export const HINT_UNKNOWN = '…';

/** An endpoint with its health, as each engine selects it. */
export interface EndpointRow extends SealColumns {
  readonly seq: number;
  readonly uuid: string;
  readonly merchant_id: string;
  readonly url: string;
  readonly description: string;
  readonly subscribed_events: string | null;
  readonly status: string;
  readonly api_version: string;
  readonly secret_key_id: string;
  readonly secret_ciphertext: string;
  readonly secret_hint: string;
  readonly secret_rotated_at: number | null;
  readonly public_key_signature: number;
  readonly prepared_key_id: string | null;
  readonly prepared_ciphertext: string | null;
  readonly prepared_hint: string | null;
  readonly prepared_at: number | null;
  readonly newest_check: string | null;
  /** JSON */
  readonly header_names: string | null;
  readonly headers_key_id: string | null;
  readonly headers_ciphertext: string | null;
  readonly headers_set_at: number | null;
  readonly requests_per_second: number | null;
  readonly notices: string | null;
  readonly legacy: number;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly activated_at: number;
  readonly disabled_at: number | null;
  readonly disabled_reason: string | null;
  readonly failure_count: number;
  readonly exhausted_count: number;
  readonly last_success_at: number | null;
  readonly last_failure_at: number | null;
  readonly last_failure_code: string | null;
  readonly last_failure_status: number | null;
}

/** Returns the fields that routers and senders need: the value of the endpoint's directory change. */
export function toEndpoint(row: EndpointRow): Endpoint {
  return {
    uuid: row.uuid,
    merchantId: row.merchant_id,
    url: row.url,
    subscribedEvents:
      row.subscribed_events === null ? null : (JSON.parse(row.subscribed_events) as WebhookType[]),
    status: row.status as EndpointStatus,
    apiVersion: row.api_version as ApiVersion,
    secret: { keyId: row.secret_key_id, ciphertext: row.secret_ciphertext },
    publicKeySignature: row.public_key_signature === 1,
    ...preparedOf(row),
    ...headersOf(row),
    ...(row.requests_per_second === null ? {} : { requestsPerSecond: row.requests_per_second }),
    ...(row.notices === null ? {} : { notices: row.notices as NoticeFormat }),
    legacy: row.legacy === 1,
    version: row.version,
  };
}

/** Returns the prepared secret of an endpoint, if it has one. */
export function preparedOf({
  prepared_key_id: keyId,
  prepared_ciphertext: ciphertext,
}: EndpointRow): Pick<Endpoint, 'prepared'> {
  return keyId === null || ciphertext === null ? {} : { prepared: { keyId, ciphertext } };
}

/** Returns the headers of the merchant's own, if the endpoint has some. */
function headersOf({
  header_names: names,
  headers_key_id: keyId,
  headers_ciphertext: ciphertext,
}: EndpointRow): Pick<Endpoint, 'headers'> {
  if (names === null || keyId === null || ciphertext === null) return {};
  return { headers: { names: JSON.parse(names) as string[], sealed: { keyId, ciphertext } } };
}

export function toEndpointRecord(row: EndpointRow): EndpointRecord {
  return {
    ...toEndpoint(row),
    description: row.description,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    secretHint: row.secret_hint,
    secretRotatedAt: row.secret_rotated_at,
    preparedHint: row.prepared_hint,
    preparedAt: row.prepared_at,
    newestCheck: row.newest_check === null ? null : (JSON.parse(row.newest_check) as EndpointCheck),
    headersSetAt: row.headers_set_at,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason as EndpointRecord['disabledReason'],
    failureCount: row.failure_count,
    lastSuccessAt: row.last_success_at,
    lastFailureAt: row.last_failure_at,
    lastFailure: toLastFailure(row),
  };
}

function toLastFailure(row: EndpointRow): EndpointRecord['lastFailure'] {
  if (row.last_failure_code === null) return null;
  return { code: row.last_failure_code as FailureCode, responseStatus: row.last_failure_status };
}

/** Returns the directory change of an endpoint's present state; one that was deleted has no value. */
export function toEndpointChange(row: EndpointRow & { readonly deleted_at: number | null }): DirectoryChange {
  const value = row.deleted_at === null ? toEndpoint(row) : null;
  return { kind: 'endpoint', id: row.uuid, version: row.version, value, ...sealOf(row) };
}

/** Returns the endpoint's health as it is counted. */
export function toHealth(row: EndpointRow): Health {
  return {
    failureCount: row.failure_count,
    exhaustedCount: row.exhausted_count,
    lastSuccessAt: row.last_success_at,
    lastFailureAt: row.last_failure_at,
    lastFailure: toLastFailure(row),
  };
}
