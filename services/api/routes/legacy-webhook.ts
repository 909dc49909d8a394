import type { Request, RequestHandler, Response } from 'express';
import { legacyEndpointId } from '../../domain/ids.ts';
import { chosenSecretFault, secretHint } from '../../domain/secret.ts';
import type { EndpointRecord, LegacyChange } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import { type ApiContext, actorOf, awaitPublished, wholeNow } from '../context.ts';
import { endpointJson } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { hintAfter } from './change-endpoint.ts';
import { acceptedUrl, urlTaken } from './create-endpoint.ts';

interface LegacyBody {
  readonly webhook_url?: string | null;
  readonly webhook_secret?: string | null;
}

/** GET /merchant: the single webhook of API 2.2.8 (docs/decisions.md, "The single webhook of 2.2.8"). */
export function getLegacyWebhook(context: ApiContext): RequestHandler {
  return async (_request, response) => {
    const { merchantId, uuid } = legacyOf(context, response);
    const record = await context.store.endpoints.get(merchantId, uuid);
    sendJson(response, 200, legacyJson(context, record ?? null));
  };
}

/** PATCH /merchant: responds once the senders know. Repeating the request changes nothing, so it needs no key. */
export function updateLegacyWebhook(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { merchantId, uuid } = legacyOf(context, response);
    const change = acceptedChange(context, uuid, request);
    const before = await context.store.endpoints.get(merchantId, uuid);
    const result = await context.store.endpoints.setLegacy(merchantId, uuid, change, {
      at: wholeNow(context.clock),
      actor: actorOf(response),
    });
    if (result.kind === 'incomplete') {
      throw new ApiError(
        'legacy_webhook_incomplete',
        'There is no webhook yet: send both webhook_url and webhook_secret.',
      );
    }
    if (result.kind === 'url_taken') throw urlTaken(result.existingUuid);
    await awaitPublished(context, result.outboxId);
    const { record } = result;
    const hint = before && record ? hintAfter(before, record) : undefined;
    sendJson(response, 200, { ...legacyJson(context, record), ...(hint === undefined ? {} : { hint }) });
  };
}

function legacyOf(context: ApiContext, response: Response) {
  const merchantId = merchantOf(response);
  return { merchantId, uuid: legacyEndpointId(context.environment, merchantId) };
}

/** Returns the change. Null = remove: one part cannot exist without the other. */
function acceptedChange(context: ApiContext, uuid: string, request: Request): LegacyChange | null {
  const { webhook_url: url, webhook_secret: secret }: LegacyBody = request.body;
  if (url === null || secret === null) {
    if ((url ?? null) === null && (secret ?? null) === null) return null;
    throw new ApiError(
      'legacy_webhook_incomplete',
      'Send both webhook_url and webhook_secret as null, or neither.',
    );
  }
  return {
    ...(url === undefined ? {} : { url: acceptedUrl(url, '/webhook_url', context.options.egress) }),
    ...(secret === undefined ? {} : { secret: acceptedSecret(context, uuid, secret) }),
  };
}

/** Checks a secret. The detail of an error describes the rule, never the secret. */
function acceptedSecret(context: ApiContext, uuid: string, secret: string) {
  const fault = chosenSecretFault(secret);
  if (fault === null) return { sealed: context.keyRing.seal(secret, uuid), hint: secretHint(secret) };
  const errors = [{ pointer: '/webhook_secret', code: 'invalid_format', detail: fault }];
  throw new ApiError('validation_error', `The secret ${fault}.`, { errors });
}

function legacyJson(context: ApiContext, record: EndpointRecord | null) {
  return {
    webhook_url: record?.url ?? null,
    webhook_secret_hint: record?.secretHint ?? null,
    webhook_endpoint: record && endpointJson(record, context.environment),
  };
}
