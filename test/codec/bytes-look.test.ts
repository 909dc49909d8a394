/** Guarantee: a record in another format goes to quarantine with what it looks like and what the producer should set. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventDecoder, eventSchemaText } from '../../services/codec/events.ts';
import { EVENT, encode, ID } from './own-avro.ts';

const good = encode(EVENT);
const body = good.subarray(5);
const bytesOf = (hex: string, rest: Uint8Array = body) => Buffer.concat([Buffer.from(hex, 'hex'), rest]);
const GUID = '0c8e6c1a4f5b4a0e9d3f2b1a09887766';
/** A message with the fields 1, a text, 2, a number, and 3, a message. */
const PROTOBUF = Buffer.from('0a03616263108f011a020801', 'hex');

const detailOf = (bytes: Uint8Array, schema: string | undefined = eventSchemaText('fiatToCrypto')) => {
  const decoded = new EventDecoder((id) => (id === ID ? schema : undefined)).decode(bytes);
  return decoded.ok ? 'it was read' : `${decoded.reason}: ${decoded.detail}`;
};

describe('a record in another format', () => {
  it.each([
    ['no bytes', Buffer.alloc(0), /a tombstone, or an empty value/],
    [
      'a JSON object',
      Buffer.from('{"type":"KYC"}'),
      /looks like JSON: publish with the Avro serializer.*POST \/producer\/events/,
    ],
    ['JSON with a byte order mark and spaces', Buffer.from('\ufeff\n [1]'), /looks like JSON/],
    ['a JSON text', Buffer.from('"AAAAA"'), /looks like JSON/],
    ['XML', Buffer.from('<?xml version="1.0"?><event/>'), /looks like XML/],
    ['Avro without the prefix', body, /looks like Avro without the prefix of five bytes/],
    ['single-object encoding', bytesOf('c3010102030405060708'), /single-object encoding \(C3 01\)/],
    ['an Avro file', bytesOf('4f626a01'), /an Avro file/],
    ['AWS Glue', bytesOf(`0300${GUID}`), /AWS Glue/],
    ['AWS Glue, compressed', bytesOf(`0305${GUID}`), /AWS Glue/],
    ['a GUID in the prefix', bytesOf(`01${GUID}`), /\(01, GUID\).*PrefixSchemaIdSerializer/],
    ['Base64', Buffer.from(Buffer.from(good).toString('base64')), /Base64/],
    ['gzip', gzipSync(good), /compressed.*compression\.type/],
    ['a Java object', bytesOf('aced0005'), /serialized Java object/],
    ['Protobuf', PROTOBUF, /looks like Protobuf/],
  ])('is named: %s', (_what, bytes, look) => {
    expect(detailOf(bytes)).toMatch(/^undecodable: the record is not in Confluent’s wire format/);
    expect(detailOf(bytes)).toMatch(look);
  });

  it.each([
    ['the prefix twice', bytesOf('0000000007', bytesOf('0000000007')), /^undecodable: .*there twice/],
    ['JSON behind the prefix', bytesOf('0000000007', Buffer.from('{"a":1}')), /^undecodable: .*JSON follows/],
    [
      'JSON behind an unknown id',
      bytesOf('0000000008', Buffer.from('{"a":1}')),
      /^unknown_schema: .*JSON follows/,
    ],
    [
      'Protobuf behind an unknown id',
      bytesOf('000000000800', PROTOBUF),
      /^unknown_schema: .*Protobuf seems to follow/,
    ],
    [
      'ids of eight bytes',
      bytesOf('000000000000000007'),
      /^unknown_schema: .*eight bytes.*Legacy4ByteIdHandler/,
    ],
  ])('is named behind the prefix: %s', (_what, bytes, look) => {
    expect(detailOf(bytes)).toMatch(look);
  });

  it('is not guessed at when it looks like nothing, and no bytes are too odd to be looked at', () => {
    expect(detailOf(Buffer.from('junk'))).toBe(
      'undecodable: the record is not in Confluent’s wire format (0, schema id, Avro)',
    );
    expect(detailOf(good.subarray(0, -3).fill(ID, 4, 5))).not.toContain(';');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(detailOf(bytes)).toMatch(/^(undecodable|unknown_schema|schema_violation): /);
      }),
    );
  });
});
