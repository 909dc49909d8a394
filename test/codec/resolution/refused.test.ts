/** Guarantee: a record that Avro's rules cannot read as ours is refused with the field, and a time with its unit. */
import { describe, expect, it } from 'vitest';
import { decoded, fieldOf, HEADER, millis, retype, type Written } from './written.ts';

const REFUSED: readonly (readonly [string, Written, string])[] = [
  [
    'null in a nullable field that hookrail needs',
    {
      schema: (_, data) => retype(data, 'senderName', ['null', 'string']),
      record: (_, data) => {
        data.senderName = null;
      },
    },
    '/data/senderName is null: must be a string (schema 7)',
  ],
  [
    'a branch that hookrail cannot read',
    {
      schema: (_, data) => retype(data, 'senderName', ['null', 'boolean', 'string']),
      record: (_, data) => {
        data.senderName = true;
      },
    },
    '/data/senderName is a boolean: must be a string (schema 7)',
  ],
  [
    'an item that hookrail cannot read',
    {
      type: 'KYC',
      schema: (_, data) => {
        fieldOf(data, 'docs_missing').type[1].items.fields[0].type = ['null', 'string'];
      },
      record: (_, data) => {
        data.docs_missing.push({ docType: null, docSubType: null });
      },
    },
    '/data/docs_missing/1/docType is null: must be a string (schema 7)',
  ],
  [
    'an enum symbol that hookrail does not have',
    {
      schema: (header) => fieldOf(header, 'entityKind').type.symbols.unshift('PARTNER'),
      record: (header) => {
        header.entityKind = 'PARTNER';
      },
    },
    '/header/entityKind is the symbol PARTNER: must be USER or CORPORATE (schema 7)',
  ],
  [
    'an enum of another name',
    { schema: (header) => Object.assign(fieldOf(header, 'entityKind').type, { name: 'Party' }) },
    '/header/entityKind is the enum com.hookrail.events.Party: must be the enum EntityKind (schema 7)',
  ],
  [
    'a data record of another name',
    { schema: (_, data) => Object.assign(data, { name: 'Payload' }) },
    '/data is the record com.hookrail.events.Payload: must be the record SenderNameMismatchData (schema 7)',
  ],
  [
    'a required field missing',
    {
      schema: (_, data) => {
        data.fields.splice(1, 1);
      },
    },
    '/data/expectedName is required, and the schema that the record was written with has no such field (schema 7)',
  ],
  [
    'long for a boolean',
    {
      schema: (header) => {
        retype(header, 'simulated', 'long');
        delete fieldOf(header, 'simulated').default;
      },
      record: (header) => {
        header.simulated = 0;
      },
    },
    '/header/simulated is a long without a logical type: must be a boolean (schema 7)',
  ],
];

describe('an event of a producer’s own schema', () => {
  it.each(REFUSED)('is refused for %s, with the field', (_what, written, detail) => {
    const { eventId, merchantId } = HEADER;
    expect(decoded(written)).toMatchObject({
      ok: false,
      reason: 'schema_violation',
      detail,
      eventId,
      merchantId,
    });
  });

  it.each([
    [millis('timestamp-micros'), 'a long of timestamp-micros (microseconds since 1970, UTC)'],
    [millis('timestamp-nanos'), 'a long of timestamp-nanos (nanoseconds since 1970, UTC)'],
    [
      millis('local-timestamp-millis'),
      'a long of local-timestamp-millis (milliseconds of a local time, without its zone)',
    ],
    [millis('date', 'int'), 'an int of date (days since 1970)'],
    ['long', 'a long without a logical type'],
    [['null', 'long'], 'a long without a logical type'],
    ['string', 'a string'],
  ])('is refused for a time written as %j, with field and unit', (type, name) => {
    const detail = `/header/occurredAt is ${name}: must be a time: a long of timestamp-millis (milliseconds since 1970, UTC) (schema 7)`;
    const isText = type === 'string';
    const at = isText ? '2030-03-17T17:46:40Z' : 2_000_000_000;
    const written: Written = {
      schema: (header) => retype(header, 'occurredAt', type),
      record: (header) => {
        header.occurredAt = at;
      },
    };
    expect(decoded(written)).toMatchObject({ ok: false, reason: 'schema_violation', detail });
  });
});
