/** Guarantee: every batch that a Kafka client may write is read, and one that cannot be read costs only itself. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { compressFrameSync } from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { BATCH_BYTES_MAX, readRecordSet } from '../../../services/kafka-client/fetch/record-set.ts';
import {
  batchOf,
  plainRecords,
  RECORDED,
  recordedSets,
  withChecksum,
} from '../../support/kafka/record-batches.ts';

const GZIP = 1;
const SNAPPY = 2;
const LZ4 = 3;
const ZSTD = 4;
const MIB = 1024 * 1024;

/** One fetch. */
function readOnce(
  bytes: Buffer,
  { from = 0, aborted = [] as [bigint, bigint][], budget = 32 * MIB, recordBytesMax = 64 * MIB } = {},
) {
  return readRecordSet(
    {
      bytes,
      recordBytesMax,
      fetchOffset: BigInt(from),
      aborted: aborted.map(([producerId, firstOffset]) => ({ producerId, firstOffset })),
    },
    { bytes: budget },
  );
}

/** Fetches again while a large batch is being decompressed. */
async function read(bytes: Buffer, options: Parameters<typeof readOnce>[1] = {}) {
  for (;;) {
    const messages = await readOnce(bytes, options);
    if (messages.length > 0 || bytes.length === 0) return messages;
    await sleep(5);
  }
}

/** Values of records, causes of unreadable batches, and `end n` where nothing but an offset is left. */
const told = (messages: Awaited<ReturnType<typeof read>>) =>
  messages.map(({ offset, value, isControlRecord, unreadable }) =>
    unreadable
      ? `${offset}-${unreadable.lastOffset}: ${unreadable.cause}`
      : isControlRecord
        ? `end ${offset}`
        : `${offset} ${value}`,
  );

const one = (text: string, base: number, rest = {}) => batchOf([Buffer.from(text)], { base, ...rest });

/** A zstd frame of 128 KiB blocks of one byte each: 4 bytes for every 131,072. */
function zstdBomb(blocks: number, windowDescriptor = 0x60): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, windowDescriptor]);
  const block = (isLast: boolean) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUIntLE((131_072 << 3) | (1 << 1) | (isLast ? 1 : 0), 0, 3);
    return bytes;
  };
  return Buffer.concat([
    header,
    ...Array.from({ length: blocks }, (_, index) => block(index === blocks - 1)),
  ]);
}

/** A gzip member whose trailer says that it decompresses to nothing. */
function lyingGzip(): Buffer {
  const bytes = gzipSync(Buffer.alloc(200 * MIB));
  return bytes.fill(0, bytes.length - 4);
}

/** A snappy block that says it decompresses to so many bytes. */
function snappyBomb(bytes: number): Buffer {
  const varint: number[] = [];
  for (let left = bytes; ; left = Math.floor(left / 128)) {
    varint.push(left < 128 ? left : (left % 128) | 128);
    if (left < 128) return Buffer.from([...varint, 0, 0]);
  }
}

describe('a set of record batches', () => {
  it.each(Object.keys(recordedSets))('is read as %s wrote it', async (name) => {
    const messages = (await read(recordedSets[name] as Buffer)).filter(
      ({ isControlRecord }) => !isControlRecord,
    );
    expect(messages.map(({ offset, key, value }) => `${offset} ${key} ${value}`)).toEqual(
      Array.from({ length: RECORDED }, (_, i) => `${i} k${i} line number ${i}`),
    );
  });

  it.each([
    ['gzip', GZIP, () => gzipSync(Buffer.alloc(200 * MIB))],
    ['gzip that declares little', GZIP, () => lyingGzip()],
    ['snappy', SNAPPY, () => snappyBomb(2 ** 31)],
    ['lz4', LZ4, () => compressFrameSync(Buffer.alloc(200 * MIB))],
    ['zstd', ZSTD, () => zstdBomb(1600)],
    ['zstd with a window of 1.8 GB', ZSTD, () => zstdBomb(1600, 0xa6)],
  ])(
    'names a bomb of %s as unreadable in little memory, and reads the batch after it',
    async (name, codec, bomb) => {
      const set = Buffer.concat([batchOf([Buffer.alloc(1)], { codec, records: bomb() }), one('next', 1)]);
      const before = process.memoryUsage();
      const { maxRSS } = process.resourceUsage();
      const messages = await read(set);
      const after = process.memoryUsage();
      expect(told(messages)).toEqual([
        `0-0: the batch cannot be decompressed with ${name.split(' ')[0]}: it decompresses to more than ${BATCH_BYTES_MAX} bytes${set.length > 600_000 ? ` (the first 524288 of ${set.length - one('next', 1).length} bytes are kept)` : ''}`,
        '1 next',
      ]);
      expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4 * BATCH_BYTES_MAX);
      // What native code has allocated meanwhile.
      expect((process.resourceUsage().maxRSS - maxRSS) / 1024).toBeLessThan(128);
    },
  );

  it.each([
    ['gzip', GZIP],
    ['snappy', SNAPPY],
    ['lz4', LZ4],
    ['zstd', ZSTD],
  ])('with bytes that are not %s becomes one message with the cause', async (name, codec) => {
    const garbage = batchOf([Buffer.alloc(1), Buffer.alloc(1)], { codec, records: Buffer.alloc(50, 0xab) });
    expect(told(await read(Buffer.concat([garbage, one('next', 2)])))).toEqual([
      expect.stringMatching(new RegExp(`^0-1: the batch cannot be decompressed with ${name}: `)),
      '2 next',
    ]);
  });

  it('with an unknown codec, a corrupt batch or records that do not fit is read on behind them', async () => {
    const unknown = one('unknown', 0, { codec: 6 });
    const flipped = batchOf([Buffer.from('250.00'), Buffer.from('17')], { base: 1 });
    flipped[70] = (flipped[70] ?? 0) ^ 1;
    const short = one('short', 3, { records: plainRecords([Buffer.from('short')]).subarray(0, 5) });
    const many = one('many', 4, { count: 2_000_000 });
    expect(told(await read(Buffer.concat([unknown, flipped, short, many, one('next', 2_000_004)])))).toEqual([
      '0-0: the batch is compressed with an unknown codec (6)',
      '1-2: the batch is corrupt: its checksum is wrong',
      '3-3: a record extends beyond the end of its batch',
      '4-2000003: the batch has 2000000 records, at most 250000 are read',
      '2000004 next',
    ]);
  });

  it('is not decompressed where its only record exceeds the limit of the topic', async () => {
    const large = Buffer.alloc(300_000, 'a');
    const batch = (values: Buffer[], base: number) =>
      batchOf(values, { base, codec: GZIP, records: gzipSync(plainRecords(values)) });
    const set = Buffer.concat([batch([large], 0), batch([large, Buffer.from('small')], 1)]);
    const messages = await read(set, { recordBytesMax: 200_000 });
    expect(messages[0]?.unreadable).toMatchObject({ reason: 'too_large' });
    expect(told(messages.slice(2))).toEqual(['2 small']);
    expect(messages[1]?.value?.length).toBe(large.length);
  });

  it('does not trust the record count of a corrupt batch', async () => {
    const corrupt = one('corrupt', 0);
    corrupt.writeInt32BE(1_000_000, 23);
    expect(told(await read(Buffer.concat([corrupt, one('next', 1)])))).toEqual([
      '0-0: the batch is corrupt: its checksum is wrong',
      '1 next',
    ]);
  });

  it('leaves out control records and aborted records, and says how far it reaches', async () => {
    const transaction = (text: string, base: number, producerId: bigint) =>
      one(text, base, { producerId, isTransactional: true });
    const marker = (kind: 'commit' | 'abort', base: number, producerId: bigint) =>
      one('marker', base, { producerId, marker: kind });
    const set = Buffer.concat([
      transaction('kept', 0, 1n),
      transaction('aborted', 1, 2n),
      one('plain', 2),
      marker('commit', 3, 1n),
      marker('abort', 4, 2n),
      transaction('kept too', 5, 2n),
      marker('commit', 6, 2n),
    ]);
    expect(told(await read(set, { aborted: [[2n, 1n]] }))).toEqual([
      '0 kept',
      '2 plain',
      '5 kept too',
      'end 6',
    ]);
    // Only markers: the first says where the fetch began.
    expect(told(await read(set.subarray(set.length - marker('commit', 6, 2n).length), { from: 6 }))).toEqual([
      'end 6',
    ]);
  });

  it('says how far it reaches after an empty compacted batch, and begins at the requested offset', async () => {
    const empty = batchOf([], { base: 3, count: 0 });
    empty.writeInt32BE(4, 23);
    expect(told(await read(withChecksum(empty), { from: 3 }))).toEqual(['end 3', 'end 7']);
    const values = ['a', 'b', 'c'].map((text) => Buffer.from(text));
    expect(told(await read(batchOf(values, { base: 5 }), { from: 6 }))).toEqual(['6 b', '7 c']);
    expect(await read(Buffer.alloc(0))).toEqual([]);
  });

  it('leaves the rest to the next fetch when it costs too much memory, but never the first batch', async () => {
    const set = Buffer.concat([one('first', 0), one('second', 1)]);
    expect(told(await read(set, { budget: 1 }))).toEqual(['0 first']);
    expect(told(await read(set, { budget: 1, from: 1 }))).toEqual(['1 second']);
  });

  it('is handed over up to a batch that takes long to decompress, which comes at a later fetch', async () => {
    const large = Array.from({ length: 4 }, () => Buffer.alloc(2 * MIB, 'a'));
    const records = gzipSync(plainRecords(large));
    const set = Buffer.concat([one('first', 0), batchOf(large, { base: 1, codec: GZIP, records })]);
    expect(told(await readOnce(set))).toEqual(['0 first']);
    const messages = await read(set, { from: 1 });
    expect(messages.map(({ offset }) => offset)).toEqual(['1', '2', '3', '4']);
    expect(messages.every(({ value }, i) => value?.equals(large[i] as Buffer))).toBe(true);
  });

  it('is read at once when the compressed batch is large, because another fetch would cost more', async () => {
    const large = randomBytes(MIB);
    const records = gzipSync(plainRecords([large]));
    const [message] = await readOnce(batchOf([large], { codec: GZIP, records }));
    expect(message?.value?.equals(large)).toBe(true);
  });
});
