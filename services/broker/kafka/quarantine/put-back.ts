import type { DomainEvent } from '../../../domain/event.ts';
import { type Quarantined, type RecordHeader, wouldReturn } from '../../../domain/quarantine.ts';
import type { HeaderValue, OutgoingRecord } from '../../../kafka-client/producer/record-sender.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { RequeueOptions } from '../../broker.ts';
import type { KafkaRecords } from '../registry/records.ts';
import { requeuedHeader, withoutRequeued } from '../seen/requeued.ts';
import { publishedByHeader } from '../streams/published-by.ts';
import type { Outgoing } from '../streams/settle.ts';
import type { TopicNames } from '../topics/topic-spec.ts';
import { topicList } from '../topics/topics.ts';
import { placeInDetail } from './origin.ts';
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
  const place = stored.origin ?? placeInDetail(stored);
  const topic = place?.topic ?? topics.events;
  if (stored.origin?.isWhole === false) {
    throw new CannotPutBack(
      `it is too large to be kept in full (${stored.bytes.length} of ${stored.origin.valueBytes} bytes)`,
    );
  }
  if (!topicList(topics).includes(topic)) {
    throw new CannotPutBack(
      `it came from topic ${topic}, which is not a topic of this deployment: check HOOKRAIL_EVENTS_TOPIC and HOOKRAIL_TOPIC_PREFIX`,
    );
  }
  if (topic === topics.events) {
    const record = await event(stored, deps);
    // An event that made a process stand still is not read by another one before it is put back.
    if (stillRefused && stored.reason !== 'event_stalled') await mustBeTaken(record, stillRefused, deps);
    if (newId !== null) return await renamed(record, newId, deps);
    return { ...record, headers: { ...record.headers, ...requeuedHeader(key) } };
  }
  const value = asBuffer(stored.bytes);
  await learnWithin(deps.records, value, deps.clock);
  if (topic === topics.journal) {
    readable(() => deps.records.decode('journal', value));
    return asItWas(stored, topic, place?.partition ?? 0, deps);
  }
  const task = readable(() => deps.records.decode('task', value));
  // One hop further: the unreadable record with the same mark is remembered, and a copy of it is dropped.
  return deps.outgoing.again({ ...task, hop: task.hop + 1 }, deps.clock.now());
}

async function event(stored: Quarantined, deps: PutBackDeps): Promise<OutgoingRecord> {
  const { events } = deps.topics;
  if (stored.origin) return asItWas(stored, events, stored.origin.partition, deps);
  // Stored by an earlier version, which did not keep the key: it should have been the entity's id.
  const value = asBuffer(stored.bytes);
  await learnWithin(deps.records, value, deps.clock);
  const decoded = deps.records.decodeEvent(value);
  const key = decoded.ok ? decoded.event.entityId : (stored.eventId ?? '');
  const { publishedBy } = stored;
  const headers = publishedBy === undefined ? {} : publishedByHeader(publishedBy);
  return { topic: events, partition: deps.partitionOf(events, key), key: Buffer.from(key), value, headers };
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
  { bytes, origin }: Quarantined,
  topic: string,
  partition: number,
  { partitions, partitionOf }: PutBackDeps,
): OutgoingRecord {
  const key = origin?.key ? asBuffer(origin.key) : null;
  const isThere = partition < (partitions.get(topic) ?? 0);
  const record = {
    topic,
    partition: isThere ? partition : partitionOf(topic, key?.toString() ?? ''),
    key,
    value: origin?.valueBytes === null ? null : asBuffer(bytes),
  };
  return origin && origin.headers.length > 0 ? { ...record, headers: headersOf(origin.headers) } : record;
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

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
