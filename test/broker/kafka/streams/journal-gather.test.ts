/**
 * Guarantee: the journal is handed over at once while there is little of it; under load it is gathered, so that the store
 * writes few large transactions, but never more than may be held, and a stop does not wait for it.
 */
import { expect, it, onTestFinished } from 'vitest';
import type { KafkaRecords } from '../../../../services/broker/kafka/registry/records.ts';
import { KafkaJournal } from '../../../../services/broker/kafka/streams/journal-source.ts';
import { JOURNAL_HELD } from '../../../../services/broker/kafka/streams/partition-journal.ts';
import { Partition, type ReadRecord } from '../../../../services/kafka-client/consumer/partition.ts';
import type { TopicConsumer } from '../../../../services/kafka-client/consumer/topic-consumer.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const turns = async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Returns the sizes of the batches that are handed over, and what puts records on a partition. */
async function journal() {
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
  const sizes: number[] = [];
  const accept = async ({ entries }: { entries: { length: number } }) => void sizes.push(entries.length);
  const consumer = await source.consume(accept, async () => undefined, { batchMax: 1000 });
  const partitions = [0, 1].map((id) => {
    const partition = new Partition('journal', id);
    partition.start({ offset: 0, windowStart: 0, done: new Set(), topicId: null, lost: null }, 0);
    return partition;
  });
  const put = async (count: number, id = 0) => {
    const partition = partitions[id] as Partition;
    for (let i = 0; i < count; i += 1) {
      const offset = partition.next ?? 0;
      partition.isNew(offset);
      partition.hold(1);
      take({ partition, offset, timestamp: 0, key: null, value: Buffer.from('x'), headers: {}, bytes: 1 });
    }
    await turns();
  };
  return { clock, sizes, consumer, put };
}

it('few entries are handed over at once', async () => {
  const { sizes, put } = await journal();
  for (let i = 0; i < 3; i += 1) await put(10);
  expect(sizes).toEqual([10, 10, 10]);
});

it('after many entries the next ones of all partitions are handed over together', async () => {
  const { clock, sizes, put } = await journal();
  await put(100, 0);
  await put(100, 1);
  expect(sizes).toEqual([100, 100]);
  for (let i = 0; i < 3; i += 1) {
    await put(30, 0);
    await put(30, 1);
  }
  expect(sizes).toEqual([100, 100]);
  clock.advance(1000);
  await turns();
  expect(sizes).toEqual([100, 100, 90, 90]);
});

it('nothing waits while half of what may be held is there', async () => {
  const { clock, sizes, put } = await journal();
  const half = JOURNAL_HELD.heldMax / 2;
  await put(1000 + half);
  expect(sizes).toEqual([1000, 1000]);
  clock.advance(1000);
  await turns();
  expect(sizes).toEqual([1000, 1000, 1000]);
});

it('a stop does not wait', async () => {
  const { consumer, put } = await journal();
  await put(100);
  expect(await consumer.stop(1000)).toBe('drained');
});
