import type { RequestHandler } from 'express';
import type { HeaderGiven } from '../../domain/controls/custom-headers.ts';
import { API_VERSION_DEFAULT, type ApiVersion } from '../../domain/endpoint.ts';
import { checkEndpointUrl, type EndpointUrlPolicy } from '../../domain/endpoint-url.ts';
import type { NoticeFormat, WebhookType } from '../../domain/notices/notice.ts';
import { secretHint } from '../../domain/secret.ts';
import type { EndpointRecord } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import { type ApiContext, actorOf, wholeNow } from '../context.ts';
import { endpointJson } from '../endpoint-json.ts';
import { type Answer, idempotently, type Remember } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { requireSigningKey } from '../well-known/webhook-keys.ts';
import { newHeaders } from './endpoint-headers.ts';
import { filterWarnings } from './filter-warnings.ts';
import { drawSecret } from './secrets.ts';

interface CreateBody {
  readonly url: string;
  readonly description: string;
  /** Null is every type, as in an update. */
  readonly subscribed_events?: readonly WebhookType[] | null;
  readonly api_version?: ApiVersion;
  readonly status?: 'active' | 'disabled';
  readonly public_key_signature?: boolean;
  readonly headers?: readonly HeaderGiven[] | null;
  readonly requests_per_second?: number | null;
  readonly kind?: 'events' | 'operational';
  /** Only with the kind `operational`. */
  readonly format?: NoticeFormat;
}

/** POST /merchant/webhook-endpoints: responds with the secret (docs/decisions.md, "Endpoint operations"). */
export function createEndpoint(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const actor = actorOf(response);
    const headerVersion = request.get('api-version') as ApiVersion | undefined;
    await idempotently(context, { request, response, replayWaits: false }, (remember) =>
      create(context, merchantOf(response), actor, request.body, headerVersion, remember),
    );
  };
}

async function create(
  context: ApiContext,
  merchantId: string,
  actor: ReturnType<typeof actorOf>,
  body: CreateBody,
  headerVersion: ApiVersion | undefined,
  remember: Remember,
): Promise<Answer> {
  const at = wholeNow(context.clock);
  const secret = drawSecret(context);
  const uuid = context.random.uuid();
  const headers = newHeaders(context, uuid, body.headers);
  const endpoint = {
    uuid,
    merchantId,
    url: acceptedUrl(body.url, '/url', context.options.egress),
    description: body.description,
    subscribedEvents: foldedFilter(body.subscribed_events),
    apiVersion: body.api_version ?? headerVersion ?? API_VERSION_DEFAULT,
    secret: context.keyRing.seal(secret, uuid),
    secretHint: secretHint(secret),
    legacy: false,
    publicKeySignature: body.public_key_signature ?? false,
    ...(headers ? { headers } : {}),
    ...(body.requests_per_second ? { requestsPerSecond: body.requests_per_second } : {}),
    status: body.status ?? 'active',
    ...noticesOf(body),
  };
  requireSigningKey(context, endpoint.publicKeySignature);
  const warnings = filterWarnings(endpoint);
  const disabled =
    endpoint.status === 'disabled' ? ({ disabledAt: at, disabledReason: 'manual' } as const) : {};
  const record = { ...BRAND_NEW, ...endpoint, ...disabled, createdAt: at, updatedAt: at };
  const answer: Answer = {
    status: 201,
    headers: { Location: `/merchant/webhook-endpoints/${uuid}` },
    body: {
      ...endpointJson(record, context.environment),
      signing_secret: secret,
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
  const stored = remember(answer);
  const result = await context.store.endpoints.create(endpoint, {
    at,
    actor,
    quota: context.options.endpointQuota,
    ...(stored ? { answer: stored } : {}),
  });
  if (result.kind === 'url_taken') throw urlTaken(result.existingUuid);
  if (result.kind === 'quota_exceeded') {
    const detail = `The limit is ${context.options.endpointQuota} endpoints per merchant.`;
    throw new ApiError('endpoint_quota_exceeded', detail);
  }
  // A merchant that creates an endpoint and causes an event at once expects to receive it. When the senders cannot be
  // notified in time, the endpoint exists all the same, and an error would lose its secret.
  await context.relay.published(result.outboxId, context.limits.publishedWaitMs);
  return answer;
}

/** The initial state of a record. The response is made before the commit, because its stored copy commits with it. */
const BRAND_NEW = {
  secretRotatedAt: null,
  preparedHint: null,
  preparedAt: null,
  newestCheck: null,
  headersSetAt: null,
  disabledAt: null,
  disabledReason: null,
  failureCount: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  lastFailure: null,
} as const satisfies Partial<EndpointRecord>;

/**
 * Returns a URL's canonical form, or throws the error that names the rule it breaks. `pointer`: its place in the body.
 */
export function acceptedUrl(raw: string, pointer: string, policy: EndpointUrlPolicy): string {
  const verdict = checkEndpointUrl(raw, policy);
  if (verdict.ok) return verdict.url;
  const errors = [{ pointer, code: verdict.rule, detail: verdict.detail }];
  throw new ApiError(verdict.code, `${capitalised(verdict.detail)}.`, { errors });
}

/** Removes duplicates; no filter = every type. */
export function foldedFilter(
  types: readonly WebhookType[] | null | undefined,
): readonly WebhookType[] | null {
  return types === undefined || types === null ? null : [...new Set(types)];
}

/** Returns the form of an operational endpoint's notices; nothing for one that gets events. */
function noticesOf({ kind, format }: CreateBody): Pick<EndpointRecord, 'notices'> {
  if (kind === 'operational') return { notices: format ?? 'json' };
  if (format === undefined) return {};
  throw new ApiError(
    'format_not_of_kind',
    `/format: ${format} is a form of operational notices, and the endpoint is for events.`,
  );
}

export function urlTaken(existingUuid: string): ApiError {
  const detail = `Endpoint ${existingUuid} has this URL: a receiver could not tell the two secrets apart.`;
  return new ApiError('url_already_registered', detail, { extra: { existing_uuid: existingUuid } });
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
