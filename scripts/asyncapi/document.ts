import { API_VERSION_DEFAULT } from '../../services/domain/endpoint.ts';
import { webhooksDocument } from '../generate-webhooks.ts';
import type { Json } from '../webhooks/body-schema.ts';
import { type Described, EVENTS_TOPIC, eventsPart } from './events-part.ts';
import { webhooksPart } from './webhooks-part.ts';

/** Returns the document as AsyncAPI 3: a channel from which hookrail receives, and one to which it sends. */
export function asyncApiDocument(): Json {
  const parts: readonly Described[] = [eventsPart(), webhooksPart(webhooksDocument())];
  const joined = (section: keyof Described) =>
    Object.fromEntries(parts.flatMap((part) => Object.entries(part[section])));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'hookrail events and webhooks',
      version: API_VERSION_DEFAULT,
      description:
        `hookrail receives the events that producers publish on the Kafka topic \`${EVENTS_TOPIC}\`, and sends them to the ` +
        'endpoints of merchants as webhooks. Producers without Kafka publish by `POST /producer/events`, which openapi.yaml ' +
        'describes with all other operations.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      tags: [
        { name: 'producers', description: 'For the services of the platform that publish events.' },
        { name: 'merchants', description: 'For those who receive webhooks.' },
      ],
    },
    defaultContentType: 'application/json',
    channels: joined('channels'),
    operations: joined('operations'),
    components: {
      messages: joined('messages'),
      schemas: joined('schemas'),
      securitySchemes: joined('securitySchemes'),
    },
  };
}
