import type { EndpointCheck } from '../domain/checks/endpoint-check.ts';
import type { EndpointRecord } from '../store/store.ts';
import type { Environment } from './auth.ts';

/** Formats a time for the API: RFC 3339, UTC, milliseconds. */
export function timestamp(milliseconds: number): string {
  return new Date(Math.floor(milliseconds)).toISOString();
}

export function timestampOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : timestamp(milliseconds);
}

/** Returns a check as merchants see it. */
export function checkJson({ at, url, result, steps }: EndpointCheck) {
  return {
    checked_at: timestamp(at),
    url,
    result,
    steps: steps.map(({ durationMs, ...step }) => ({
      ...step,
      duration_ms: durationMs === null ? null : Math.round(durationMs * 10) / 10,
    })),
  };
}

/**
 * Returns the endpoint as merchants see it (docs/decisions.md, "Endpoint record"). It never contains the secret, sealed
 * or plain.
 */
export function endpointJson(
  record: Omit<EndpointRecord, 'secret' | 'prepared' | 'version'>,
  environment: Environment,
) {
  return {
    uuid: record.uuid,
    url: record.url,
    description: record.description,
    kind: record.notices === undefined ? 'events' : 'operational',
    format: record.notices ?? null,
    subscribed_events: record.subscribedEvents,
    status: record.status,
    api_version: record.apiVersion,
    public_key_signature: record.publicKeySignature,
    headers: record.headers?.names.map((name) => ({ name })) ?? [],
    requests_per_second: record.requestsPerSecond ?? null,
    environment,
    created_at: timestamp(record.createdAt),
    updated_at: timestamp(record.updatedAt),
    secret_hint: record.secretHint,
    secret_rotated_at: timestampOrNull(record.secretRotatedAt),
    prepared_secret_hint: record.preparedHint,
    secret_prepared_at: timestampOrNull(record.preparedAt),
    newest_check: record.newestCheck && checkJson(record.newestCheck),
    disabled_at: timestampOrNull(record.disabledAt),
    disabled_reason: record.disabledReason,
    failure_count: record.failureCount,
    last_success_at: timestampOrNull(record.lastSuccessAt),
    last_failure_at: timestampOrNull(record.lastFailureAt),
    last_failure: record.lastFailure && {
      code: record.lastFailure.code,
      response_status: record.lastFailure.responseStatus,
    },
    ...(record.legacy ? { legacy: true } : {}),
  };
}
