/**
 * Every record on Kafka comes back as it was written, whichever version of hookrail or of a producer wrote it; bytes that
 * are not one whole record of their kind are refused with one line.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  joinJournal,
  KafkaRecords,
  type RecordKind,
  type RecordOf,
} from '../../../../services/broker/kafka/registry/records.ts';
import { SchemaRegistry } from '../../../../services/broker/kafka/registry/registry.ts';
import { resolveSchemaIds } from '../../../../services/broker/kafka/registry/registry-ids.ts';
import { eventSchemaText } from '../../../../services/codec/event-schemas.ts';
import { taskCodec } from '../../../../services/codec/records.ts';
import { EVENT_TYPES } from '../../../../services/domain/event.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { ALL_KINDS } from '../../../samples/sample-options.ts';
import { type FakeRegistry, startFakeRegistry } from '../../../support/kafka/fake-registry.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { idOf, lineOf, never, under } from '../../../support/kafka/wire-format.ts';
import * as records from '../../../support/records/broker-records.ts';
import { eventOf } from '../../../support/records/events.ts';

const task = records.aTask({ traceparent: '00-trace' });
const event = eventOf('merchant-1', 'one');
const letter = records.deadLetter(task);

/** One of every shape that the topics carry. */
const SAMPLES: { readonly [K in RecordKind]: readonly RecordOf[K][] } = {
  task: [task, records.aTask({ body: Buffer.alloc(100_000, 7), attempt: 7, hop: 3 })],
  journal: [
    [records.routed(event)],
    [records.requested(task), records.attempted(task)],
    [records.attempted(task, { kind: 'retry', dueAt: 1_700_000_000_009.5 })],
    [{ kind: 'cancelled', at: 5, delivery: records.requested(task).delivery, reason: 'endpoint_deleted' }],
  ],
  directory: [
    records.merchantChange('m', 1),
    records.merchantChange('m', 2, null),
    records.endpointChange('e', 3),
  ],
  quarantined: [records.quarantined(event, { bytes: Buffer.from([9, 0, 255]) })],
  deadLetter: [letter],
};
const KINDS = Object.keys(SAMPLES) as RecordKind[];

const log = createLogger('silent');
const open = (registry: SchemaRegistry, mayRegister = true) =>
  KafkaRecords.open(registry, { clock: systemClock(), log, mayRegister, giveUpMs: 10_000 });
const connect = (url: string) => new SchemaRegistry({ url, auth: null, ca: null, clock: systemClock() });

await describeWithKafka('records with a real schema registry', (kafka) => {
  let registry: SchemaRegistry;
  let codec: KafkaRecords;

  beforeAll(async () => {
    registry = connect(kafka.registryUrl);
    codec = await open(registry);
  });
  afterAll(() => registry.close());

  it.each(KINDS)('of kind %s are decoded as they were encoded, by another process too', async (kind) => {
    const other = await open(registry, false);
    for (const sample of SAMPLES[kind]) {
      const bytes = codec.encode(kind, sample);
      expect(bytes[0]).toBe(0);
      expect(codec.decode(kind, bytes)).toEqual(sample);
      expect(other.isKnown(bytes)).toBe(true);
      expect(other.decode(kind, bytes)).toEqual(sample);
    }
  });

  it('of the journal are joined without being decoded', () => {
    const [first, ...others] = SAMPLES.journal;
    const parts = [codec.encode('journal', first ?? [])];
    for (const other of others) joinJournal(parts, codec.encode('journal', other));
    expect(parts).toHaveLength(SAMPLES.journal.length);
    expect(codec.decode('journal', Buffer.concat(parts))).toEqual(SAMPLES.journal.flat());
  });

  it('of events of every type are decoded as they were encoded', () => {
    expect(new Set(ALL_KINDS.map(({ type }) => type)).size).toBe(EVENT_TYPES.length);
    for (const kind of ALL_KINDS) {
      const sample = eventOf('merchant-1', 'every', kind);
      expect(codec.decodeEvent(codec.encodeEvent(sample))).toEqual({ ok: true, event: sample });
    }
  });

  it('keep their schema ids when the codec is opened again, under their record names', async () => {
    const again = await open(registry);
    for (const kind of KINDS) {
      const [sample] = SAMPLES[kind];
      if (sample) expect(idOf(again.encode(kind, sample))).toBe(idOf(codec.encode(kind, sample)));
    }
    expect(await registry.find(taskCodec.name, taskCodec.schema)).toBe(idOf(codec.encode('task', task)));
    expect(await registry.schemaOf(idOf(codec.encodeEvent(event)))).toMatchObject({
      text: JSON.stringify(JSON.parse(eventSchemaText(event.type))),
      references: [],
    });
  });

  it('of an older version are read with the schema from the registry', async () => {
    const older = JSON.parse(taskCodec.schema);
    const later = ['parked', 'subjectId', 'sequence'];
    older.fields = older.fields.filter(({ name }: { name: string }) => !later.includes(name));
    // Any subject does: records name the schema, not the subject.
    const id = await registry.register(
      `test.Older${randomUUID().replaceAll('-', '')}`,
      JSON.stringify(older),
    );
    const { parked: _, ...written } = { ...task, subjectId: null, sequence: 0 };
    const now = codec.encode('task', written);
    // Without two nulls and a double.
    const before = under(id, now.subarray(0, now.length - 2 - 8));
    expect(codec.isKnown(before)).toBe(false);
    expect(() => codec.decode('task', before)).toThrow(`no schema ${id}`);
    await codec.learn(before, never());
    expect(codec.isKnown(before)).toBe(true);
    expect(codec.decode('task', before)).toEqual(written);
    expect(() => codec.decode('task', Buffer.concat([before, Buffer.of(0)]))).toThrow('1 bytes follow');
  });

  it('of events whose schema id the registry does not have go to quarantine', async () => {
    const bytes = under(2_000_000_000, codec.encodeEvent(event));
    await codec.learn(bytes, never());
    expect(codec.isKnown(bytes)).toBe(true);
    expect(codec.decodeEvent(bytes)).toMatchObject({ ok: false, reason: 'unknown_schema' });
  });

  it('under an incompatible or forbidden schema are refused in one line each', async () => {
    const subject = `test.Thing${randomUUID().replaceAll('-', '')}`;
    const schema = (type: string) =>
      JSON.stringify({ type: 'record', name: subject, fields: [{ name: 'field', type }] });
    const options = { clock: systemClock(), log, mayRegister: true, giveUpMs: 0 };
    const resolve = (type: string, mayRegister = true) =>
      resolveSchemaIds(registry, [{ subject, text: schema(type) }], { ...options, mayRegister });
    expect(await lineOf(resolve('string', false))).toMatch(`lacks this version's schemas of ${subject}`);
    await resolve('string');
    expect((await resolve('string', false)).size).toBe(1);
    expect(await lineOf(resolve('int'))).toMatch(
      new RegExp(`rejects this version's schema of ${subject}: .*not compatible`),
    );
  });

  it('have the same schema ids in processes that start at once, and the compatibility level is set', async () => {
    const own = ['A', 'B', 'C'].map((letter) => {
      const subject = `test.${letter}${randomUUID().replaceAll('-', '')}`;
      return { subject, text: JSON.stringify({ type: 'record', name: subject, fields: [] }) };
    });
    const options = { clock: systemClock(), log, mayRegister: true, giveUpMs: 10_000 };
    const all = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const each = connect(registry.url);
        const ids = await resolveSchemaIds(each, own, options);
        await each.close();
        return [...ids];
      }),
    );
    for (const ids of all) expect(ids).toEqual(all[0]);
    for (const { subject } of own) {
      const config = await fetch(`${registry.url}/config/${subject}`);
      expect(await config.json()).toEqual({ compatibilityLevel: 'FULL_TRANSITIVE' });
    }
  });

  it('cannot be read through a URL that is not the registry’s API, which fails at once', async () => {
    const wrong = connect(new URL(kafka.registryUrl).origin);
    expect(await lineOf(open(wrong))).toMatch(
      /cannot be used as the schema registry.*HOOKRAIL_SCHEMA_REGISTRY_URL/,
    );
    await wrong.close();
  });
});

describe('bytes that are no record of the expected kind', () => {
  let fake: FakeRegistry;
  let registry: SchemaRegistry;
  let codec: KafkaRecords;

  beforeAll(async () => {
    fake = await startFakeRegistry();
    registry = connect(fake.url);
    codec = await open(registry);
  });
  afterAll(async () => {
    await registry.close();
    await fake.down();
  });

  it('need no registry when they name no schema, and are refused', () => {
    for (const bytes of [null, Buffer.alloc(0), Buffer.from([0, 0, 0, 1]), Buffer.from([1, 0, 0, 0, 1, 0])]) {
      expect(codec.isKnown(bytes)).toBe(true);
      expect(() => codec.decode('task', bytes)).toThrow(/^hookrail\.internal\.DeliveryTask: .*wire format/);
      expect(codec.decodeEvent(bytes)).toMatchObject({ ok: false, reason: 'undecodable' });
    }
  });

  it.each(KINDS)('are refused when cut short or extended: %s', (kind) => {
    const [sample] = SAMPLES[kind];
    if (!sample) throw new Error('no sample');
    const bytes = codec.encode(kind, sample);
    for (let length = 0; length < Math.min(bytes.length, 600); length += 1) {
      expect(() => codec.decode(kind, bytes.subarray(0, length))).toThrow();
    }
    expect(() => codec.decode(kind, Buffer.concat([bytes, Buffer.of(0)]))).toThrow(
      '1 bytes follow the record',
    );
    expect(codec.decode(kind, bytes)).toEqual(sample);
  });

  it('are refused by name when they are of another kind', () => {
    for (const kind of KINDS) {
      const [sample] = SAMPLES[kind];
      if (!sample) throw new Error('no sample');
      const bytes = codec.encode(kind, sample);
      for (const other of KINDS.filter((one) => one !== kind)) {
        expect(() => codec.decode(other, bytes)).toThrow('another kind of record');
      }
      expect(codec.decodeEvent(bytes)).toMatchObject({ ok: false, reason: 'unusable_schema' });
    }
    expect(() => codec.decode('task', codec.encodeEvent(event))).toThrow('another kind of record');
  });

  it('are refused when the same fields have another record name', async () => {
    const bytes = codec.encode('task', task);
    fake.schemas.set(50, taskCodec.schema.replace(/"(hookrail\.internal\.)?DeliveryTask"/, '"other.Task"'));
    await codec.learn(under(50, bytes), never());
    expect(() => codec.decode('task', under(50, bytes))).toThrow('schema 50 is other.Task');
  });

  it('are refused in one line when their schema is invalid', async () => {
    fake.schemas.set(51, '{"type":"record","name":"hookrail.internal.DeliveryTask","fields":[]}');
    fake.schemas.set(52, 'syntax = "proto3";');
    for (const id of [51, 52]) {
      const bytes = under(id, codec.encode('task', task));
      await codec.learn(bytes, never());
      expect(() => codec.decode('task', bytes)).toThrow(
        `schema ${id} cannot be converted to the current schema`,
      );
    }
  });

  it('are never written for a record that does not fit its schema', () => {
    expect(() => codec.encode('task', { deliveryId: 7 } as never)).toThrow();
    expect(codec.decode('task', codec.encode('task', task))).toEqual(task);
  });

  it('do not arise from memory that encoded records share', () => {
    const first = codec.encode('task', task);
    codec.encode('task', records.aTask());
    expect(codec.decode('task', first)).toEqual(task);
  });
});
