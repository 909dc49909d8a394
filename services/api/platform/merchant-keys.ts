import type { RequestHandler } from 'express';
import { createKey } from '../../management/keys.ts';
import { findMerchant } from '../../management/merchants.ts';
import type { ApiKey } from '../../store/store.ts';
import { type ApiContext, actorOf, wholeNow } from '../context.ts';
import { timestamp, timestampOrNull } from '../endpoint-json.ts';
import { type Answer, idempotently, sendJson } from '../idempotency.ts';
import { page, queryOf } from '../pagination.ts';
import { ApiError } from '../problem.ts';
import { PAGE_DEFAULT, pathId } from '../routes/read-endpoints.ts';
import { merchantIdOf } from './merchants.ts';
import { afterOf, cursorOf } from './numbered-pages.ts';

/** POST /platform/merchants/{merchant_id}/api-keys: the key itself is in this response only. */
export function createMerchantKey(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const merchantId = merchantIdOf(request);
    const name: string | null = request.body.name ?? null;
    const deps = { ...context, actor: actorOf(response) };
    await idempotently(context, { request, response, replayWaits: false }, async (remember) => {
      const answerOf = ({ key, text }: { readonly key: ApiKey; readonly text: string }): Answer => ({
        status: 201,
        headers: {},
        body: { ...keyJson(key), key: text },
      });
      const wanted = { kind: 'merchant', merchantId, name } as const;
      return answerOf(await createKey(deps, wanted, (made) => remember(answerOf(made))));
    });
  };
}

/** GET /platform/merchants/{merchant_id}/api-keys: oldest first, revoked ones included. */
export function listMerchantKeys(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { merchantId } = await findMerchant(context, merchantIdOf(request));
    const query = queryOf(request);
    const limit = Number(query.get('limit') ?? PAGE_DEFAULT);
    const found = await context.store.keys.page(merchantId, { limit: limit + 1, ...afterOf(query) });
    const { data, ...rest } = page(found, limit, cursorOf);
    sendJson(response, 200, { data: data.map(keyJson), ...rest });
  };
}

/** DELETE /platform/merchants/{merchant_id}/api-keys/{api_key_uuid}: refused from its next request on. */
export function revokeMerchantKey(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { store, clock } = context;
    const { merchantId } = await findMerchant(context, merchantIdOf(request));
    const keyId = pathId(request, 'api_key_uuid');
    const isOwn = (await store.keys.get(keyId))?.merchantId === merchantId;
    if (!isOwn || !(await store.keys.revoke(keyId, wholeNow(clock), actorOf(response))))
      throw new ApiError('api_key_not_found', '');
    response.status(204).end();
  };
}

function keyJson({ keyId, name, hint, ...key }: ApiKey) {
  return {
    api_key_uuid: keyId,
    name,
    hint,
    created_at: timestamp(key.createdAt),
    revoked_at: timestampOrNull(key.revokedAt),
    last_used_at: timestampOrNull(key.lastUsedAt),
  };
}
