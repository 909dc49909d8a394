/**
 * Events survive Avro to the byte, at any writer's scale; a record that cannot be read, or that breaks the catalog, is
 * answered with a reason for quarantine and never with an exception.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeEventJson,
  EventDecoder,
  encodeEvent,
  eventSchemaText,
  eventToJson,
  recordNameOf,
  schemaIdOf,
} from '../../services/codec/events.ts';
import { avroType } from '../../services/codec/logical-types.ts';
import { RegisteredSchema } from '../../services/codec/written/written-schema.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { renderBody } from '../../services/domain/versions/render.ts';
import { sampleEvents } from '../samples/sample-options.ts';
import { EVENT, encode, ID, ownDecoder, RECORD } from './own-avro.ts';

/** Our schema for on-ramps with its text changed, and a record written with it. */
function writtenWith(
  change: (schema: string) => string,
  record: object,
  schema = eventSchemaText('fiatToCrypto'),
) {
  const text = change(schema);
  const body = avroType(JSON.parse(text)).toBuffer(record);
  const bytes = Buffer.concat([Buffer.from([0, 0, 0, 0, ID]), body]);
  return new EventDecoder((id) => (id === ID ? text : undefined)).decode(bytes);
}

const withoutFraction = {
  ...RECORD,
  data: { ...RECORD.data, amountFiat: '250.25', fees: '1.5', amountCrypto: '7' },
};

describe('the Avro codec of events', () => {
  it('keeps every event and its body to the byte, from JSON form to Avro and back', () => {
    const decoder = ownDecoder();
    fc.assert(
      fc.property(sampleEvents, (sample) => {
        const fromJson = decodeEventJson(JSON.parse(JSON.stringify(eventToJson(sample))));
        if (!fromJson.ok) throw new Error(JSON.stringify(fromJson.errors));
        const fromAvro = decoder.decode(encode(fromJson.event));
        expect(fromAvro).toEqual({ ok: true, event: sample });
        if (!fromAvro.ok) return;
        const render = (event: DomainEvent) => renderBody(event, '2.3.8', { senderAccountDetails: true });
        expect(render(fromAvro.event)).toEqual(render(sample));
      }),
    );
  });

  it('keeps every amount that fits decimal(38, 18)', () => {
    const decoder = ownDecoder();
    const limit = 10n ** 38n - 1n;
    fc.assert(
      fc.property(fc.bigInt(0n, limit), fc.nat(18), (units, scale) => {
        const digits = units.toString().padStart(scale + 1, '0');
        const whole = digits.slice(0, digits.length - scale);
        fc.pre(whole.length <= 20);
        const amount = `${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`;
        const json = decodeEventJson({ ...eventToJson(EVENT), data: { ...EVENT.data, amountFiat: amount } });
        if (!json.ok) throw new Error(JSON.stringify(json.errors));
        expect(decoder.decode(encode(json.event))).toEqual(json);
      }),
    );
  });

  it('writes Confluent’s wire format: zero, then the schema id in four bytes', () => {
    const bytes = encodeEvent(EVENT, 0x01020304);
    expect([...bytes.subarray(0, 5)]).toEqual([0, 1, 2, 3, 4]);
    expect(schemaIdOf(bytes)).toBe(0x01020304);
    expect(schemaIdOf(bytes.subarray(0, 4))).toBeUndefined();
    expect(schemaIdOf(Buffer.from([1, 0, 0, 0, 1]))).toBeUndefined();
  });

  it('asks for each known schema once, and again for an unknown one', () => {
    const asked: number[] = [];
    const decoder = new EventDecoder((id) => {
      asked.push(id);
      return id === ID ? JSON.parse(eventSchemaText('fiatToCrypto')) : undefined;
    });
    for (let i = 0; i < 3; i += 1) expect(decoder.decode(encodeEvent(EVENT, ID)).ok).toBe(true);
    for (let i = 0; i < 2; i += 1) decoder.decode(encodeEvent(EVENT, 8));
    expect(asked).toEqual([ID, 8, 8]);
  });
});

describe('an event under another writer’s schema', () => {
  const scale = (digits: number) => (schema: string) =>
    schema.replaceAll('"scale": 18', `"scale": ${digits}`);

  it('may have another scale, and its amounts stay exact', () => {
    for (const digits of [2, 18, 24]) {
      const decoded = writtenWith(scale(digits), withoutFraction);
      expect(decoded).toMatchObject({
        ok: true,
        event: { data: { amountFiat: '250.25', fees: '1.5', amountCrypto: '7' } },
      });
    }
  });

  it('is a violation when an amount is finer than the catalog’s scale', () => {
    const record = { ...withoutFraction, data: { ...withoutFraction.data, fees: '0.0000000000000000001' } };
    expect(writtenWith(scale(19), record)).toMatchObject({ ok: false, reason: 'schema_violation' });
  });

  it('is refused when its amounts are plain bytes, or its times are microseconds', () => {
    const plain = (schema: string) => schema.replaceAll('"logicalType": "decimal"', '"logicalType": "none"');
    const bytes = {
      ...RECORD.data,
      amountFiat: Buffer.of(1),
      fees: Buffer.of(1),
      amountCrypto: Buffer.of(1),
    };
    expect(writtenWith(plain, { ...RECORD, data: bytes })).toMatchObject({
      ok: false,
      reason: 'schema_violation',
      detail:
        '/data/amountCrypto is bytes of none: must be an amount: bytes with the logical type decimal (schema 7)',
    });
    const micros = (schema: string) => schema.replaceAll('timestamp-millis', 'timestamp-micros');
    const late = { ...RECORD, header: { ...RECORD.header, occurredAt: 1_900_000_000_000_000 } };
    expect(writtenWith(micros, late)).toMatchObject({
      ok: false,
      reason: 'schema_violation',
      detail: expect.stringContaining('/header/occurredAt is a long of timestamp-micros (microseconds'),
    });
  });

  it('may have a field more, and lack an optional one', () => {
    const schema = JSON.parse(eventSchemaText('fiatToCrypto'));
    const data = schema.fields[1].type;
    data.fields = data.fields.filter((field: { name: string }) => field.name !== 'chain');
    data.fields.push({ name: 'tags', type: { type: 'array', items: 'string' } });
    const decoded = writtenWith(
      (text) => text,
      { ...RECORD, data: { ...RECORD.data, tags: ['a', 'b'] } },
      JSON.stringify(schema),
    );
    const { chain: _chain, ...rest } = EVENT.data;
    expect(decoded).toEqual({ ok: true, event: { ...EVENT, data: rest } });
  });

  it.each([
    [
      'a record that is no event',
      '{"type":"record","name":"com.other.Thing","fields":[]}',
      'unusable_schema',
    ],
    ['no record', '"string"', 'unusable_schema'],
    ['no schema', '{"type":"nonsense"}', 'unusable_schema'],
    ['no JSON', '{', 'unusable_schema'],
    ['too long', `"${'x'.repeat(65 * 1024)}"`, 'unusable_schema'],
    ['nested too deep', `${'['.repeat(200)}"null"${']'.repeat(200)}`, 'unusable_schema'],
    ['Protobuf', new RegisteredSchema('syntax = "proto3";', [], 'PROTOBUF'), 'unusable_schema'],
    [
      'an event without its fields',
      `{"type":"record","name":"${recordNameOf('KYC')}","fields":[]}`,
      'schema_violation',
    ],
  ])('is refused when it is %s', (_what, schema, reason) => {
    const decoder = new EventDecoder(() => schema);
    expect(decoder.decode(encodeEvent(EVENT, ID))).toMatchObject({ ok: false, reason });
  });
});

it('the codec quarantines a record with what can be read of its header, and its subject', () => {
  const { eventId, merchantId, entityId, type, subType, occurredAt } = EVENT;
  const subjectId = EVENT.data.transactionUuid;
  const refused = { ok: false, detail: expect.anything(), merchantId, entityId, type, subType };
  const decoded = [
    writtenWith((schema) => schema, { ...RECORD, data: { ...RECORD.data, status: 'lower case' } }),
    ownDecoder().decode(encode(EVENT).subarray(0, -7)),
    writtenWith((schema) => schema, { ...RECORD, header: { ...RECORD.header, eventId: 'no uuid' } }),
  ];
  expect(decoded).toEqual([
    { ...refused, reason: 'schema_violation', eventId, subjectId, occurredAt },
    // The end of its data is missing, so nothing of the data is read.
    { ...refused, reason: 'undecodable', eventId },
    { ...refused, reason: 'schema_violation', subjectId, occurredAt },
  ]);
});
