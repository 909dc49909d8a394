/** Guarantee: the journal is read on from where the store is, and from its beginning once it was created again. */
import { describe, expect, it } from 'vitest';
import { JOURNAL_RECORD_MAX } from '../../../../services/broker/kafka/registry/records.ts';
import { type JournalDeps, KafkaJournal } from '../../../../services/broker/kafka/streams/journal-source.ts';

describe('the reader of the journal', () => {
  /** The record that reading begins at, of a store that knows these positions. */
  async function startIn(known: Record<string, number>, topicId: string | null) {
    let found: Promise<number | undefined> | undefined;
    const deps: Pick<JournalDeps, 'clusterId' | 'topic' | 'open'> = {
      clusterId: 'cluster',
      topic: 'journal',
      open: ({ startOf }) => {
        found = startOf?.(2, topicId);
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
    expect(await startIn(known, 'new')).toBe(5);
  });

  it('begins anew in a topic that was created again', async () => {
    const known = { ...before, 'kafka:cluster:journal:2:old': 9 * JOURNAL_RECORD_MAX };
    expect(await startIn(known, 'new')).toBeUndefined();
  });

  it('continues where the store is when brokers return no topic id', async () => {
    expect(await startIn(before, null)).toBe(8);
  });
});
