/** Publishes one KYC event to hookrail's events topic, with kafkajs. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { CompressionTypes, Kafka, logLevel, Partitioners } from 'kafkajs';

for (const name of ['HOOKRAIL_KAFKA_BROKERS', 'HOOKRAIL_SCHEMA_REGISTRY_URL', 'MERCHANT_ID']) {
  if (!process.env[name]) throw new Error(`${name} is not set: see docs/producers.md`);
}

const brokers = process.env.HOOKRAIL_KAFKA_BROKERS.split(',');
const topic = process.env.HOOKRAIL_EVENTS_TOPIC ?? 'payments.events';
// A copy of hookrail's schemas/events/KYC.avsc, as a service of yours would keep it.
const schemaFile = process.env.KYC_SCHEMA ?? new URL('../../../schemas/events/KYC.avsc', import.meta.url);

const registry = new SchemaRegistry({ host: process.env.HOOKRAIL_SCHEMA_REGISTRY_URL });
const { id: schemaId } = await registry.register(
  { type: SchemaType.AVRO, schema: readFileSync(schemaFile, 'utf8') },
  // The level that hookrail sets: this client refuses to register under a subject with another one than it expects.
  { subject: 'com.hookrail.events.Kyc', compatibility: COMPATIBILITY.FULL_TRANSITIVE },
);

const userId = randomUUID();
const event = {
  header: {
    eventId: randomUUID(),
    merchantId: process.env.MERCHANT_ID,
    entityId: userId,
    entityKind: 'USER',
    subType: 'FULL_USER',
    occurredAt: Date.now(),
    simulated: false,
  },
  data: {
    status: 'FULL_USER',
    docs_missing: null,
    kyc_reject_label: null,
    kyc_enduser_error_message: null,
    can_retry: false,
    attempt: 1,
    updated_at: Date.now(),
  },
};

const kafka = new Kafka({ clientId: 'kyc-service', brokers, logLevel: logLevel.ERROR });
const producer = kafka.producer({
  // The partitioner of the Java client and of hookrail.
  createPartitioner: Partitioners.DefaultPartitioner,
});
await producer.connect();
const [sent] = await producer.send({
  topic,
  acks: -1,
  compression: CompressionTypes.GZIP,
  messages: [{ key: userId, value: await registry.encode(schemaId, event) }],
});
await producer.disconnect();
console.log(`published ${event.header.eventId} to ${topic}/${sent.partition}@${sent.baseOffset}`);
