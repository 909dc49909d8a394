/**
 * Guarantee: a position from a topic that was deleted and created again, or from a log whose end was lost, is never
 * used for another log.
 */
import { describe, expect, it } from 'vitest';
import type { Admins } from '../../../../services/broker/kafka/client/admins.ts';
import { writeNote } from '../../../../services/broker/kafka/consumer/commit-note.ts';
import { startPosition } from '../../../../services/broker/kafka/consumer/start-position.ts';
import type { Incarnation } from '../../../../services/broker/kafka/consumer/topic-consumer-options.ts';
import { JOURNAL_RECORD_MAX } from '../../../../services/broker/kafka/registry/records.ts';
import { type JournalDeps, KafkaJournal } from '../../../../services/broker/kafka/streams/journal-source.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';

const LOST = { from: 2, to: 5, count: 3 };

function noteOf(offset: number, topicId: string | null): string {
  return writeNote({ offset, windowStart: offset - 1, done: new Set([offset + 2]), topicId, lost: LOST });
}

/** Where reading begins in a log from 3 to 20 of the topic "new", and how often that was told. */
async function startOf(
  committed: number,
  metadata: string | null,
  startOf?: (partition: number, incarnation: Incarnation) => Promise<number | undefined>,
) {
  const admins = {
    boundsOf: async () => ({ low: 3, high: 20 }),
    committedOf: async () => ({ offset: committed, metadata }),
  } as unknown as Admins;
  let told = 0;
  const log = createLogger('error', {
    write: () => {
      told += 1;
    },
  });
  const topicId = async () => 'new';
  const options = { admins, groupId: 'group', log, topic: 'topic', topicId };
  const { note, first, end } = await startPosition(startOf ? { ...options, startOf } : options, 0);
  expect([first, end]).toEqual([3, 20]);
  return { offset: note.offset, done: [...note.done], lost: note.lost, told };
}

describe('the position of a partition', () => {
  it('is the committed one, with records done beyond it and lost records', async () => {
    expect(await startOf(10, noteOf(10, 'new'))).toEqual({ offset: 10, done: [12], lost: LOST, told: 0 });
    expect((await startOf(-1, '')).offset).toBe(3);
  });

  it('is the oldest record when the committed one belongs to an earlier topic, however long the new one is', async () => {
    expect(await startOf(10, noteOf(10, 'old'))).toEqual({ offset: 3, done: [], lost: null, told: 1 });
  });

  it('is the oldest record when the committed one is beyond the end', async () => {
    expect(await startOf(21, noteOf(21, null))).toEqual({ offset: 3, done: [], lost: null, told: 1 });
    expect((await startOf(20, noteOf(20, null))).offset).toBe(20);
  });

  it('is chosen by its owner, who is told whether the group has one in this very topic', async () => {
    const asked: Incarnation[] = [];
    const owner = async (_partition: number, incarnation: Incarnation) => {
      asked.push(incarnation);
      return 7;
    };
    expect((await startOf(10, noteOf(10, 'new'), owner)).offset).toBe(7);
    expect((await startOf(10, noteOf(10, 'old'), owner)).lost).toBeNull();
    expect(asked.map(({ isCommitted }) => isCommitted)).toEqual([true, false]);
    expect((await startOf(10, noteOf(10, 'new'), async () => 21)).offset).toBe(3);
  });
});

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
