/**
 * Replaces kafkajs's decoder of fetch responses (version 11, which every broker since 2.3 supports). kafkajs decodes a
 * whole response or nothing: one batch that it cannot decode stops all partitions of that broker, for ever. It supports
 * one codec of four, verifies no checksum, and does not limit the size of a decompressed batch. Its group membership,
 * its connections and its requests are used as they are.
 *
 * kafkajs does not export the decoder; the path is that of the version pinned in package.json.
 */
import { createRequire } from 'node:module';
import type { Batch, KafkaMessage } from 'kafkajs';
import type { FetchedMessage, UnreadableBatch } from './record-reader.ts';
import { type Budget, outOfRange, type RecordSet, readRecordSet } from './record-set.ts';

const VERSION = 11;
const OFFSET_OUT_OF_RANGE = 1;
/** The limit of one response's decompressed batches; the rest is fetched again. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

interface FetchOptions {
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[];
  }[];
}

interface Response {
  readonly decode: (bytes: Buffer) => Promise<object>;
  readonly parse: (decoded: object) => Promise<object>;
}

type Protocol = (options: FetchOptions) => { readonly response: Response };

interface FetchModule {
  protocol: (wanted: { readonly version: number }) => Protocol;
}

const require = createRequire(import.meta.url);

/** Makes every consumer of this process use this decoder. May be called again. */
export function readFetchAnswersOurselves(): void {
  const fetch: FetchModule = require('kafkajs/src/protocol/requests/fetch');
  if (replaced.has(fetch.protocol)) return;
  const protocolOf = fetch.protocol;
  fetch.protocol = (wanted) => {
    const original = protocolOf(wanted);
    if (Number(wanted.version) !== VERSION) return original;
    return (options) => {
      const made = original(options);
      return {
        ...made,
        response: { decode: async (bytes) => decodeAnswer(bytes, options), parse: made.response.parse },
      };
    };
  };
  replaced.add(fetch.protocol);
}

/** By topic; a topic without an entry has no limit of its own. */
const RECORD_BYTES_MAX = new Map<string, number>();

/** Sets the size above which a record of the topic is not decompressed: its key, value and headers together. */
export function limitRecordSize(topic: string, bytesMax: number): void {
  RECORD_BYTES_MAX.set(topic, bytesMax);
}

const replaced = new WeakSet<FetchModule['protocol']>();

/** Returns the offset at which the fetch of a batch began: kafkajs omits the field from its types. */
export function fetchedOffset(batch: Batch): number {
  return Number((batch as Batch & { readonly fetchedOffset: string }).fetchedOffset);
}

/** Returns why a message is a batch instead of a record; undefined = it is a record. */
export function unreadableBatch(message: KafkaMessage): UnreadableBatch | undefined {
  return (message as FetchedMessage).unreadable;
}

/** Returns whether the log has nothing at the requested position: a message reports it instead of a record. */
export function isOutOfRange(message: KafkaMessage): boolean {
  return (message as FetchedMessage).isOutOfRange === true;
}

/** Fetch Response (Version: 11), as kafkajs hands it on. */
async function decodeAnswer(bytes: Buffer, { topics }: FetchOptions): Promise<object> {
  const asked = new Map<string, bigint>();
  for (const { topic, partitions } of topics) {
    for (const { partition, fetchOffset } of partitions)
      asked.set(`${topic}/${partition}`, BigInt(fetchOffset));
  }
  const budget = { bytes: ANSWER_BYTES_MAX };
  const from = new AnswerReader(bytes);
  const clientSideThrottleTime = from.int32();
  const errorCode = from.int16();
  const sessionId = from.int32();
  const topicsRead = from.array(() => {
    const topicName = from.string();
    const partitions = from.array(() => {
      const partition = from.int32();
      const header = {
        partition,
        ...errorOf(from.int16()),
        highWatermark: `${from.int64()}`,
        lastStableOffset: `${from.int64()}`,
        lastStartOffset: `${from.int64()}`,
      };
      const aborted = from.array(() => ({ producerId: from.int64(), firstOffset: from.int64() }));
      const preferredReadReplica = from.int32();
      const records = from.bytes();
      const fetchOffset = asked.get(`${topicName}/${partition}`) ?? 0n;
      // Aborted records are already omitted.
      const head = { ...header, abortedTransactions: [], preferredReadReplica };
      const recordBytesMax = RECORD_BYTES_MAX.get(topicName) ?? Number.POSITIVE_INFINITY;
      return { head, set: { bytes: records, recordBytesMax, fetchOffset, aborted } };
    });
    return { topicName, partitions };
  });
  const responses: object[] = [];
  for (const { topicName, partitions } of topicsRead) {
    const read: object[] = [];
    for (const { head, set } of partitions) {
      const messages = head.isOutOfRange ? [outOfRange(set.fetchOffset)] : await readWithin(budget, set);
      read.push({ ...head, messages });
    }
    responses.push({ topicName, partitions: read });
  }
  // Kafka 2.0 and later throttle after the response; kafkajs waits by the second field.
  return { throttleTime: 0, clientSideThrottleTime, errorCode, sessionId, responses };
}

/**
 * Passes a position that is out of range to the reader as a message: kafkajs would silently go to the oldest record,
 * and commit −2 for the group.
 */
const errorOf = (errorCode: number): { readonly errorCode: number; readonly isOutOfRange: boolean } =>
  errorCode === OFFSET_OUT_OF_RANGE
    ? { errorCode: 0, isOutOfRange: true }
    : { errorCode, isOutOfRange: false };

async function readWithin(budget: Budget, set: RecordSet): Promise<FetchedMessage[]> {
  return budget.bytes <= 0 ? [] : readRecordSet(set, budget);
}

/** Reads the fields of a response in order. */
class AnswerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  int64(): bigint {
    this.#at += 8;
    return this.#bytes.readBigInt64BE(this.#at - 8);
  }

  string(): string {
    const length = this.int16();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  /** Null is read as empty. */
  bytes(): Buffer {
    const length = Math.max(0, this.int32());
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** Null is read as empty. */
  array<T>(item: () => T): T[] {
    return Array.from({ length: Math.max(0, this.int32()) }, item);
  }
}
