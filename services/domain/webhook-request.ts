import type { DeliveryHead } from './journal.ts';

/** hookrail's name and major version; receivers may filter on it, so a minor release does not change it. */
export const USER_AGENT = 'hookrail/0';

/** The value of Authorization in the delivery log, which does not have the secret. */
export const REDACTED = 'API-Key [redacted]';
/** The value of a header of the merchant's own there. */
const VALUE_REDACTED = '[redacted]';

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

/**
 * Returns the headers as the delivery log shows them: rebuilt from an attempt's record, without the secret. `own`: the names
 * of the merchant's own headers.
 */
export function redactedHeaders(
  attempt: WebhookAttempt,
  own: readonly string[] = [],
): Record<string, string> {
  const flat = webhookHeaders(attempt, REDACTED);
  const shown: [name: string, value: string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) shown.push([`${flat[i]}`, `${flat[i + 1]}`]);
  for (const name of own) shown.push([name, VALUE_REDACTED]);
  // A header may be named __proto__: an own property of it, as of every other.
  return Object.fromEntries(shown);
}
