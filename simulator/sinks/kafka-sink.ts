import { readFileSync } from 'node:fs';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { Kafka, type KafkaConfig, logLevel, Partitioners, type Producer, type SASLOptions } from 'kafkajs';
import { encodeEvent } from '../../services/codec/event-avro.ts';
import { eventSchemaText, recordNameOf } from '../../services/codec/event-schemas.ts';
import type { DomainEvent, EventType } from '../../services/domain/event.ts';
import { withoutTrailing } from '../../services/domain/text/trimmed.ts';
import { errorLine } from '../../services/messages/error-message.ts';
import { hushNegativeTimeouts } from '../../services/messages/timer-warnings.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import { unreadable } from '../session.ts';
import type { Environment, Settings, Sourced } from '../settings.ts';
import type { EventSink, Sent } from './sinks.ts';

const CLIENT_ID = 'hookrail-sim';
const CONNECT_TIMEOUT_MS = 3000;
/** A user waits: an unreachable cluster is reported within a few seconds. */
const RETRY = { retries: 2, initialRetryTime: 200, maxRetryTime: 1000 } as const;

interface KafkaTarget {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly topic: string;
  readonly access: Pick<KafkaConfig, 'ssl' | 'sasl'>;
  readonly registryAuth: { readonly username: string; readonly password: string } | undefined;
}

/**
 * Publishes like the platform's own services: Avro in the registry's wire format on the events topic. Resolves when all
 * in-sync replicas have the records. Connects at the first event.
 */
export function kafkaSink(settings: Settings, environment: Environment): EventSink {
  const target = targetOf(settings, environment);
  const schemaIds = schemaIdsOf(target);
  let producer: Promise<Producer> | undefined;
  return {
    send: async (events) => {
      const encoded: { readonly key: string; readonly value: Buffer }[] = [];
      for (const event of events) {
        encoded.push({ key: event.entityId, value: encode(event, await schemaIds(event.type)) });
      }
      producer ??= connect(target);
      const connected = await producer;
      const sent: Sent[] = [];
      // One record per request: kafkajs loses records of a request that spans brokers when leadership moves.
      for (const message of encoded) {
        await connected
          .send({ topic: target.topic, acks: -1, messages: [message] })
          .catch((error: unknown) => {
            throw refused(target, error);
          });
        sent.push({ status: 'accepted' });
      }
      return sent;
    },
    close: async () => {
      await producer?.then((connected) => connected.disconnect()).catch(() => {});
    },
  };
}

function targetOf(settings: Settings, environment: Environment): KafkaTarget {
  const given = settings.kafkaAddress('kafkaBrokers');
  const brokers = given.value.split(',').map((broker) => broker.trim());
  const wrong = brokers.find((broker) => !/^[A-Za-z0-9._-]+:\d{1,5}$/.test(broker));
  if (wrong !== undefined) throw usage(`Kafka broker "${wrong}" is not host:port, such as 127.0.0.1:9092`);
  const registry = settings.kafkaAddress('schemaRegistryUrl');
  if (!/^https?:\/\//.test(registry.value) || !URL.canParse(registry.value)) {
    throw usage(`schema registry "${registry.value}" (from ${registry.source}) is not an http or https URL`);
  }
  const username = environment.HOOKRAIL_SCHEMA_REGISTRY_USERNAME;
  const password = environment.HOOKRAIL_SCHEMA_REGISTRY_PASSWORD ?? '';
  refuseMixed(settings, environment, [
    [given, KAFKA_CREDENTIALS, '--kafka-brokers'],
    [registry, REGISTRY_CREDENTIALS, '--schema-registry-url'],
  ]);
  return {
    brokers,
    registryUrl: withoutTrailing(registry.value, '/'),
    topic: settings.find('eventsTopic')?.value ?? 'payments.events',
    access: accessOf(environment),
    registryAuth: username ? { username, password } : undefined,
  };
}

const KAFKA_CREDENTIALS = ['HOOKRAIL_KAFKA_SASL_PASSWORD', 'HOOKRAIL_KAFKA_TLS_KEY_FILE'];
const REGISTRY_CREDENTIALS = ['HOOKRAIL_SCHEMA_REGISTRY_PASSWORD'];

/** Throws a usage failure when credentials of the environment would go to an address that only a file names. */
function refuseMixed(
  settings: Settings,
  environment: Environment,
  addresses: readonly (readonly [address: Sourced, credentials: readonly string[], option: string])[],
): void {
  for (const [address, credentials, option] of addresses) {
    const credential = credentials.find((name) => environment[name]);
    if (credential === undefined || !settings.isOfFile(address)) continue;
    throw usage(
      `${credential} is not used with ${address.value}, an address that only a file names: ${address.source}`,
      `if you mean that address, say so: ${option} ${address.value}`,
    );
  }
}

/** Reads TLS and SASL from the service's own variables. */
function accessOf(environment: Environment): KafkaTarget['access'] {
  const pem = (name: string) => {
    const path = environment[name];
    if (!path) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw unreadable(path, error);
    }
  };
  const ca = pem('HOOKRAIL_KAFKA_TLS_CA_FILE');
  const cert = pem('HOOKRAIL_KAFKA_TLS_CERT_FILE');
  const key = pem('HOOKRAIL_KAFKA_TLS_KEY_FILE');
  const mechanism = environment.HOOKRAIL_KAFKA_SASL_MECHANISM;
  const sasl = {
    mechanism,
    username: environment.HOOKRAIL_KAFKA_SASL_USERNAME,
    password: environment.HOOKRAIL_KAFKA_SASL_PASSWORD,
  };
  return {
    ...(environment.HOOKRAIL_KAFKA_TLS === 'true'
      ? { ssl: { ...(ca && { ca: [ca] }), ...(cert && { cert }), ...(key && { key }) } }
      : {}),
    ...(mechanism ? { sasl: sasl as SASLOptions } : {}),
  };
}

async function connect(target: KafkaTarget): Promise<Producer> {
  hushNegativeTimeouts();
  const producer = new Kafka({
    ...target.access,
    clientId: CLIENT_ID,
    brokers: [...target.brokers],
    connectionTimeout: CONNECT_TIMEOUT_MS,
    retry: RETRY,
    logLevel: logLevel.NOTHING,
  }).producer({ createPartitioner: Partitioners.DefaultPartitioner, allowAutoTopicCreation: false });
  try {
    await producer.connect();
    return producer;
  } catch (error) {
    throw refused(target, error);
  }
}

/** Returns the registry's id of a schema; requests each once. */
function schemaIdsOf({ registryUrl, registryAuth }: KafkaTarget): (type: EventType) => Promise<number> {
  const registry = new SchemaRegistry({
    host: registryUrl,
    clientId: CLIENT_ID,
    retry: { retries: 0 },
    ...(registryAuth ? { auth: registryAuth } : {}),
  });
  const known = new Map<EventType, Promise<number>>();
  return (type) => {
    const subject = recordNameOf(type);
    const schema = JSON.stringify(JSON.parse(eventSchemaText(type)));
    const id =
      known.get(type) ??
      registry
        .getRegistryIdBySchema(subject, { type: SchemaType.AVRO, schema })
        .catch((error: unknown) => Promise.reject(withoutSchema(registryUrl, subject, error)));
    known.set(type, id);
    return id;
  };
}

/** Encodes an event. Data given by hand may have a field that the schema lacks. */
function encode(event: DomainEvent, schemaId: number): Buffer {
  try {
    return encodeEvent(event, schemaId);
  } catch (error) {
    throw usage(`${event.type}/${event.subType} does not fit its Avro schema: ${beginningOf(error)}`);
  }
}

function refused({ brokers, topic }: KafkaTarget, error: unknown): CommandFailure {
  // kafkajs wraps the reason after several tries.
  const { type, cause } = error as { readonly type?: string; readonly cause?: { readonly type?: string } };
  if ((cause?.type ?? type) === 'UNKNOWN_TOPIC_OR_PARTITION') {
    return new CommandFailure(EXIT.unreachable, `there is no topic ${topic} on ${brokers.join(',')}`, [
      'start hookrail on this Kafka: the sandbox creates the topic',
      'or name it with: --events-topic (HOOKRAIL_EVENTS_TOPIC)',
    ]);
  }
  return new CommandFailure(
    EXIT.unreachable,
    `Kafka at ${brokers.join(',')} did not accept the event: ${beginningOf(error)}`,
    [
      'check that it is running; a local one: npm run kafka:local',
      'set its address with: --kafka-brokers (HOOKRAIL_KAFKA_BROKERS)',
    ],
  );
}

function withoutSchema(url: string, subject: string, error: unknown): CommandFailure {
  // The client's error for a 404. It reports status 400 for a registry that is unreachable, or is none.
  if ((error as Error).name === 'ConfluentSchemaRegistryError') {
    return new CommandFailure(EXIT.unreachable, `the schema registry at ${url} does not have ${subject}`, [
      'start hookrail on this registry once: it registers the schemas',
    ]);
  }
  const said = beginningOf(error).replace(/^(?:hookrail-sim - )?(?:Error, status 400: )?/, '');
  return new CommandFailure(EXIT.unreachable, `the schema registry at ${url} does not answer: ${said}`, [
    'set its address with: --schema-registry-url (HOOKRAIL_SCHEMA_REGISTRY_URL)',
  ]);
}

function beginningOf(error: unknown): string {
  return errorLine(error).slice(0, 300);
}
