/**
 * Guarantee: after a pause the journal is recorded at once; what follows is gathered, so that the store writes few
 * transactions, but never more than may be held, and neither a stop nor somebody who waits is delayed by it.
 */
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import type { KafkaRecords } from '../../services/broker/kafka/registry/records.ts';
import { KafkaJournal } from '../../services/broker/kafka/streams/journal-source.ts';
import { JOURNAL_HELD } from '../../services/broker/kafka/streams/partition-journal.ts';
import { journalCodec } from '../../services/codec/records.ts';
import type { JournalBatch } from '../../services/domain/journal.ts';
import { Partition, type ReadRecord } from '../../services/kafka-client/consumer/partition.ts';
import type { TopicConsumer } from '../../services/kafka-client/consumer/topic-consumer.ts';
import { BATCH_MAX } from '../../services/recorder/gathering.ts';
import { startRecorder } from '../../services/recorder/recorder.ts';
import type { Store } from '../../services/store/store.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { anEvent, routed } from '../support/records/broker-records.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const ENTRY = journalCodec.toBuffer(routed(anEvent()));

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Returns a recorder's transactions, each as the sizes of its batches, and what puts records on a partition. */
async function journal({ isBad = (_partition: string): boolean => false } = {}) {
  const clock = new SimulatedClock();
  let take: (record: ReadRecord) => void = () => {};
  const topic = {
    isTrusted: true,
    start: async () => {},
    done: ({ partition, offset, bytes }: ReadRecord) => partition.done(offset, bytes),
    stop: async () => {},
    abandon: async () => {},
  };
  const source = new KafkaJournal({
    records: { isKnown: () => true, journalEntries: (value: Buffer) => [value] } as unknown as KafkaRecords,
    clock,
    log: createLogger('silent'),
    clusterId: 'cluster',
    topic: 'journal',
    open: (options) => {
      take = options.take;
      return topic as unknown as TopicConsumer;
    },
    quarantine: async () => {},
    closing: new AbortController().signal,
  });
  onTestFinished(() => source.abandon());
  const transactions: number[][] = [];
  const log = {
    positionOf: async () => undefined,
    async applyJournal(batches: readonly JournalBatch[]) {
      if (batches.some(({ partition }) => isBad(partition))) throw new Error('an entry cannot be recorded');
      transactions.push(batches.map(({ entries }) => entries.length));
    },
  };
  const store = { log } as unknown as Store;
  const recorder = await startRecorder({
    broker: { journal: source },
    store,
    clock,
    registry: new Registry(),
  });
  const partitions = [0, 1].map((id) => {
    const partition = new Partition('journal', id);
    partition.start({ offset: 0, windowStart: 0, done: new Set(), topicId: null, lost: null }, 0);
    return partition;
  });
  const put = async (...counts: readonly number[]) => {
    for (const [id, count] of counts.entries()) {
      const partition = partitions[id] as Partition;
      for (let i = 0; i < count; i += 1) {
        const offset = partition.next ?? 0;
        partition.isNew(offset);
        partition.hold(1);
        take({ partition, offset, timestamp: 0, key: null, value: ENTRY, headers: {}, bytes: 1 });
      }
    }
    await turns();
  };
  return { clock, transactions, recorder, source, put };
}

it('after a pause an entry is recorded at once', async () => {
  const { clock, transactions, put } = await journal();
  for (let i = 0; i < 3; i += 1) {
    await put(1);
    clock.advance(1000);
    await turns();
  }
  expect(transactions).toEqual([[1], [1], [1]]);
});

it('the next entries of all partitions are recorded together', async () => {
  const { clock, transactions, put } = await journal();
  await put(1, 1);
  expect(transactions).toEqual([[1, 1]]);
  for (let i = 0; i < 3; i += 1) {
    await put(3, 0);
    await put(0, 3);
  }
  expect(transactions).toEqual([[1, 1]]);
  clock.advance(1000);
  await turns();
  expect(transactions).toEqual([
    [1, 1],
    [9, 9],
  ]);
});

it('nothing gathers while somebody waits', async () => {
  const { transactions, source, put } = await journal();
  await put(1);
  await put(2);
  expect(transactions).toEqual([[1]]);
  source.onAwaited();
  await turns();
  expect(transactions).toEqual([[1], [2]]);
  await put(3);
  expect(transactions).toEqual([[1], [2]]);
});

it('a transaction has no more entries than it may, unless one batch has them', async () => {
  const { transactions, put } = await journal();
  const most = BATCH_MAX / 2 + 1;
  await put(most, most);
  expect(transactions).toEqual([[most], [most]]);
});

it('nothing waits while half of what may be held is there', async () => {
  const { clock, transactions, put } = await journal();
  await put(BATCH_MAX + JOURNAL_HELD.heldMax / 2 + 1000);
  expect(transactions).toEqual([[BATCH_MAX], [BATCH_MAX]]);
  clock.advance(1000);
  await turns();
  expect(transactions).toEqual([[BATCH_MAX], [BATCH_MAX], [1000]]);
});

it('a batch that cannot be recorded stops only its own partition', async () => {
  const bad = new Set(['0']);
  const isBad = (partition: string) => bad.has(partition.split(':').at(-1) ?? '');
  const { clock, transactions, put } = await journal({ isBad });
  await put(10, 20);
  expect(transactions).toEqual([[20]]);
  clock.advance(1000);
  await put(0, 30);
  expect(transactions).toEqual([[20], [30]]);
  bad.clear();
  clock.advance(60_000);
  await turns();
  expect(transactions).toEqual([[20], [30], [10]]);
});

it('a stop does not wait for the time to gather', async () => {
  const { transactions, recorder, put } = await journal();
  await put(100);
  await recorder.stop(1000);
  await put(10);
  expect(transactions).toEqual([[100]]);
});
