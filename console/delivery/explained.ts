import { type Explained, explainDelivery } from '../../services/domain/failures/explanation.ts';
import type { DeliveryDetail } from '../api/shapes.ts';

const timeOf = (at: string | null) => (at === null ? null : Date.parse(at));

/** Returns what has become of a delivery, why, and what helps: the sentence that the story of the API has. */
export function explained(delivery: DeliveryDetail): string {
  const facts = {
    status: delivery.status,
    cancelReason: delivery.cancel_reason,
    parkedReason: delivery.parked_reason,
    attemptsMade: delivery.attempts_made,
    attemptsMax: delivery.attempts_max,
    nextAttemptAt: timeOf(delivery.next_attempt_at),
    lastAttemptAt: timeOf(delivery.last_attempt_at),
    lastResponseStatus: delivery.last_response_status,
    lastFailureCode: delivery.last_failure_code,
    apiVersion: delivery.api_version,
  };
  // The texts of the API are those of the domain, of which this build knows all.
  return explainDelivery(facts as Explained, delivery.held);
}
