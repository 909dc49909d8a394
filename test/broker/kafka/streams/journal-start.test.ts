/** Guarantee: the journal is read on from where the store is, and from its beginning once it was created again. */
import { describe, expect, it } from 'vitest';
import { JOURNAL_RECORD_MAX } from '../../../../services/broker/kafka/registry/records.ts';
import { type JournalDeps, KafkaJournal } from '../../../../services/broker/kafka/streams/journal-source.ts';
import type { Incarnation } from '../../../../services/kafka-client/consumer/topic-consumer-options.ts';

describe('the reader of the journal', () => {
  /** The record that reading begins at, of a store that knows these positions. */
  async function startIn(known: Record<string, number>, incarnation: Incarnation) {
    let found: Promise<number | undefined> | undefined;
    const deps: Pick<JournalDeps, 'clusterId' | 'topic' | 'open'> = {
      clusterId: 'cluster',
      topic: 'journal',
      open: ({ startOf }) => {
        found = startOf?.(2, incarnation);
        return { start: async () => {} } as ReturnType<JournalDeps['open']>;
      },
    };
    const journal = new KafkaJournal(deps as JournalDeps);
    await journal.consume(
      async () => {},
      async (partition) => known[partition],
      { batchMax: 1 },
    );
    return found;
  }
  const before = { 'kafka:cluster:journal:2': 8 * JOURNAL_RECORD_MAX };

  it('continues where the store is in this very topic', async () => {
    const known = { ...before, 'kafka:cluster:journal:2:new': 5 * JOURNAL_RECORD_MAX + 1 };
    expect(await startIn(known, { topicId: 'new', isCommitted: true })).toBe(5);
  });

  it('begins anew in a topic that was created again', async () => {
    const known = { ...before, 'kafka:cluster:journal:2:old': 9 * JOURNAL_RECORD_MAX };
    expect(await startIn(known, { topicId: 'new', isCommitted: false })).toBeUndefined();
  });

  it('continues from a version that did not know the topic’s id', async () => {
    expect(await startIn(before, { topicId: 'new', isCommitted: true })).toBe(8);
    expect(await startIn(before, { topicId: null, isCommitted: false })).toBe(8);
  });
});
