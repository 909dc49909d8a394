/**
 * Guarantee: if one record of a routed event does not fit its topic, none is written, so that the event can be
 * quarantined whole.
 */
import { expect, it } from 'vitest';
import type { KafkaRecords } from '../../../../services/broker/kafka/registry/records.ts';
import { Outgoing } from '../../../../services/broker/kafka/streams/settle.ts';
import { RECORD_BYTES_MAX, topicNames } from '../../../../services/broker/kafka/topics/topics.ts';
import { RecordRefused } from '../../../../services/kafka-client/producer/record-sender.ts';
import { anEvent, routed, taskOf } from '../../../support/records/broker-records.ts';

/** The records of an event whose journal entry takes so many bytes. */
function recordsWith(journalBytes: number) {
  const records = {
    encode: (kind: string) => Buffer.alloc(kind === 'journal' ? journalBytes : 100),
  } as unknown as KafkaRecords;
  const time = { fromClock: (at: number) => at, toClock: (at: number) => at };
  const topics = topicNames('wh.', 'events');
  const outgoing = new Outgoing({ records, topics, partitionOf: () => 0, retryScale: 1, time });
  const event = anEvent();
  return outgoing.ofRouted(
    { kind: 'routed', tasks: [taskOf(event)], journal: routed(event) },
    { received: {}, now: 1, direct: undefined },
  );
}

it('a journal entry that fits is written with the tasks', () => {
  expect(recordsWith(RECORD_BYTES_MAX).map(({ value }) => value?.length)).toEqual([100, RECORD_BYTES_MAX]);
});

it('a journal entry that does not fit is refused before anything is written', () => {
  expect(() => recordsWith(RECORD_BYTES_MAX + 1)).toThrow(RecordRefused);
});
