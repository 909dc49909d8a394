/** Guarantee: a record that nobody could have written in good faith costs no exception, no memory and no time. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventDecoder, eventSchemaText, recordNameOf } from '../../services/codec/events.ts';
import { avroType } from '../../services/codec/logical-types.ts';
import { RegisteredSchema } from '../../services/codec/written/written-schema.ts';
import { EVENT_RECORD_BYTES_MAX, EVENT_TYPES } from '../../services/domain/event.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import { sampleEvents } from '../samples/sample-options.ts';
import { EVENT, encode, ID, ownDecoder, RECORD } from './own-avro.ts';

describe('a poisonous record', () => {
  it('causes no exception when truncated anywhere, extended, flipped or random', () => {
    const decoder = ownDecoder();
    const bytes = encode(EVENT);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(decoder.decode(bytes.subarray(0, length)).ok).toBe(false);
    }
    expect(decoder.decode(Buffer.concat([bytes, Buffer.of(0)]))).toMatchObject({
      ok: false,
      reason: 'undecodable',
    });
    fc.assert(
      fc.property(sampleEvents, fc.nat(), fc.integer({ min: 1, max: 255 }), (event, place, bits) => {
        const flipped = Buffer.from(encode(event));
        const at = 5 + (place % (flipped.length - 5));
        flipped[at] = (flipped[at] ?? 0) ^ bits;
        expect(typeof decoder.decode(flipped).ok).toBe('boolean');
      }),
    );
    fc.assert(
      fc.property(fc.nat(EVENT_TYPES.length), fc.uint8Array({ maxLength: 400 }), (id, body) => {
        expect(decoder.decode(Buffer.from([0, 0, 0, 0, id, ...body])).ok).toBe(false);
      }),
    );
  });

  it('with a huge array count or size does not hang or fill memory', () => {
    const schema = {
      type: 'record',
      name: recordNameOf('KYC'),
      fields: [
        { name: 'extra', type: { type: 'array', items: 'string' } },
        ...JSON.parse(eventSchemaText('KYC')).fields,
      ],
    };
    const decoder = new EventDecoder(() => schema);
    // 2^40 items; a block of −1 items; an item of −3 bytes, which leads back to the count.
    for (const body of [
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x40],
      [1, 1, 1, 1],
      [2, 5, 2, 5],
    ]) {
      const bytes = Buffer.from([0, 0, 0, 0, ID, ...body]);
      expect(decoder.decode(bytes)).toMatchObject({ ok: false, reason: 'undecodable' });
    }
    const event = sampleEvent({ ...EVENT, type: 'walletCreated', subType: 'CREATED', seed: 'w' });
    const head = Buffer.from(encode(event));
    const at = head.indexOf('USDC') - 2;
    const bomb = Buffer.concat([head.subarray(0, at), Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x40])]);
    expect(ownDecoder().decode(bomb)).toMatchObject({ ok: false, reason: 'undecodable' });
  });

  it('above the limit of size is refused without being decoded, with the ids of its header', () => {
    const event = sampleEvent({ ...EVENT, type: 'KYC', subType: 'FULL_USER', seed: 'k' });
    const bytes = Buffer.concat([encode(event), Buffer.alloc(EVENT_RECORD_BYTES_MAX)]);
    const { eventId, merchantId } = event;
    const detail = `the record has ${bytes.length} bytes: at most 524288 are allowed`;
    expect(ownDecoder().decode(bytes)).toEqual({
      ok: false,
      reason: 'too_large',
      detail,
      eventId,
      merchantId,
      entityId: event.entityId,
      type: 'KYC',
      subType: 'FULL_USER',
    });
  });

  it('with a long beyond 2^53 is undecodable', () => {
    const bytes = encode(sampleEvent({ ...EVENT, type: 'KYC', subType: 'FULL_USER', seed: 'k' }));
    const body = Buffer.from(bytes);
    const subType = body.indexOf('FULL_USER') + 'FULL_USER'.length;
    const long = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    const huge = Buffer.concat([body.subarray(0, subType), long, body.subarray(subType + 6)]);
    expect(ownDecoder().decode(huge)).toMatchObject({ ok: false, reason: 'undecodable' });
  });

  it('with a decimal of a thousand bytes is refused before it costs time', () => {
    const schema = eventSchemaText('fiatToCrypto');
    const plain = schema.replaceAll('"logicalType": "decimal"', '"logicalType": "none"');
    const data = {
      ...RECORD.data,
      amountFiat: Buffer.alloc(1_000, 1),
      fees: Buffer.of(1),
      amountCrypto: Buffer.of(1),
    };
    const body = avroType(JSON.parse(plain)).toBuffer({ ...RECORD, data });
    const decoder = new EventDecoder(() => schema);
    const decoded = decoder.decode(Buffer.concat([Buffer.from([0, 0, 0, 0, ID]), body]));
    expect(decoded).toMatchObject({ ok: false, reason: 'schema_violation' });
  });

  it('is a violation when Avro can express it and the catalog cannot', () => {
    const decoder = ownDecoder();
    const broken = (data: object) =>
      decoder.decode(encode({ ...EVENT, data: { ...EVENT.data, ...data } as never }));
    expect(broken({ status: 'not done' })).toMatchObject({ ok: false, reason: 'schema_violation' });
    expect(broken({ transactionHash: null })).toMatchObject({
      ok: false,
      reason: 'schema_violation',
      detail: expect.stringContaining('/data/transactionHash'),
    });
    expect(decoder.decode(encode({ ...EVENT, subType: 'DONE' }))).toMatchObject({
      ok: false,
      reason: 'schema_violation',
    });
    expect(decoder.decode(encode({ ...EVENT, eventId: 'x' }))).toMatchObject({
      ok: false,
      reason: 'schema_violation',
    });
  });

  it('of a schema that describes billions of values, or depth without end, is refused in a moment', () => {
    const event = JSON.parse(eventSchemaText('KYC'));
    const doubled = { type: 'record', name: 'D0', fields: [{ name: 'x', type: 'null' }] };
    const doublings: object[] = [doubled];
    for (let i = 1; i < 60; i += 1) {
      const fields = ['a', 'b'].map((name) => ({ name, type: `D${i - 1}` }));
      doublings.push({ type: 'record', name: `D${i}`, fields });
    }
    const nothings = { type: 'array', items: { type: 'array', items: 'null' } };
    const chain = { type: 'record', name: 'Chain', fields: [{ name: 'next', type: ['null', 'Chain'] }] };
    const maps = { type: 'map', values: { type: 'map', values: { type: 'map', values: 'null' } } };
    const full = [0xa0, 0x9c, 0x01];
    const cases: readonly (readonly [object, readonly string[], Buffer])[] = [
      [
        { name: 'extra', type: 'com.hookrail.events.D59' },
        doublings.map((each) => JSON.stringify({ ...each, namespace: 'com.hookrail.events' })),
        Buffer.alloc(10),
      ],
      [
        { name: 'extra', type: nothings },
        [],
        Buffer.from([...full, ...Array.from({ length: 10_000 }, () => [...full, 0]).flat()]),
      ],
      [{ name: 'extra', type: chain }, [], Buffer.alloc(300_000, 2)],
      [{ name: 'extra', type: maps }, [], Buffer.alloc(300_000, 2)],
    ];
    for (const [field, references, body] of cases) {
      const schema = JSON.stringify({ ...event, fields: [field, ...event.fields] });
      const decoder = new EventDecoder(() => new RegisteredSchema(schema, references));
      const began = performance.now();
      const bytes = Buffer.concat([Buffer.from([0, 0, 0, 0, ID]), body]);
      expect(decoder.decode(bytes)).toMatchObject({
        ok: false,
        reason: 'undecodable',
        detail: expect.stringMatching(/^\/extra cannot be read: .*(more than|deeper than)/),
      });
      expect(performance.now() - began).toBeLessThan(5_000);
    }
  });

  it('of a schema as long as allowed costs a moment, once', () => {
    const event = JSON.parse(eventSchemaText('KYC'));
    const many = (count: number, type: (i: number) => unknown) =>
      Array.from({ length: count }, (_, i) => ({ name: `f${i}`, type: type(i) }));
    const record = (i: number) => ({ type: 'record', name: `R${i}`, fields: [] });
    const amount = (i: number) => ({ type: 'fixed', name: `X${i}`, size: 1, logicalType: 'decimal' });
    const union = [{ name: 'u', type: Array.from({ length: 800 }, (_, i) => record(i)) }];
    for (const fields of [many(600, record), many(450, amount), many(1_800, () => 'long'), union]) {
      const schema = JSON.stringify({ ...event, fields: [...event.fields, ...fields] });
      expect(schema.length).toBeGreaterThan(25_000);
      const began = performance.now();
      const decoder = new EventDecoder(() => schema);
      expect(decoder.decode(Buffer.from([0, 0, 0, 0, ID]))).toMatchObject({ reason: 'undecodable' });
      expect(performance.now() - began).toBeLessThan(5_000);
    }
  });
});
