import type { EndpointRecord } from '../store/store.ts';
import type { Environment } from './auth.ts';

/** Formats a time for the API: RFC 3339, UTC, milliseconds. */
export function timestamp(milliseconds: number): string {
  return new Date(Math.floor(milliseconds)).toISOString();
}

export function timestampOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : timestamp(milliseconds);
}

/**
 * Returns the endpoint as merchants see it (docs/decisions.md, "Endpoint record"). It never contains the secret, sealed
 * or plain.
 */
export function endpointJson(record: Omit<EndpointRecord, 'secret' | 'version'>, environment: Environment) {
  return {
    uuid: record.uuid,
    url: record.url,
    description: record.description,
    subscribed_events: record.subscribedEvents,
    status: record.status,
    api_version: record.apiVersion,
    environment,
    created_at: timestamp(record.createdAt),
    updated_at: timestamp(record.updatedAt),
    secret_hint: record.secretHint,
    secret_rotated_at: timestampOrNull(record.secretRotatedAt),
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
