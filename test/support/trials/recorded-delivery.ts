import type { MerchantClient } from '../service/merchant-client.ts';

/** An attempt in the delivery log, as the REST API returns it. */
export interface RecordedAttempt {
  readonly number: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly response_status: number | null;
  readonly failure_code: string | null;
}

/** A delivery in the delivery log, as the REST API returns it. */
export interface RecordedDelivery {
  readonly status: string;
  readonly attempts: readonly RecordedAttempt[];
}

/** Reads a delivery from the delivery log over REST; null when it is not there. */
export async function readDelivery(
  merchant: MerchantClient,
  { id, endpointId }: { readonly id: string; readonly endpointId: string },
): Promise<RecordedDelivery | null> {
  const path = `/merchant/webhook-endpoints/${endpointId}/deliveries/${id}`;
  const answer = await merchant.request('GET', path);
  return answer.status === 200 ? answer.body : null;
}
