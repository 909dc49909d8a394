import type { RequestHandler } from 'express';
import { orderErasure } from '../../management/erasures.ts';
import type { ErasureOrder } from '../../store/maintenance.ts';
import { type ApiContext, actorOf } from '../context.ts';
import { sendJson } from '../idempotency.ts';

interface ErasureBody {
  readonly entity_uuid: string;
  readonly merchant_id?: string;
}

/** POST /platform/erasures: the service carries the order out within minutes. */
export function erasePerson(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { entity_uuid: entity, merchant_id }: ErasureBody = request.body;
    const deps = { ...context, actor: actorOf(response) };
    sendJson(
      response,
      202,
      erasureJson(await orderErasure(deps, { entity, merchantId: merchant_id ?? null })),
    );
  };
}

/** GET /platform/erasures: what is ordered and not finished, oldest first. */
export function listErasures({ store }: ApiContext): RequestHandler {
  return async (_request, response) => {
    sendJson(response, 200, { data: (await store.erasures.unfinished()).map(erasureJson) });
  };
}

function erasureJson({ entityId, merchantId }: ErasureOrder) {
  return { entity_uuid: entityId, merchant_id: merchantId };
}
