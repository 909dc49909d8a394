import { type Advice, attemptAdvice } from '../client/advice.ts';
import { ApiRefusal } from '../client/api-refusal.ts';
import type { MerchantApi } from '../client/merchant-api.ts';
import type { Watched, WatchedDelivery } from '../client/watch-news.ts';
import type { Output } from '../output.ts';

/** Returns what is wrong with a delivery's receiver when its last attempt failed for a reason that hookrail knows. */
export async function deliveryAdvice(
  api: MerchantApi,
  delivery: Pick<WatchedDelivery, 'attempts' | 'endpoint_uuid'>,
): Promise<Advice | undefined> {
  const last = delivery.attempts.at(-1);
  if (last === undefined || last.failure_code === null) return undefined;
  const endpoint = await api.endpoint(delivery.endpoint_uuid).catch(notFound);
  return endpoint && attemptAdvice(last, endpoint);
}

/** Prints the advice for deliveries that failed, once for each endpoint. */
export async function adviseOn(output: Output, api: MerchantApi, watched: readonly Watched[]): Promise<void> {
  const byEndpoint = new Map<string, WatchedDelivery>();
  for (const { deliveries } of watched) {
    for (const delivery of deliveries.values()) {
      if (delivery?.attempts.at(-1)?.failure_code) byEndpoint.set(delivery.endpoint_uuid, delivery);
    }
  }
  for (const delivery of byEndpoint.values()) {
    const advice = await deliveryAdvice(api, delivery);
    if (advice) output.advise(advice);
  }
}

/** Turns "there is none" into undefined. */
export function notFound(error: unknown): undefined {
  if (error instanceof ApiRefusal && error.status === 404) return undefined;
  throw error;
}
