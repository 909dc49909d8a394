import type { RecordHeader, RecordOrigin } from '../../../domain/quarantine.ts';
import type { ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { WhyUnusable } from '../../../kafka-client/consumer/topic-consumer-options.ts';

/** Limits of the parts kept beside a record's value: its key, and all its headers together. */
const KEY_BYTES_MAX = 4 * 1024;
const HEADER_BYTES_MAX = 16 * 1024;
const NO_BYTES = Buffer.alloc(0);

type Read = Pick<ReadRecord, 'partition' | 'offset' | 'timestamp' | 'key' | 'value' | 'headers'>;

/** Returns a record's position, key and headers in the form that the quarantine keeps. */
export function originOf({ partition, offset, timestamp, key, value, headers }: Read): RecordOrigin {
  const kept = keptHeaders(headers);
  const isKeyWhole = (key?.length ?? 0) <= KEY_BYTES_MAX;
  return {
    topic: partition.topic,
    partition: partition.id,
    offset,
    timestamp,
    key: isKeyWhole ? key : (key?.subarray(0, KEY_BYTES_MAX) ?? null),
    headers: kept.headers,
    valueBytes: value?.length ?? null,
    isWhole: isKeyWhole && kept.isWhole,
  };
}

function keptHeaders(headers: Read['headers']): { headers: RecordHeader[]; isWhole: boolean } {
  const kept: RecordHeader[] = [];
  let bytes = 0;
  for (const [name, given] of Object.entries(headers)) {
    for (const one of Array.isArray(given) ? given : [given]) {
      const value = one === undefined || one === null ? null : Buffer.from(one);
      bytes += Buffer.byteLength(name) + (value ?? NO_BYTES).length;
      if (bytes > HEADER_BYTES_MAX) return { headers: kept, isWhole: false };
      kept.push({ name, value });
    }
  }
  return { headers: kept, isWhole: true };
}

/** Returns `topic/partition@offset`. */
export function placeText({
  topic,
  partition,
  offset,
}: Pick<RecordOrigin, 'topic' | 'partition' | 'offset'>) {
  return `${topic}/${partition}@${offset}`;
}

export const undecodable = (detail: string): WhyUnusable => ({ reason: 'undecodable', detail });
