/**
 * Writes the records of a job file with kafkajs and @kafkajs/confluent-schema-registry, one after the other, and prints
 * one JSON line for each: where it was written, or what refused it. The job's format is in ../job.ts.
 */
import { readFileSync } from 'node:fs';
import zlib from 'node:zlib';
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import avro from 'avsc';
import kafkajs from 'kafkajs';
import lz4 from 'lz4-napi';
import snappy from 'snappyjs';
import { storedZstdFrame } from './stored-zstd.mjs';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel, Partitioners } = kafkajs;

const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
};
const compressWith = (compress) => () => ({ compress: async (encoder) => compress(encoder.buffer) });
CompressionCodecs[CODECS.snappy] = compressWith((bytes) => snappy.compress(bytes));
CompressionCodecs[CODECS.lz4] = compressWith((bytes) => lz4.compressFrame(bytes));
// Node has a compressor for zstd from 22.15 on.
CompressionCodecs[CODECS.zstd] = compressWith(zlib.zstdCompressSync ?? storedZstdFrame);

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const registry = new SchemaRegistry({ host: job.registryUrl });
const kafka = new Kafka({
  clientId: 'conformance',
  brokers: job.brokers.split(','),
  logLevel: logLevel.NOTHING,
});

const schemas = new Map();
const producers = new Map();

/** The schema's id and its type, registered when it is first needed. */
async function schemaOf(name, naming) {
  const key = `${name} ${naming}`;
  if (!schemas.has(key)) {
    const schema = job.schemas[name];
    // This client refuses a subject whose level is not the one that it expects.
    const options =
      naming === 'topic'
        ? { subject: `${job.topic}-value`, compatibility: COMPATIBILITY.NONE }
        : { compatibility: COMPATIBILITY.FULL_TRANSITIVE };
    if (naming === 'record') options.subject = avro.Type.forSchema(JSON.parse(schema)).name;
    const { id } = await registry.register({ type: SchemaType.AVRO, schema }, options);
    schemas.set(key, { id, type: avro.Type.forSchema(JSON.parse(schema)) });
  }
  return schemas.get(key);
}

async function producerOf(mode, codec) {
  const key = `${mode} ${codec}`;
  if (!producers.has(key)) {
    const isTransactional = mode === 'commit' || mode === 'abort';
    const producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      idempotent: mode !== 'plain',
      ...(isTransactional ? { transactionalId: `${job.topic}-node-${key}`, maxInFlightRequests: 1 } : {}),
    });
    await producer.connect();
    producers.set(key, producer);
  }
  return producers.get(key);
}

async function recordValue({ raw, zeros = 0, schema, naming, event }) {
  if (raw === null) return null;
  if (raw !== undefined) return Buffer.concat([Buffer.from(raw, 'base64'), Buffer.alloc(zeros)]);
  const { id, type } = await schemaOf(schema, naming).catch((error) => {
    throw Object.assign(error, { refusedBy: 'registry' });
  });
  return registry.encode(id, type.fromString(event));
}

/** Resolves with the partition and offset of the record. */
async function write(record) {
  const { codec, mode, partition, key, headers = [], timestamp } = record;
  const value = await recordValue(record);
  const producer = await producerOf(mode, codec);
  // This client has no headers without a value.
  const bytesOf = (text) => Buffer.from(text ?? '', 'base64');
  const message = {
    ...{ partition, key, value },
    headers: Object.fromEntries(headers.map(([name, text]) => [name, bytesOf(text)])),
    ...(timestamp === undefined ? {} : { timestamp: `${timestamp}` }),
  };
  const batch = { topic: job.topic, acks: -1, compression: CODECS[codec], messages: [message] };
  if (mode === 'plain' || mode === 'idempotent') {
    const [sent] = await producer.send(batch);
    return sent;
  }
  const transaction = await producer.transaction();
  try {
    const [sent] = await transaction.send(batch);
    await (mode === 'commit' ? transaction.commit() : transaction.abort());
    return sent;
  } catch (error) {
    if (transaction.isActive()) await transaction.abort();
    throw error;
  }
}

for (const record of job.records) {
  let end;
  try {
    const { partition, baseOffset } = await write(record);
    end = { partition, offset: Number(baseOffset) };
  } catch (error) {
    end = { refusedBy: error.refusedBy ?? 'Kafka', message: error.message };
  }
  console.log(JSON.stringify({ id: record.id, ...end }));
}
for (const producer of producers.values()) await producer.disconnect();
