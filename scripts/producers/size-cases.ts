/** Sizes: around and above hookrail's limit, above the topic's limit, and records that are small only when compressed. */
import { type Case, type CaseContext, type End, eventRecord, newIds, rawCase } from './case.ts';
import { kybEvent } from './event-variants.ts';
import { CODECS, type Codec } from './job.ts';

/** Hookrail's limit of an event's `data` as JSON. */
const EVENT_DATA_BYTES_MAX = 256 * 1024;
const KIB = 1024;
const MIB = 1024 * KIB;
const TOO_LARGE = 'quarantined: too_large';

export function sizeCases(context: CaseContext): Case[] {
  const one = (
    row: string,
    bytes: number,
    expected: readonly End[],
    codec: Codec = 'none',
    characterBytes: 1 | 3 = 1,
  ): Case => {
    const ids = newIds(context);
    const record = eventRecord(ids, 'KYB', kybEvent(ids, bytes, characterBytes), { codec });
    return { name: row, row, group: 'sizes', expected, record };
  };
  const compressing = CODECS.filter((codec) => codec !== 'none');
  const limit = EVENT_DATA_BYTES_MAX / KIB;
  return [
    one('120 KB', 120 * KIB, ['delivered']),
    one(`${limit - 2} KB, just below the limit`, (limit - 2) * KIB, ['delivered']),
    one(`${limit + 2} KB, just above the limit`, (limit + 2) * KIB, [TOO_LARGE]),
    one('900 KB', 900 * KIB, [TOO_LARGE], 'none', 3),
    one('above what the topic takes', 1150 * KIB, ['refused by Kafka'], 'none', 3),
    ...compressing.flatMap((codec) => [
      // If a client has no compressor for zstd, the frame contains the bytes uncompressed.
      one(
        `1.2 MB, ${codec}`,
        1150 * KIB,
        codec === 'zstd' ? [TOO_LARGE, 'refused by Kafka'] : [TOO_LARGE],
        codec,
        3,
      ),
      bomb(context, codec, 8),
      bomb(context, codec, 64),
    ]),
  ];
}

/** Returns a record of zeros, which compress to a few kilobytes, after the prefix of a known schema. */
function bomb({ schemaIdOf }: CaseContext, codec: Codec, mebibytes: number): Case {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(schemaIdOf('ours'), 1);
  const change = { codec, zeros: mebibytes * MIB };
  // Not every codec makes it small enough for the topic's limit.
  const ends: End[] = ['quarantined: undecodable', TOO_LARGE, 'refused by Kafka'];
  return rawCase('sizes', `bomb of ${mebibytes} MB, ${codec}`, ends, prefix, change);
}
