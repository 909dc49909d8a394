import type { DeliveryHead } from './journal.ts';

/** hookrail's name and major version; receivers may filter on it, so a minor release does not change it. */
export const USER_AGENT = 'hookrail/0';

/** The value of Authorization in the delivery log, which does not have the secret. */
export const REDACTED = 'API-Key [redacted]';

/** The input of the headers besides the delivery. */
export interface WebhookAttempt {
  readonly delivery: Pick<
    DeliveryHead,
    | 'deliveryId'
    | 'eventId'
    | 'endpointId'
    | 'entityId'
    | 'subjectId'
    | 'sequence'
    | 'apiVersion'
    | 'trigger'
    | 'attempt'
    | 'occurredAt'
  >;
  /** When the attempt started, milliseconds since the epoch. */
  readonly startedAt: number;
  /** The whole value of `webhook-signature`. */
  readonly signature: string;
}

/** Returns the seconds that are sent and signed as `webhook-timestamp`. */
export function webhookTimestamp(startedAt: number): number {
  return Math.floor(startedAt / 1000);
}

/**
 * Returns the value of Authorization (docs/specification.md, "Webhook requests"), with the secret of the endpoint that
 * receives the webhook.
 */
export function authorizationOf(secret: string): string {
  return `API-Key ${secret}`;
}

/**
 * Returns every header of a webhook request (docs/decisions.md, "Webhook requests"), names and values in turn: a flat
 * array, because every attempt needs one and an HTTP client takes it as it is.
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
    new Date(delivery.occurredAt).toISOString(),
    'webhook-api-version',
    delivery.apiVersion,
    'webhook-subject-id',
    headerText(delivery.subjectId ?? delivery.entityId),
    'webhook-sequence',
    `${delivery.sequence}`,
  ];
  if (delivery.trigger === 'test') headers.push('webhook-test', 'true');
  return headers;
}

/** Returns an id as a header has it: of a bank's, which is any text, what no header may contain is percent-encoded. */
function headerText(id: string): string {
  return /^[!-~]*$/.test(id) ? id : encodeURIComponent(id.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}

/** Returns the headers as the delivery log shows them: rebuilt from an attempt's record, without the secret. */
export function redactedHeaders(attempt: WebhookAttempt): Record<string, string> {
  const flat = webhookHeaders(attempt, REDACTED);
  const shown: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) shown[`${flat[i]}`] = `${flat[i + 1]}`;
  return shown;
}
