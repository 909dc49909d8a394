import type { Request, RequestHandler } from 'express';
import type { Merchant } from '../../domain/merchant.ts';
import {
  changeMerchant,
  closeMerchant,
  createMerchant,
  findMerchant,
  type NewMerchant,
} from '../../management/merchants.ts';
import { type ApiContext, actorOf } from '../context.ts';
import { type Answer, idempotently, sendJson } from '../idempotency.ts';
import { page, queryOf } from '../pagination.ts';
import { PAGE_DEFAULT } from '../routes/read-endpoints.ts';
import { afterOf, cursorOf } from './numbered-pages.ts';
import { refuseWithout } from './platform-access.ts';

interface MerchantBody {
  readonly merchant_id?: string;
  readonly name: string;
  readonly sender_account_details?: boolean;
}

interface CloseBody {
  readonly reason?: string;
  readonly erase?: boolean;
}

/** POST /platform/merchants */
export function createPlatformMerchant(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const body: MerchantBody = request.body;
    const actor = actorOf(response);
    await idempotently(context, { request, response, replayWaits: false }, async (remember) => {
      const { name, merchant_id: merchantId = context.random.uuid() } = body;
      const merchant = { merchantId, name, senderAccountDetails: body.sender_account_details ?? false };
      const answer: Answer = {
        status: 201,
        headers: { Location: `/platform/merchants/${encodeURIComponent(merchantId)}` },
        body: merchantJson({ ...merchant, state: 'active' }),
      };
      await createMerchant({ ...context, actor }, merchant, remember(answer));
      return answer;
    });
  };
}

/** GET /platform/merchants: oldest first. */
export function listMerchants(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const limit = Number(query.get('limit') ?? PAGE_DEFAULT);
    const state = query.get('state') as Merchant['state'] | null;
    const found = await context.store.merchants.page({
      limit: limit + 1,
      ...afterOf(query),
      ...(state === null ? {} : { state }),
    });
    const { data, ...rest } = page(found, limit, cursorOf);
    sendJson(response, 200, { data: data.map(merchantJson), ...rest });
  };
}

/** GET /platform/merchants/{merchant_id} */
export function getMerchant(context: ApiContext): RequestHandler {
  return async (request, response) => {
    sendJson(response, 200, merchantJson(await findMerchant(context, merchantIdOf(request))));
  };
}

/** PATCH /platform/merchants/{merchant_id}: its name and entitlements. */
export function updateMerchant(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { name, sender_account_details: details }: Partial<MerchantBody> = request.body;
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(details === undefined ? {} : { senderAccountDetails: details }),
    };
    const deps = { ...context, actor: actorOf(response) };
    sendJson(response, 200, merchantJson(await changeMerchant(deps, merchantIdOf(request), change)));
  };
}

/** POST …/pause and …/resume: puts the merchant's deliveries on hold, or releases them. */
export function setState(context: ApiContext, state: 'active' | 'paused'): RequestHandler {
  return async (request, response) => {
    const deps = { ...context, actor: actorOf(response) };
    const merchant = await changeMerchant(deps, merchantIdOf(request), { state }, reasonOf(request));
    sendJson(response, 200, merchantJson(merchant));
  };
}

/** POST …/close: for good. */
export function close(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { reason, erase }: CloseBody = request.body ?? {};
    if (erase) refuseWithout('erasure:write', response);
    const deps = { ...context, actor: actorOf(response) };
    sendJson(
      response,
      200,
      merchantJson(await closeMerchant(deps, merchantIdOf(request), { reason, erase })),
    );
  };
}

/** Returns the merchant's id in the path. */
export function merchantIdOf(request: Request): string {
  return String(request.params.merchant_id);
}

function reasonOf(request: Request): string | undefined {
  return request.body?.reason;
}

function merchantJson({
  merchantId,
  name,
  state,
  senderAccountDetails,
}: NewMerchant & Pick<Merchant, 'state'>) {
  return { merchant_id: merchantId, name, state, sender_account_details: senderAccountDetails };
}
