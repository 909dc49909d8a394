import type { Delivery } from '../log/delivery.ts';
import type { DeliveryColumns } from './log-records.ts';

type Row = Omit<DeliveryColumns<unknown>, `${string}_id` | 'sub_type' | 'occurred_at'> & {
  readonly seq: number;
  readonly endpoint: number;
  readonly removed: number;
};

/** Returns a row as a batch changes it. `given`: the fields that each engine reads in its own way. */
export function toStoredDelivery(
  row: Row,
  given: Pick<Delivery, 'deliveryId' | 'endpointId' | 'event' | 'isNew'>,
): Delivery {
  return {
    ...given,
    seq: row.seq,
    endpoint: row.endpoint,
    type: row.type,
    apiVersion: row.api_version,
    trigger: row.trigger,
    attemptsMax: row.attempts_max,
    isRemoved: row.removed,
    createdAt: row.created_at,
    status: row.status,
    cancelReason: row.cancel_reason,
    attemptsMade: row.attempts_made,
    nextAttemptAt: row.next_attempt_at,
    lastAttemptAt: row.last_attempt_at,
    lastResponseStatus: row.last_response_status,
    lastFailureCode: row.last_failure_code,
    parked: row.parked,
    isChanged: false,
  };
}
