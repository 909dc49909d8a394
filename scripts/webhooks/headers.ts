import { ATTEMPTS_MAX } from '../../services/domain/retry.ts';
import { sign } from '../../services/domain/signature.ts';
import { authorizationOf, webhookHeaders, webhookTimestamp } from '../../services/domain/webhook-request.ts';
import type { Json } from './body-schema.ts';

/** No real secret: "not a real secret, just 32 bytes". */
const SECRET = 'whsec_bm90IGEgcmVhbCBzZWNyZXQsIGp1c3QgMzIgYnl0ZXM=';

/** When the examples happened. */
export const OCCURRED_AT = Date.parse('2025-03-01T10:15:29.000Z');
/** When the examples were sent. */
const STARTED_AT = Date.parse('2025-03-01T10:15:30.123Z');

/** What OpenAPI keeps for itself: media types, and Authorization, which is the security scheme. */
const NOT_PARAMETERS = ['accept', 'content-type', 'authorization'];

interface Described {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

const HEADERS: Readonly<Record<string, Described>> = {
  'User-Agent': {
    name: 'WebhookUserAgent',
    description: 'The sender and its major version.',
    schema: { type: 'string' },
  },
  'webhook-id': {
    name: 'WebhookId',
    description:
      'The event’s id, the same on every attempt, endpoint and resend. Drop an id that you have seen.',
    schema: { type: 'string', format: 'uuid' },
  },
  'webhook-timestamp': {
    name: 'WebhookTimestamp',
    description: 'Unix seconds of this attempt.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'webhook-signature': {
    name: 'WebhookSignature',
    description:
      '`v1,` and base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`, key: the decoded secret (Standard Webhooks).',
    schema: { type: 'string' },
  },
  'webhook-attempt': {
    name: 'WebhookAttempt',
    description: `Which attempt of the delivery this is, 1 to ${ATTEMPTS_MAX}.`,
    schema: { type: 'string', pattern: `^[1-${ATTEMPTS_MAX}]$` },
  },
  'webhook-delivery-id': {
    name: 'WebhookDeliveryId',
    description: 'The id of this delivery in the delivery log.',
    schema: { type: 'string', format: 'uuid' },
  },
  'webhook-endpoint-id': {
    name: 'WebhookEndpointId',
    description: 'The endpoint’s uuid.',
    schema: { type: 'string', format: 'uuid' },
  },
  'webhook-event-time': {
    name: 'WebhookEventTime',
    description: 'When the event happened.',
    schema: { type: 'string', format: 'date-time' },
  },
  'webhook-api-version': {
    name: 'WebhookApiVersion',
    description: 'The version the body is written in.',
    schema: { type: 'string' },
  },
  'webhook-test': {
    name: 'WebhookTest',
    description: '`true` on test webhooks. Absent on all others.',
    schema: { type: 'string' },
  },
};

/** The headers of a webhook as parameters of the description, by name. Their examples are what the sender makes. */
export function webhookParameters(eventId: string, body: string): Record<string, Json> {
  const delivery = {
    deliveryId: '0b3a4a6e-96a3-5b07-8a3b-2f4b35a0c4d1',
    eventId,
    endpointId: '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10',
    apiVersion: '2.3.8',
    trigger: 'test',
    attempt: 1,
    occurredAt: OCCURRED_AT,
  } as const;
  const signature = sign(SECRET, eventId, webhookTimestamp(STARTED_AT), Buffer.from(body));
  const flat = webhookHeaders({ delivery, startedAt: STARTED_AT, signature }, authorizationOf(SECRET));
  const parameters: Record<string, Json> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [header = '', example] = [flat[i], flat[i + 1]];
    if (NOT_PARAMETERS.includes(header.toLowerCase())) continue;
    const described = HEADERS[header];
    if (described === undefined)
      throw new Error(`the sender sends ${header}: describe it in scripts/webhooks/headers.ts`);
    const { name, description, schema } = described;
    const required = header !== 'webhook-test';
    parameters[name] = { name: header, in: 'header', required, description, schema, example };
  }
  const missing = Object.values(HEADERS).find(({ name }) => !(name in parameters));
  if (missing)
    throw new Error(`the sender does not send ${missing.name}: remove it from scripts/webhooks/headers.ts`);
  return parameters;
}
