import { EVENT_MEANINGS } from '../../services/domain/catalog/event-meanings.ts';
import { API_VERSION_DEFAULT } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import type { Json } from '../webhooks/body-schema.ts';
import { type Described, messagesOf } from './events-part.ts';

const nameOf = (type: EventType) => `${type}.webhook`;

/** Describes what endpoints receive, from the webhooks' part of the API description. */
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape, which scripts/generate-webhooks.ts writes.
export function webhooksPart({ webhooks, components }: any): Described {
  const { signingSecret } = components.securitySchemes;
  return {
    channels: {
      webhooks: {
        address: null,
        title: 'The endpoint of a merchant',
        description:
          'An HTTPS URL that the merchant has registered (`POST /merchant/webhook-endpoints`). Any 2xx acknowledges a webhook; ' +
          'it may come more than once, always with the same `webhook-id`.',
        messages: messagesOf(nameOf),
        tags: [{ name: 'merchants' }],
      },
    },
    operations: {
      sendWebhooks: {
        action: 'send',
        channel: { $ref: '#/channels/webhooks' },
        summary: 'Send an event to an endpoint',
        description: webhooks[EVENT_TYPES[0]].post.description,
        security: [{ $ref: '#/components/securitySchemes/signingSecret' }],
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    messages: Object.fromEntries(EVENT_TYPES.map((type) => [nameOf(type), messageOf(type, webhooks[type])])),
    schemas: { ...components.schemas, 'webhooks.headers': headersOf(components.parameters) },
    securitySchemes: {
      signingSecret: {
        type: 'httpApiKey',
        in: signingSecret.in,
        name: signingSecret.name,
        description: signingSecret.description,
      },
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: see above.
function messageOf(type: EventType, { post }: any): Json {
  const examples = Object.entries<Json>(post.requestBody.content['application/json'].examples);
  return {
    name: type,
    title: `${type}, as endpoints receive it`,
    summary: EVENT_MEANINGS[type].about,
    contentType: 'application/json',
    headers: { $ref: '#/components/schemas/webhooks.headers' },
    payload: { $ref: `#/components/schemas/${type}` },
    correlationId: {
      description: 'The event, the same in every attempt, endpoint and resend.',
      location: '$message.header#/webhook-id',
    },
    examples: examples
      .filter(([name]) => name.endsWith(`.${API_VERSION_DEFAULT}`))
      .map(([name, { summary, value }]) => ({ name, summary, payload: value })),
  };
}

/** The headers of a webhook as one schema. */
function headersOf(parameters: Readonly<Record<string, Json>>): Json {
  const all = Object.values(parameters).map(({ name, description, required, schema, example }) => ({
    name: String(name),
    isRequired: required === true,
    schema: { description, ...(schema as Json), examples: [example] },
  }));
  return {
    type: 'object',
    required: all.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(all.map(({ name, schema }) => [name, schema])),
  };
}
