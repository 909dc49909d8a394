/** The size that a record is taken to have in a batch is the one that it has, so that no batch exceeds a broker's limit. */
import { expect, it } from 'vitest';
import { bytesInBatch, measureBatch } from '../../../services/kafka-client/producer/record-batch.ts';

const BATCH = measureBatch([]).bytes;
const value = Buffer.alloc(300);

it.each([
  ['a value', { key: null, value }],
  ['a key', { key: Buffer.from('key'), value }],
  ['no value', { key: Buffer.from('key'), value: null }],
  ['no headers', { key: null, value, headers: {} }],
  ['a header', { key: null, value, headers: { name: 'x'.repeat(36) } }],
  ['a header of bytes, and one without a value', { key: null, value, headers: { a: value, b: null } }],
  ['a header that comes twice', { key: null, value, headers: { a: ['x'.repeat(200), value] } }],
  ['letters of several bytes', { key: null, value, headers: { 'é✓': '✓'.repeat(500) } }],
  ['a long value', { key: null, value: Buffer.alloc(100_000) }],
])('of a record with %s', (_, record) => {
  const many = Array.from({ length: 2000 }, () => ({
    ...{ key: record.key, value: record.value && [record.value] },
    headers: 'headers' in record ? record.headers : undefined,
  }));
  const actual = measureBatch(many).bytes - BATCH;
  expect(2000 * bytesInBatch(record)).toBeGreaterThanOrEqual(actual);
  // The index of a record takes two bytes less.
  expect(2000 * (bytesInBatch(record) - 4)).toBeLessThan(actual);
});
