import { eventSchemaText, recordNameOf } from '../../services/codec/events.ts';
import { VARIABLES } from '../../services/config/config.ts';
import { EVENT_MEANINGS } from '../../services/domain/catalog/event-meanings.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { TRACEPARENT } from '../../services/telemetry/trace-context.ts';
import type { Json } from '../webhooks/body-schema.ts';

/** One direction of the document: a channel, its operation, and what they refer to. */
export interface Described {
  readonly channels: Json;
  readonly operations: Json;
  readonly messages: Json;
  readonly schemas: Json;
  readonly securitySchemes: Json;
}

/** The topic's name where the operator has not set another. */
export const EVENTS_TOPIC = VARIABLES.HOOKRAIL_EVENTS_TOPIC.fallback;

/** The version of the bindings of Kafka. */
const KAFKA_BINDING = '0.5.0';

/** Returns the names of messages as a channel refers to them. */
export function messagesOf(nameOf: (type: EventType) => string): Json {
  return Object.fromEntries(
    EVENT_TYPES.map((type) => [type, { $ref: `#/components/messages/${nameOf(type)}` }]),
  );
}

const nameOf = (type: EventType) => `${type}.published`;

/** Describes the topic of producers. */
export function eventsPart(): Described {
  return {
    channels: {
      events: {
        address: EVENTS_TOPIC,
        title: 'Events of the platform',
        description:
          'A Kafka topic; the operator may have given it another name (`HOOKRAIL_EVENTS_TOPIC`). Each record is one event in ' +
          'the wire format of the schema registry: a zero byte, the id of the schema in four bytes, the Avro record. Publish ' +
          'with `acks=all`. docs/producers.md has the rules that a schema cannot say.',
        messages: messagesOf(nameOf),
        bindings: { kafka: { topic: EVENTS_TOPIC, bindingVersion: KAFKA_BINDING } },
        tags: [{ name: 'producers' }],
      },
    },
    operations: {
      receiveEvents: {
        action: 'receive',
        channel: { $ref: '#/channels/events' },
        summary: 'Receive the events that producers publish',
        description:
          'An event that cannot be read or routed goes to quarantine with the reason. One whose `header.eventId` came before ' +
          'in the same partition is dropped.',
      },
    },
    messages: Object.fromEntries(EVENT_TYPES.map((type) => [nameOf(type), messageOf(type)])),
    schemas: { 'events.headers': HEADERS },
    securitySchemes: {},
  };
}

function messageOf(type: EventType): Json {
  return {
    name: type,
    title: `${type}, as producers publish it`,
    summary: EVENT_MEANINGS[type].about,
    contentType: 'application/vnd.apache.avro',
    headers: { $ref: '#/components/schemas/events.headers' },
    payload: {
      schemaFormat: 'application/vnd.apache.avro;version=1.9.0',
      schema: JSON.parse(eventSchemaText(type)),
    },
    bindings: {
      kafka: {
        key: KEY,
        schemaIdLocation: 'payload',
        schemaIdPayloadEncoding: 'confluent',
        schemaLookupStrategy: 'RecordNameStrategy',
        bindingVersion: KAFKA_BINDING,
      },
    },
    'x-registry-subject': recordNameOf(type),
  };
}

/** Repeated in each message: the official schema accepts no reference here. */
const KEY = {
  description:
    'The id of the entity, `header.entityId`, as text. It decides the partition, and so the order of its events.',
  type: 'string',
  format: 'uuid',
} as const;

const HEADERS = {
  description:
    'Headers of the record. Those that begin with `hookrail-` are the service’s own: do not set them.',
  type: 'object',
  properties: {
    [TRACEPARENT]: {
      description: 'The trace that the deliveries of the event continue (W3C Trace Context).',
      type: 'string',
      examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    },
  },
} as const;
