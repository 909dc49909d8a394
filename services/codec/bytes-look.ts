/** Guesses what a producer wrote instead of the registry's wire format, by its first bytes, and says what to set. */

const SERIALIZER =
  'publish with the Avro serializer of your schema registry (Confluent’s KafkaAvroSerializer or its like)';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** The bytes that are looked at: enough for any beginning. */
const LOOKED_AT = 4_096;
/** In Avro: the length of a UUID as text, before it. */
const UUID_LENGTH = 72;

interface Look {
  readonly is: (bytes: Buffer, size: number) => boolean;
  readonly text: string;
}

const starts =
  (...first: readonly number[]) =>
  (bytes: Buffer) =>
    first.every((byte, index) => bytes[index] === byte);

/** Returns the first character that is no space or byte order mark; a space where there is none. */
function firstOf(bytes: Buffer): string {
  return bytes.toString('utf8').trimStart()[0] ?? ' ';
}

/** In this order: the first that fits is told. */
const LOOKS: readonly Look[] = [
  { is: (_, size) => size === 0, text: 'it has no bytes: a tombstone, or an empty value, is no event' },
  {
    is: starts(0xc3, 0x01),
    text: `it looks like Avro’s single-object encoding (C3 01), which names the schema by a fingerprint: ${SERIALIZER}`,
  },
  {
    is: starts(0x4f, 0x62, 0x6a, 0x01),
    text: 'it looks like an Avro file (Obj 1): publish one event in each record, with the serializer of your schema registry',
  },
  {
    is: (bytes, size) => size > 18 && bytes[0] === 3 && (bytes[1] === 0 || bytes[1] === 5),
    text: `it looks like the format of AWS Glue’s registry (03, compression, UUID): ${SERIALIZER}`,
  },
  {
    is: (bytes, size) =>
      size > 17 && bytes[0] === 1 && bytes[7] !== undefined && bytes[7] >> 4 <= 8 && bytes[7] >> 4 > 0,
    text: 'it looks like the format with a schema’s GUID (01, GUID): set the serializer to write schema ids in the value’s prefix (PrefixSchemaIdSerializer)',
  },
  {
    is: (bytes) => bytes[0] === UUID_LENGTH && UUID.test(bytes.toString('latin1', 1, 37)),
    text: `it looks like Avro without the prefix of five bytes (0, schema id): ${SERIALIZER}, which writes the prefix`,
  },
  {
    is: (bytes) => '{["'.includes(firstOf(bytes)),
    text: `it looks like JSON: ${SERIALIZER}; JSON is accepted by POST /producer/events`,
  },
  { is: (bytes) => firstOf(bytes) === '<', text: `it looks like XML: ${SERIALIZER}` },
  {
    is: (bytes) => /^AAAA[A-Za-z0-9+/]{8}/.test(bytes.toString('latin1')),
    text: 'it looks like Base64 of the record: publish its bytes',
  },
  {
    is: (bytes) => starts(0x1f, 0x8b)(bytes) || starts(0x28, 0xb5, 0x2f, 0xfd)(bytes),
    text: 'it looks compressed (gzip, zstd): publish the record as it is, and let Kafka compress (compression.type)',
  },
  { is: starts(0xac, 0xed, 0x00, 0x05), text: `it looks like a serialized Java object: ${SERIALIZER}` },
  {
    is: (bytes, size) => size <= LOOKED_AT && isProtobuf(bytes),
    text: `it looks like Protobuf: ${SERIALIZER}`,
  },
];

/** Returns a clause about a record that is not in the wire format; empty when it looks like nothing in particular. */
export function lookOf(record: Uint8Array): string {
  const bytes = Buffer.from(record.buffer, record.byteOffset, Math.min(record.length, LOOKED_AT));
  return LOOKS.find(({ is }) => is(bytes, record.length))?.text ?? '';
}

/** Returns a clause about a record in the wire format whose body cannot be read, or whose schema is not there; or an empty text. */
export function lookOfBody(record: Uint8Array): string {
  const bytes = Buffer.from(record.buffer, record.byteOffset, Math.min(record.length, LOOKED_AT));
  const body = bytes.subarray(5);
  if (body.length >= 5 && bytes.subarray(0, 5).equals(body.subarray(0, 5))) {
    return 'the prefix (0, schema id) is there twice: two serializers wrote it';
  }
  if (bytes.readUInt32BE(1) === 0) {
    return 'the id is 0: a serializer that writes ids in eight bytes looks like this (Apicurio: set apicurio.registry.id-handler to Legacy4ByteIdHandler, or as-confluent=true)';
  }
  if (firstOf(body) === '{') {
    return 'JSON follows the prefix: publish with the Avro serializer, not the one for JSON Schema';
  }
  const indexes = body[0] === 0 ? 1 : 0;
  if (indexes > 0 && isProtobuf(body.subarray(indexes)) && record.length <= LOOKED_AT) {
    return 'Protobuf seems to follow the prefix: publish with the Avro serializer, not the one for Protobuf';
  }
  return '';
}

/** Returns whether the bytes are fields of Protobuf to the last: a number and a wire type, then a value of that type. */
function isProtobuf(bytes: Buffer): boolean {
  let at = 0;
  let fields = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; shift < 70 && at < bytes.length; shift += 7) {
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    // Messages have few fields, and text or random bytes read as tags do not.
    if (!(number >= 1 && number <= 100)) return false;
    switch (tag % 8) {
      case 0:
        if (Number.isNaN(varint())) return false;
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        // Read first: it moves the place on.
        const length = varint();
        at += length;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        return false;
    }
    fields += 1;
  }
  return fields > 0 && at === bytes.length;
}
