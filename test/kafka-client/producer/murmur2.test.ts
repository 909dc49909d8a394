/**
 * A key goes to the partition where every other client looks for it: the one that Java's default partitioner chooses.
 */
import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { expect, test } from 'vitest';
import { partitionOfKey } from '../../../services/kafka-client/producer/murmur2.ts';

const partitioner = Partitioners.DefaultPartitioner();

function expected(key: Buffer, count: number): number {
  const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({ partitionId, leader: 0 }));
  return partitioner({
    topic: 't',
    partitionMetadata: partitionMetadata as never,
    message: { key, value: null },
  });
}

test('any key goes to the partition that Kafka’s default partitioner chooses', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), fc.integer({ min: 1, max: 100 }), (bytes, count) => {
      const key = Buffer.from(bytes);
      expect(partitionOfKey(key, count)).toBe(expected(key, count));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
])('the hash of "%s" is that of Kafka’s own tests', (key, hash) => {
  const count = 2 ** 31 - 1;
  expect(partitionOfKey(Buffer.from(key), count)).toBe((hash & 0x7fffffff) % count);
});
