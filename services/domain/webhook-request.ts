import type { DeliveryHead } from './journal.ts';
import { isoTime } from './text/iso-time.ts';

/** hookrail's name and major version; receivers may filter on it, so a minor release does not change it. */
export const USER_AGENT = 'hookrail/0';

/** Stands in the delivery log where the secret was. */
const REDACTED = 'API-Key [redacted]';

/** What the headers are made of besides the delivery. */
export interface WebhookAttempt {
  readonly delivery: Pick<
    DeliveryHead,
    'deliveryId' | 'eventId' | 'endpointId' | 'apiVersion' | 'trigger' | 'attempt' | 'occurredAt'
  >;
  /** When the attempt started, milliseconds since the epoch. */
  readonly startedAt: number;
  /** The whole value of `webhook-signature`. */
  readonly signature: string;
}

/** The seconds that are sent and signed as `webhook-timestamp`. */
export function webhookTimestamp(startedAt: number): number {
  return Math.floor(startedAt / 1000);
}

/**
 * The value of Authorization (docs/specification.md, "Webhook requests"): the secret of the endpoint that the webhook
 * is sent to.
 */
export function authorizationOf(secret: string): string {
  return `API-Key ${secret}`;
}

/**
 * Every header of a webhook request (docs/decisions.md, "Webhook requests"), names and values in turn.
 * Flat, because this is made for every attempt and an HTTP client takes it as it is.
 */
export function webhookHeaders(
  { delivery, startedAt, signature }: WebhookAttempt,
  authorization: string,
): string[] {
  const headers = [
    'Accept',
    'application/json',
    'Content-type',
    'application/json',
    'Authorization',
    authorization,
    'User-Agent',
    USER_AGENT,
    'webhook-id',
    delivery.eventId,
    'webhook-timestamp',
    `${webhookTimestamp(startedAt)}`,
    'webhook-signature',
    signature,
    'webhook-attempt',
    `${delivery.attempt}`,
    'webhook-delivery-id',
    delivery.deliveryId,
    'webhook-endpoint-id',
    delivery.endpointId,
    'webhook-event-time',
    isoTime(delivery.occurredAt),
    'webhook-api-version',
    delivery.apiVersion,
  ];
  if (delivery.trigger === 'test') headers.push('webhook-test', 'true');
  return headers;
}

/** The headers as the delivery log shows them: made again from an attempt's record, without the secret. */
export function redactedHeaders(attempt: WebhookAttempt): Record<string, string> {
  const flat = webhookHeaders(attempt, REDACTED);
  const shown: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) shown[`${flat[i]}`] = `${flat[i + 1]}`;
  return shown;
}
