import { PLATFORM_CODES } from './platform/platform-codes.ts';
import { PORTAL_CODES } from './portal/portal-codes.ts';
import { KIND_CODES } from './routes/kind-codes.ts';

/**
 * Every error code of the API: its status, title, and the remedy. A test compares openapi.yaml and docs/errors.md with
 * this list (docs/decisions.md, "Errors"). A code never changes its meaning; titles and hints may. 400 = does not match
 * the OpenAPI schema; 422 = matches, but a rule refuses it; 409 = conflicts with state.
 */
export const ERROR_CODES = {
  malformed_request: {
    status: 400,
    title: 'The HTTP request is malformed',
    hint: 'Check the path’s percent-encoding and the headers.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    hint: 'Send one JSON value in UTF-8.',
  },
  validation_error: {
    status: 400,
    title: 'The request does not match the API description',
    hint: 'Each entry of errors[] says what is wrong and where; the API description is at /openapi.yaml.',
  },
  invalid_uuid: {
    status: 400,
    title: 'An id in the path is not a UUID',
    hint: 'Use the uuid that create or list returned.',
  },
  url_scheme_not_https: {
    status: 400,
    title: 'The URL is not https',
    hint: 'Webhooks are sent over HTTPS only: use a URL that begins with https://.',
  },
  unknown_event_type: {
    status: 400,
    title: 'The filter names an unknown event type',
    hint: 'Use only the event types listed in the detail.',
  },
  empty_filter: {
    status: 400,
    title: 'The filter is empty',
    hint: 'Name at least one event type, or omit subscribed_events (null on update) to receive all.',
  },
  exactly_one_entity_required: {
    status: 400,
    title: 'A test concerns exactly one entity',
    hint: 'Send either user_uuid or corporate_uuid.',
  },
  unsupported_api_version: {
    status: 400,
    title: 'This API version is not supported',
    hint: 'Use 2.3.8 or 2.2.8, or omit the version for 2.3.8.',
  },
  api_key_missing: {
    status: 401,
    title: 'No API key',
    hint: 'Send the header Authorization: API-Key <key>.',
  },
  api_key_malformed: {
    status: 401,
    title: 'The API key is malformed',
    hint: 'Copy the whole key, and send it as Authorization: API-Key <key>.',
  },
  api_key_invalid: {
    status: 401,
    title: 'The API key is unknown, revoked or of the wrong kind',
    hint: 'Merchant operations need an sk_… key, producer operations a pk_… key, platform operations a plk_… key; ask the operator for a new one.',
  },
  api_key_environment_mismatch: {
    status: 401,
    title: 'The API key belongs to the other environment',
    hint: 'Use an sk_sandbox_…, pk_sandbox_… or plk_sandbox_… key in the sandbox, an sk_live_…, pk_live_… or plk_live_… key in production.',
  },
  ...PORTAL_CODES,
  ...PLATFORM_CODES,
  publish_not_allowed: {
    status: 403,
    title: 'The key may not publish this',
    hint: 'Publish it with another key, or ask the operator to change the key’s types or merchants (keys set).',
  },
  test_not_available_in_production: {
    status: 403,
    title: 'Tests are not available in production',
    hint: 'Send test webhooks from the sandbox.',
  },
  route_not_found: {
    status: 404,
    title: 'There is nothing at this path',
    hint: 'The paths are in the reference at /docs and in /openapi.yaml.',
  },
  webhook_endpoint_not_found: {
    status: 404,
    title: 'No such webhook endpoint',
    hint: 'List the endpoints with GET /merchant/webhook-endpoints.',
  },
  delivery_not_found: {
    status: 404,
    title: 'This endpoint has no such delivery',
    hint: 'List the endpoint’s deliveries; they are kept for a limited time.',
  },
  event_not_found: {
    status: 404,
    title: 'No such event',
    hint: 'An event can be read a moment after it was accepted, and is kept for a limited time.',
  },
  subject_not_found: {
    status: 404,
    title: 'Nothing is known about this id',
    hint: 'No event about it was accepted for you in this environment, or none is kept any more. Compare the id and the environment of the key; then ask the platform whether it has published the event.',
  },
  id_not_found: {
    status: 404,
    title: 'Nothing of yours has this id',
    hint: 'Ids of events, deliveries, endpoints, transactions, accounts, users, replays, and of requests that changed something are found, for as long as they are kept. Compare the environment of the key.',
  },
  replay_not_found: {
    status: 404,
    title: 'This endpoint has no such replay',
    hint: 'List the endpoint’s replays.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    hint: 'The Allow header lists the methods.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    hint: 'Send the whole request without pauses.',
  },
  url_already_registered: {
    status: 409,
    title: 'Another endpoint of yours has this URL',
    hint: 'Update the endpoint named by existing_uuid, or use another URL.',
  },
  endpoint_quota_exceeded: {
    status: 409,
    title: 'Too many endpoints',
    hint: 'Delete endpoints that are not needed, or ask the operator for a higher limit.',
  },
  public_key_signature_unavailable: {
    status: 409,
    title: 'The platform has no key for the signature v1a',
    hint: 'Leave public_key_signature out, or ask the operator to make a signing key (signing-keys create).',
  },
  endpoint_not_active: {
    status: 409,
    title: 'The endpoint is not active',
    hint: 'Set its status to active, then repeat the request.',
  },
  delivery_body_removed: {
    status: 409,
    title: 'The body of this delivery is no longer kept',
    hint: 'The delivery cannot be resent without its body. Bodies are kept for a limited time.',
  },
  replay_running: {
    status: 409,
    title: 'A replay of this endpoint is running',
    hint: 'Wait for the replay named by replay_uuid to end, then start another.',
  },
  secret_not_prepared: {
    status: 409,
    title: 'No secret is prepared',
    hint: 'Prepare one with POST …/secret/prepare, or repeat the request without naming it.',
  },
  idempotency_key_in_progress: {
    status: 409,
    title: 'A request with this Idempotency-Key is still running',
    hint: 'Wait for its response, then repeat the request to get the same response.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    hint: 'Send less in one request; the detail gives the limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not application/json',
    hint: 'Send Content-Type: application/json, in UTF-8, not compressed.',
  },
  expectation_failed: {
    status: 417,
    title: 'The request expects what the server does not do',
    hint: 'Send no Expect header, or Expect: 100-continue.',
  },
  unknown_host: {
    status: 421,
    title: 'The request names another host',
    hint: 'Use an address or localhost; the operator names further hosts in HOOKRAIL_API_NAMES.',
  },
  url_not_allowed: {
    status: 422,
    title: 'The URL is not allowed',
    hint: 'errors[0] names the rule; use a public DNS name.',
  },
  header_not_allowed: {
    status: 422,
    title: 'The header is not allowed',
    hint: 'errors[0] names the header and the rule; its value is never repeated.',
  },
  legacy_webhook_incomplete: {
    status: 422,
    title: 'The single webhook needs a URL and a secret',
    hint: 'Send webhook_url and webhook_secret together; null for one removes both.',
  },
  type_not_in_api_version: {
    status: 422,
    title: 'This event is not in the endpoint’s API version',
    hint: 'Use a type of that version, or set api_version to 2.3.8.',
  },
  ...KIND_CODES,
  subtype_type_mismatch: {
    status: 422,
    title: 'The subType does not belong to the type',
    hint: 'Use one of the subTypes listed in the detail.',
  },
  entity_not_allowed_for_type: {
    status: 422,
    title: 'Events of this type do not concern this kind of entity',
    hint: 'Use user_uuid or corporate_uuid as the detail says.',
  },
  test_not_resendable: {
    status: 422,
    title: 'A test cannot be resent',
    hint: 'Send another test webhook instead.',
  },
  empty_period: {
    status: 422,
    title: 'The period of the replay is empty',
    hint: 'since must be before until, and in the past.',
  },
  period_not_countable: {
    status: 422,
    title: 'Attempts cannot be counted in this period',
    hint: 'At most 31 days, in at most 300 points: errors[0] says what to change.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'This Idempotency-Key was used for another request',
    hint: 'Use a new key for each new request.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    hint: 'Send at most 16 KiB of headers.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    hint: 'Wait as many seconds as Retry-After says.',
  },
  too_many_failed_keys: {
    status: 429,
    title: 'Too many requests without a valid key',
    hint: 'Wait as many seconds as Retry-After says, and send a valid key. A key that was accepted before is not held up.',
  },
  too_many_streams: {
    status: 429,
    title: 'Too many open streams',
    hint: 'Wait as many seconds as Retry-After says, and use one stream for several readers; the operator can raise the limit.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    hint: 'Repeat the request; if it keeps failing, send the request id to the operator.',
  },
  temporarily_unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    hint: 'Repeat the request after Retry-After seconds; with the same Idempotency-Key nothing is done twice.',
  },
  change_committed_pending: {
    status: 503,
    title: 'The change is saved but not yet in force everywhere',
    hint: 'It comes into force without another request. Read the endpoint, or repeat with the same Idempotency-Key.',
  },
} as const satisfies Record<string, { status: number; title: string; hint: string }>;
export type ErrorCode = keyof typeof ERROR_CODES;

/** Returns the list as the markdown table of docs/errors.md. */
export function errorCodesTable(): string {
  const rows = Object.entries(ERROR_CODES)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, title, hint }]) => `| ${status} | \`${code}\` | ${title} | ${hint} |`);
  return ['| status | code | meaning | what to do |', '|---|---|---|---|', ...rows, ''].join('\n');
}
