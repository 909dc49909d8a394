/**
 * Guarantee: journal records wait while their partition may belong to another process, or while a record before them
 * cannot be put in quarantine. The process does everything else meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { JOURNAL_RECORD_MAX, type KafkaRecords } from '../../../../services/broker/kafka/registry/records.ts';
import { KafkaJournal } from '../../../../services/broker/kafka/streams/journal-source.ts';
import { journalCodec } from '../../../../services/codec/records.ts';
import { Partition, type ReadRecord } from '../../../../services/kafka-client/consumer/partition.ts';
import type { TopicConsumer } from '../../../../services/kafka-client/consumer/topic-consumer.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { anEvent, routed } from '../../../support/records/broker-records.ts';

const READABLE = journalCodec.toBuffer(routed(anEvent()));
/** Looks like an entry as long as it is not decoded. */
const MALFORMED = Buffer.from('malformed');

/** Returns a journal consumer: `put` gives it a record, `handed` lists the first positions of its batches. */
async function journalOf({
  isTrusted = true,
  quarantine = async (_record: ReadRecord): Promise<void> => {},
  /** The store does not accept a batch of this partition while it returns true. */
  isDown = (_partition: string) => false,
}) {
  const topic = { isTrusted, start: async () => {}, done: () => {}, abandon: async () => {} };
  const journalEntries = (value: Buffer, { isDecoded }: { readonly isDecoded: boolean }) => {
    if (value === READABLE || (value === MALFORMED && !isDecoded)) return [value];
    throw new Error('not readable');
  };
  let take: (record: ReadRecord) => void = () => {};
  const lines: { readonly level: number; readonly msg: string }[] = [];
  const journal = new KafkaJournal({
    records: { isKnown: () => true, journalEntries } as unknown as KafkaRecords,
    clock: systemClock(),
    log: createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    clusterId: 'cluster',
    topic: 'journal',
    open: (options) => {
      take = options.take;
      return topic as unknown as TopicConsumer;
    },
    quarantine,
    closing: new AbortController().signal,
  });
  onTestFinished(() => journal.abandon());
  const handed: number[] = [];
  await journal.consume(
    async ({ entries, partition, positions }) => {
      if (isDown(partition)) throw new Error('the store does not answer');
      // As the store does.
      for (const _ of entries);
      handed.push(...(positions ?? []));
    },
    async () => undefined,
    { batchMax: 10 },
  );
  const partitions = [new Partition('journal', 0), new Partition('journal', 1)] as const;
  const put = (offset: number, value: Buffer, partition: Partition = partitions[0]) =>
    take({ partition, offset, timestamp: 0, key: null, value, headers: {}, bytes: value.length });
  return { topic, put, handed, lines, partitions };
}

it('journal records wait without blocking the process while group membership is uncertain', async () => {
  const { topic, put, handed } = await journalOf({ isTrusted: false });
  put(0, READABLE);
  await sleep(50);
  expect(handed).toEqual([]);
  topic.isTrusted = true;
  await eventually('the record is handed over', () => handed.length > 0);
  expect(handed).toEqual([0]);
});

it('a malformed entry ends in quarantine with its record, and those around it are handed over', async () => {
  const quarantined: number[] = [];
  const quarantine = async ({ offset }: ReadRecord) => void quarantined.push(offset);
  const { put, handed } = await journalOf({ quarantine });
  put(0, READABLE);
  put(1, MALFORMED);
  put(2, READABLE);
  await eventually('the record after it is handed over', () => handed.length === 2);
  expect(handed).toEqual([0, 2 * JOURNAL_RECORD_MAX]);
  expect(quarantined).toEqual([1]);
});

it('an unreadable journal record is retried until it is in quarantine, before the records after it', async () => {
  let refused = 0;
  const quarantine = async () => {
    if (refused === 2) return;
    refused += 1;
    throw new Error('the quarantine cannot be written');
  };
  const { put, handed } = await journalOf({ quarantine });
  put(0, Buffer.from('damaged'));
  put(1, READABLE);
  await eventually('the record after it is handed over', () => handed.length > 0);
  expect(refused).toBe(2);
  expect(handed).toHaveLength(1);
});

it('an outage of the store is logged once when it begins, and once when no partition fails any more', async () => {
  const calls = [0, 0];
  const down = new Set(['0', '1']);
  const { put, handed, lines, partitions } = await journalOf({
    isDown: (partition) => {
      const id = partition.split(':').at(-1) ?? '';
      calls[Number(id)] = (calls[Number(id)] ?? 0) + 1;
      return down.has(id);
    },
  });
  const messages = () => lines.map(({ msg }) => msg);
  const begun = 'the journal cannot be recorded; retrying until it succeeds';
  for (const partition of partitions) put(0, READABLE, partition);
  await eventually('each batch failed twice', () => Math.min(...calls) >= 2);
  expect(messages()).toEqual([begun]);
  down.delete('0');
  await eventually('one batch is accepted', () => handed.length === 1);
  const failed = calls[1] ?? 0;
  await eventually('the other fails again', () => (calls[1] ?? 0) > failed);
  expect(messages()).toEqual([begun]);
  down.clear();
  await eventually('both batches are accepted', () => handed.length === 2);
  await eventually('the end is logged', () => lines.length > 1);
  expect(messages()).toEqual([begun, 'the journal is recorded again']);
});
