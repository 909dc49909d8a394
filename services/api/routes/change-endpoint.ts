import type { Request, RequestHandler, Response } from 'express';
import type { HeaderGiven } from '../../domain/controls/custom-headers.ts';
import type { ApiVersion } from '../../domain/endpoint.ts';
import type { WebhookType } from '../../domain/notices/notice.ts';
import { createReplay } from '../../management/replays.ts';
import type { ReplayScope } from '../../store/replays.ts';
import type { EndpointChange, EndpointRecord } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import { type ApiContext, actorOf, awaitPublished, wholeNow } from '../context.ts';
import { endpointJson, timestamp } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { requireSigningKey } from '../well-known/webhook-keys.ts';
import { acceptedUrl, foldedFilter, urlTaken } from './create-endpoint.ts';
import { headersAfter } from './endpoint-headers.ts';
import { filterWarnings } from './filter-warnings.ts';
import { endpointNotFound, findEndpoint, pathId } from './read-endpoints.ts';
import { scopeOf } from './replays.ts';
import { requireActive } from './resend-delivery.ts';

interface UpdateBody {
  readonly url?: string;
  readonly description?: string;
  readonly status?: 'active' | 'disabled';
  readonly subscribed_events?: readonly WebhookType[] | null;
  readonly api_version?: ApiVersion;
  readonly public_key_signature?: boolean;
  readonly headers?: readonly HeaderGiven[] | null;
  readonly requests_per_second?: number | null;
  readonly replay_since?: string;
}

/** A change that keeps values of headers begins again when they are changed meanwhile. */
const TRIES_MAX = 5;

/** PATCH /merchant/webhook-endpoints/{id}: responds once the senders know. */
export function updateEndpoint(context: ApiContext): RequestHandler {
  return async (request, response) => {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) if (await update(context, request, response)) return;
    throw new ApiError('temporarily_unavailable', 'Other requests change the headers of the endpoint.', {
      headers: { 'Retry-After': '1' },
    });
  };
}

/** Returns whether it has responded: not where the endpoint's headers were changed meanwhile. */
async function update(context: ApiContext, request: Request, response: Response): Promise<boolean> {
  const before = await findEndpoint(context, request, response);
  const change = acceptedChange(context, before, request.body);
  const after = { ...before, ...change };
  const replay = await replayAfter(context, after, request.body);
  const isRefiltered = change.subscribedEvents !== undefined || change.apiVersion !== undefined;
  const warnings = isRefiltered ? filterWarnings(after) : [];
  const result = await context.store.endpoints.update(before.merchantId, before.uuid, change, {
    at: wholeNow(context.clock),
    actor: actorOf(response),
  });
  if (result.kind === 'headers_changed') return false;
  if (result.kind === 'not_found') throw endpointNotFound();
  if (result.kind === 'url_taken') throw urlTaken(result.existingUuid);
  await awaitPublished(context, result.outboxId);
  const hint = replay ? undefined : hintAfter(before, result.record);
  sendJson(response, 200, {
    ...endpointJson(result.record, context.environment),
    ...(replay === undefined ? {} : { replay_uuid: await replayBegun(context, replay, response) }),
    ...(hint === undefined ? {} : { hint }),
    ...(warnings.length === 0 ? {} : { warnings }),
  });
  return true;
}

/** Returns the replay of what the endpoint has missed since a time, which the request asks for with the change. */
async function replayAfter(
  context: ApiContext,
  after: Pick<EndpointRecord, 'merchantId' | 'uuid' | 'status'>,
  { replay_since: since }: UpdateBody,
): Promise<ReplayScope | undefined> {
  if (since === undefined) return undefined;
  requireActive(after);
  return scopeOf(context, after, { since, only: 'missing' });
}

/** Returns the id of the replay that it begins, or of the one that runs already. */
async function replayBegun(context: ApiContext, scope: ReplayScope, response: Response): Promise<string> {
  const created = await createReplay(context, scope, { actor: actorOf(response) });
  return created.kind === 'ok' ? created.record.replayId : created.replayId;
}

function acceptedChange(context: ApiContext, before: EndpointRecord, body: UpdateBody): EndpointChange {
  const { url, description, status, subscribed_events: filter, api_version: apiVersion } = body;
  const { public_key_signature: publicKeySignature } = body;
  const { requests_per_second: requestsPerSecond } = body;
  requireSigningKey(context, publicKeySignature === true);
  const headers = headersAfter(context, before, body.headers);
  return {
    ...(url === undefined ? {} : { url: acceptedUrl(url, '/url', context.options.egress) }),
    ...(description === undefined ? {} : { description }),
    ...(status === undefined ? {} : { status }),
    ...(filter === undefined ? {} : { subscribedEvents: foldedFilter(filter) }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(publicKeySignature === undefined ? {} : { publicKeySignature }),
    ...(headers === undefined ? {} : { headers }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }),
  };
}

/**
 * Returns a hint for an endpoint that is enabled again: it has missed events meanwhile, which are not resent
 * automatically.
 */
export function hintAfter(
  before: Pick<EndpointRecord, 'status' | 'disabledAt'>,
  after: Pick<EndpointRecord, 'status'>,
): string | undefined {
  if (before.status === 'active' || after.status !== 'active') return undefined;
  const since = before.disabledAt === null ? 'it was disabled' : timestamp(before.disabledAt);
  return `Events since ${since} were not sent to this endpoint and are not resent automatically: replay what you need.`;
}

/** DELETE /merchant/webhook-endpoints/{id} */
export function deleteEndpoint(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const result = await context.store.endpoints.remove(merchantOf(response), pathId(request, 'id'), {
      at: wholeNow(context.clock),
      actor: actorOf(response),
    });
    if (result.kind === 'not_found') throw endpointNotFound();
    await awaitPublished(context, result.outboxId);
    response.status(204).end();
  };
}
