/**
 * Guarantee: journal records that are read while another process may have their partition wait, and the process goes on
 * with everything else; they are handed over once the partition is ours for sure.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { KafkaJournal } from '../../../services/broker/kafka/journal-source.ts';
import { Partition, type ReadRecord } from '../../../services/broker/kafka/partition.ts';
import type { KafkaRecords } from '../../../services/broker/kafka/records.ts';
import type { TopicConsumer } from '../../../services/broker/kafka/topic-consumer.ts';
import { systemClock } from '../../../services/runtime/clock.ts';
import { createLogger } from '../../../services/runtime/logger.ts';
import { anEvent, routed } from '../../support/broker-records.ts';
import { eventually } from '../../support/eventually.ts';

it('records that are read while we may be no member any more wait without blocking the process', async () => {
  const topic = { isTrusted: false, start: async () => {}, done: () => {}, abandon: async () => {} };
  let take: (record: ReadRecord) => void = () => {};
  const journal = new KafkaJournal({
    records: { isKnown: () => true, decode: () => [routed(anEvent())] } as unknown as KafkaRecords,
    clock: systemClock(),
    log: createLogger('silent'),
    clusterId: 'cluster',
    topic: 'journal',
    open: (options) => {
      take = options.take;
      return topic as unknown as TopicConsumer;
    },
    shelve: async () => {},
    closing: new AbortController().signal,
  });
  const handed: number[] = [];
  await journal.consume(
    async ({ first }) => void handed.push(first),
    async () => undefined,
    { batchMax: 10 },
  );
  const record = { partition: new Partition('journal', 0), offset: 0, timestamp: 0, key: null };
  take({ ...record, value: Buffer.alloc(1), headers: {}, bytes: 1 });
  await sleep(50);
  expect(handed).toEqual([]);
  topic.isTrusted = true;
  await eventually('the record is handed over', () => handed.length > 0);
  expect(handed).toEqual([0]);
  await journal.abandon();
});
