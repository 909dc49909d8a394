import type { EndpointName } from './endpoint-names.ts';
import type { AttemptAnswer, DeliveryDetailAnswer } from './merchant-api.ts';

export type WatchedAttempt = Pick<
  AttemptAnswer,
  | 'number'
  | 'started_at'
  | 'duration_ms'
  | 'response_status'
  | 'failure_code'
  | 'failure_detail'
  | 'next_attempt_at'
>;

/** A delivery that is followed, as far as it is known. */
export type WatchedDelivery = Pick<
  DeliveryDetailAnswer,
  | 'delivery_uuid'
  | 'event_uuid'
  | 'endpoint_uuid'
  | 'type'
  | 'subType'
  | 'status'
  | 'cancel_reason'
  | 'attempts_made'
  | 'next_attempt_at'
> & { readonly attempts: readonly WatchedAttempt[]; readonly endpoint: EndpointName };

/** One event that was sent, and its deliveries so far. */
export interface Watched {
  readonly step: string;
  readonly eventId: string;
  /** Milliseconds since the epoch, by the service's clock. */
  readonly sentAt: number;
  /** It was routed: `deliveries` and `skipped` are complete. */
  routed: boolean;
  /** null: nothing is known of it but its id. */
  readonly deliveries: Map<string, WatchedDelivery | null>;
  /** Endpoints that did not get it, with the reason. */
  skipped: readonly { readonly endpoint: EndpointName; readonly verdict: string }[];
}

/** Something worth a line: an attempt, a cancelled delivery, endpoints that did not get an event, or a pause. */
export type WatchNews =
  | {
      readonly kind: 'attempt';
      readonly watched: Watched;
      readonly delivery: WatchedDelivery;
      readonly attempt: WatchedAttempt;
    }
  | { readonly kind: 'cancelled'; readonly watched: Watched; readonly delivery: WatchedDelivery }
  | { readonly kind: 'skipped'; readonly watched: Watched }
  | { readonly kind: 'limited' | 'lost'; readonly waitMs: number };
