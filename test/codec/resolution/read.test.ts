/**
 * Guarantee: a record is read by Avro's rules (Avro 1.12, "Schema Resolution"), value by value: a schema is refused only
 * for what the record uses of it.
 */
import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { EventDecoder, eventSchemaText } from '../../../services/codec/events.ts';
import { RegisteredSchema } from '../../../services/codec/written/written-schema.ts';
import { decoded, fieldOf, GIVEN, HEADER, type Json, MISMATCH, retype, type Written } from './written.ts';

const DELIVERED: readonly (readonly [string, Written])[] = [
  ['a nullable field', { schema: (_, data) => retype(data, 'senderName', ['null', 'string']) }],
  ['a nullable field, null last', { schema: (_, data) => retype(data, 'senderName', ['string', 'null']) }],
  [
    'a union of types that hookrail does not have',
    { schema: (_, data) => retype(data, 'senderName', ['null', 'boolean', 'long', 'string']) },
  ],
  [
    'a union of two numbers',
    {
      type: 'KYC',
      wrapUnions: 'always',
      schema: (_, data) => {
        data.fields = data.fields.filter(
          ({ name }: Json) =>
            !['docs_missing', 'kyc_reject_label', 'kyc_enduser_error_message'].includes(name),
        );
        retype(data, 'attempt', ['int', 'long', 'double']);
      },
      record: (_, data) => {
        data.attempt = { int: 2 };
      },
    },
  ],
  [
    'an enum symbol that the record does not use',
    { schema: (header) => fieldOf(header, 'entityKind').type.symbols.unshift('PARTNER') },
  ],
  [
    'an enum in another namespace',
    { schema: (header) => Object.assign(fieldOf(header, 'entityKind').type, { namespace: 'com.acme' }) },
  ],
  [
    'a header of another namespace',
    { schema: (header) => Object.assign(header, { namespace: 'com.acme.common' }) },
  ],
  [
    'a namespace with a hyphen, which not every library refuses',
    {
      schema: (header) => Object.assign(header, { namespace: 'com.acme' }),
      text: (text) => text.replaceAll('"com.acme"', '"com.my-company"'),
    },
  ],
  ['no namespace for the header, written inside', { schema: (header) => delete header.namespace }],
  [
    'an event of another namespace',
    { schema: (_, __, root) => Object.assign(root, { namespace: 'com.acme' }) },
  ],
  ['int for long', { type: 'KYC', schema: (_, data) => retype(data, 'attempt', 'int') }],
  [
    'bytes for string',
    {
      schema: (_, data) => retype(data, 'senderName', 'bytes'),
      record: (_, data) => {
        data.senderName = Buffer.from('B');
      },
    },
  ],
  [
    'another order of fields',
    {
      schema: (header, data, root) => {
        header.fields.reverse();
        data.fields.reverse();
        root.fields.reverse();
      },
    },
  ],
  ['no field that has a default', { schema: (header) => header.fields.pop() }],
  [
    'no nullable fields of hookrail’s',
    {
      type: 'KYC',
      schema: (_, data) => {
        data.fields = data.fields.filter(({ name }: Json) => name !== 'kyc_enduser_error_message');
      },
    },
  ],
  [
    'required fields where hookrail’s are nullable',
    {
      type: 'KYC',
      schema: (_, data) => {
        for (const name of ['docs_missing', 'kyc_reject_label']) {
          const field = fieldOf(data, name);
          field.type = field.type[1];
          delete field.default;
        }
      },
    },
  ],
  [
    'nullable items',
    {
      type: 'KYC',
      schema: (_, data) => {
        retype(data, 'kyc_reject_label', { type: 'array', items: ['null', 'string'] });
        delete fieldOf(data, 'kyc_reject_label').default;
      },
    },
  ],
  [
    'a default that does not fit the first branch',
    {
      schema: (_, data) => retype(data, 'senderName', ['string', 'null']),
      text: (text) => text.replace('"type":["string","null"]', '"type":["string","null"],"default":null'),
    },
  ],
  [
    'Java’s string type, and a type in a type',
    {
      schema: (_, data) => retype(data, 'senderName', { type: 'string', 'avro.java.string': 'String' }),
      text: (text) =>
        text.replace('"name":"action","type":"string"', '"name":"action","type":{"type":{"type":"string"}}'),
    },
  ],
  [
    'amounts in fixed bytes, of another scale',
    {
      schema: (_, data) =>
        retype(data, 'amountFiat', {
          type: 'fixed',
          name: 'Amount',
          size: 4,
          logicalType: 'decimal',
          precision: 9,
          scale: 2,
        }),
      record: (_, data) => {
        data.amountFiat = Buffer.from([0, 0, 0, 150]);
      },
    },
  ],
];

/** Fields that hookrail does not have, each with a value. */
const EXTRA: readonly (readonly [string, Json, Json])[] = [
  ['an optional map', ['null', { type: 'map', values: 'string' }], { a: 'b', c: 'd' }],
  [
    'a map of maps of arrays',
    { type: 'map', values: { type: 'map', values: { type: 'array', items: 'long' } } },
    { a: { b: [1, 2] } },
  ],
  ['a nested record', { type: 'record', name: 'Extra', fields: [{ name: 'x', type: 'double' }] }, { x: 1 }],
  [
    'an enum with a default',
    { type: 'enum', name: 'Mood', symbols: ['GOOD', 'BAD'], default: 'GOOD' },
    'BAD',
  ],
  ['a fixed', { type: 'fixed', name: 'Sixteen', size: 16 }, Buffer.alloc(16, 1)],
  ['a float', 'float', 0.5],
  ['a time in nanoseconds', { type: 'long', logicalType: 'timestamp-nanos' }, 5],
  [
    'a decimal of an absurd scale',
    { type: 'bytes', logicalType: 'decimal', precision: 1, scale: 1e9 },
    Buffer.of(1),
  ],
  [
    'a recursive record',
    { type: 'record', name: 'Node', fields: [{ name: 'next', type: ['null', 'Node'] }] },
    { next: { next: null } },
  ],
];

describe('an event of a producer’s own schema', () => {
  it.each(DELIVERED)('is read with %s', (_what, written) => {
    const { type = 'senderNameMismatch' } = written;
    const result = decoded(written);
    expect(result).toMatchObject({
      ok: true,
      event: { ...HEADER, type, subType: GIVEN[type].header.subType },
    });
    if (!result.ok) return;
    if (type === 'KYC') expect(result.event.data).toMatchObject({ attempt: 2, can_retry: true });
    else expect(result.event.data).toEqual({ ...MISMATCH, amountFiat: '1.5' });
  });

  it.each(EXTRA)('is read with %s more, in data and in the header', (_what, type, value) => {
    for (const place of ['data', 'header'] as const) {
      const result = decoded({
        schema: (header, data) => (place === 'data' ? data : header).fields.unshift({ name: 'extra', type }),
        record: (header, data) => {
          (place === 'data' ? data : header).extra = value;
        },
      });
      expect(result).toMatchObject({ ok: true, event: { data: { ...MISMATCH, amountFiat: '1.5' } } });
    }
  });

  it('is read with a schema that refers to others, and refused when one is missing', () => {
    const root = JSON.parse(eventSchemaText('senderNameMismatch'));
    const header = root.fields[0].type;
    const kind = fieldOf(header, 'entityKind').type;
    const type = avro.Type.forSchema(structuredClone(root));
    const bytes = Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), type.toBuffer(GIVEN.senderNameMismatch)]);
    Object.assign(kind, { namespace: 'com.hookrail.events' });
    retype(header, 'entityKind', 'com.hookrail.events.EntityKind');
    root.fields[0].type = 'com.hookrail.events.EventHeader';
    const texts = [kind, header, root].map((part) => JSON.stringify(part));
    const decode = (references: string[]) =>
      new EventDecoder(() => new RegisteredSchema(texts[2] ?? '', references)).decode(bytes);
    expect(decode(texts.slice(0, 2))).toMatchObject({ ok: true, event: { data: { senderName: 'B' } } });
    expect(decode(texts.slice(1, 2))).toEqual({
      ok: false,
      reason: 'unusable_schema',
      detail: 'schema 7 cannot be used: undefined type name: com.hookrail.events.EntityKind',
    });
  });
});
