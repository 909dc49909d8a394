import { asBuffer } from '../../../codec/record-codec.ts';
import type { DomainEvent } from '../../../domain/event.ts';
import {
  type Quarantined,
  type RecordHeader,
  type RecordOrigin,
  wouldReturn,
} from '../../../domain/quarantine.ts';
import type { HeaderValue, OutgoingRecord } from '../../../kafka-client/producer/record-sender.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { RequeueOptions } from '../../broker.ts';
import type { KafkaRecords } from '../registry/records.ts';
import { requeuedHeader, withoutRequeued } from '../seen/requeued.ts';
import type { Outgoing } from '../streams/settle.ts';
import type { TopicNames } from '../topics/topic-spec.ts';
import { topicList } from '../topics/topics.ts';
import { learnWithin } from './topic-record-store.ts';

export interface PutBackDeps {
  readonly records: KafkaRecords;
  readonly outgoing: Pick<Outgoing, 'again'>;
  readonly topics: TopicNames;
  /** Partition counts of every topic. */
  readonly partitions: ReadonlyMap<string, number>;
  readonly partitionOf: (topic: string, key: string) => number;
  readonly clock: Clock;
}

/** The record cannot be put back; the message says why. */
export class CannotPutBack extends Error {
  override readonly name = 'CannotPutBack';
}

export interface PutBack {
  /** The key of the stored record, by which the router recognises an event that is put back. */
  readonly key: Buffer | null;
  /** The event id that replaces its own; null = it keeps it. The router then takes it for any new event. */
  readonly newId: string | null;
  readonly stillRefused: RequeueOptions['stillRefused'];
}

/** Returns a stored record as it goes back to the topic that it came from. Throws CannotPutBack. */
export async function putBackRecord(
  stored: Quarantined,
  { key, newId, stillRefused }: PutBack,
  deps: PutBackDeps,
): Promise<OutgoingRecord> {
  const { topics } = deps;
  const { bytes, origin } = stored;
  if (!origin) throw new CannotPutBack('it does not say which topic it came from');
  const { topic } = origin;
  if (!origin.isWhole) {
    throw new CannotPutBack(
      `it is too large to be kept in full (${bytes.length} of ${origin.valueBytes} bytes)`,
    );
  }
  if (!topicList(topics).includes(topic)) {
    throw new CannotPutBack(
      `it came from topic ${topic}, which is not a topic of this deployment: check HOOKRAIL_EVENTS_TOPIC and HOOKRAIL_TOPIC_PREFIX`,
    );
  }
  if (topic === topics.events) {
    const record = asItWas(bytes, origin, deps);
    // An event that made a process stand still is not read by another one before it is put back.
    if (stillRefused && stored.reason !== 'event_stalled') await mustBeTaken(record, stillRefused, deps);
    if (newId !== null) return await renamed(record, newId, deps);
    return { ...record, headers: { ...record.headers, ...requeuedHeader(key) } };
  }
  const value = asBuffer(bytes);
  await learnWithin(deps.records, value, deps.clock);
  if (topic === topics.journal) {
    readable(() => deps.records.decode('journal', value));
    return asItWas(bytes, origin, deps);
  }
  const task = readable(() => deps.records.decode('task', value));
  // One hop further: the unreadable record with the same mark is remembered, and a copy of it is dropped.
  return deps.outgoing.again({ ...task, hop: task.hop + 1 }, deps.clock.now());
}

/** Fields that a producer's own schema adds are lost: the event is written with hookrail's schema. */
async function renamed(record: OutgoingRecord, eventId: string, deps: PutBackDeps): Promise<OutgoingRecord> {
  const read = await eventIn(record, deps);
  const headers = withoutRequeued(record.headers ?? {});
  return { ...record, headers, value: deps.records.encodeEvent({ ...read, eventId }) };
}

async function mustBeTaken(
  record: OutgoingRecord,
  stillRefused: NonNullable<RequeueOptions['stillRefused']>,
  deps: PutBackDeps,
): Promise<void> {
  const refusal = await stillRefused(await eventIn(record, deps));
  if (refusal !== null) throw new CannotPutBack(wouldReturn(refusal));
}

async function eventIn(record: OutgoingRecord, { records, clock }: PutBackDeps): Promise<DomainEvent> {
  const value = record.value ?? Buffer.alloc(0);
  await learnWithin(records, value, clock);
  const decoded = records.decodeEvent(value);
  if (!decoded.ok) throw new CannotPutBack(`it still cannot be read: ${decoded.detail}`);
  return decoded.event;
}

function asItWas(
  bytes: Uint8Array,
  { topic, partition, key: bytesOfKey, headers, valueBytes }: RecordOrigin,
  { partitions, partitionOf }: PutBackDeps,
): OutgoingRecord {
  const key = bytesOfKey && asBuffer(bytesOfKey);
  const isThere = partition < (partitions.get(topic) ?? 0);
  return {
    topic,
    partition: isThere ? partition : partitionOf(topic, key?.toString() ?? ''),
    key,
    value: valueBytes === null ? null : asBuffer(bytes),
    headers: headersOf(headers),
  };
}

function headersOf(headers: readonly RecordHeader[]): Record<string, HeaderValue | HeaderValue[]> {
  const byName: Record<string, HeaderValue[]> = Object.create(null);
  for (const { name, value } of headers) {
    byName[name] ??= [];
    byName[name].push(value && asBuffer(value));
  }
  return byName;
}

function readable<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new CannotPutBack(`it still cannot be read: ${errorLine(error)}`);
  }
}
