/**
 * Guarantee: a position from a topic that was deleted and created again, or from a log whose end was lost, is never
 * used for another log; and a position is not given up because of one answer, which may be older than it.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Admins } from '../../../services/kafka-client/client/admins.ts';
import { Doubt } from '../../../services/kafka-client/client/doubt.ts';
import { writeNote } from '../../../services/kafka-client/consumer/commit-note.ts';
import { Partition } from '../../../services/kafka-client/consumer/partition.ts';
import { startPosition } from '../../../services/kafka-client/consumer/start-position.ts';
import type { TopicConsumerOptions } from '../../../services/kafka-client/consumer/topic-consumer-options.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const LOST = { from: 2, to: 5, count: 3 };
const ASKED_EVERY_MS = 1000;

function noteOf(offset: number, topicId: string | null, done = [offset + 2]): string {
  return writeNote({ offset, windowStart: offset - 1, done: new Set(done), topicId, lost: LOST });
}

interface Brokers {
  readonly committed: number;
  readonly metadata: string | null;
  /** By question, the last one for all further questions. */
  readonly ids?: readonly (string | null)[];
  readonly ends?: readonly number[];
  readonly startOf?: TopicConsumerOptions['startOf'];
  readonly earlier?: Partition;
}

/** Where reading begins in a log that begins at 3, how many seconds pass before, and what is logged. */
async function startOf({ committed, metadata, ids = ['new'], ends = [20], startOf, earlier }: Brokers) {
  const clock = new SimulatedClock();
  const errors: string[] = [];
  const log = createLogger('error', { write: (line) => void errors.push(JSON.parse(line).msg) });
  const asked: boolean[] = [];
  let questions = 0;
  const nth = <T>(answers: readonly T[]) => answers[Math.min(questions, answers.length - 1)] as T;
  const admins = {
    boundsOf: async (_topic: string, _partition: number, { anew = false } = {}) => {
      asked.push(anew);
      return { low: 3, high: nth(ends) };
    },
    committedOf: async () => ({ offset: committed, metadata }),
  } as unknown as Admins;
  const doubt = new Doubt({ clock, log, topic: 'topic', partition: 0 });
  const options = { admins, groupId: 'group', log, topic: 'topic', topicId: async () => nth(ids) };
  for (; questions < 100; questions += 1) {
    const found = await startPosition(startOf ? { ...options, startOf } : options, 0, { doubt, earlier });
    if (found) {
      const { note, first, end, topicId, isAnew } = found;
      expect(first).toBe(3);
      const { offset, lost, windowStart } = note;
      const where = { offset, done: [...note.done], lost };
      return { ...where, windowStart, end, topicId, isAnew, afterS: questions, asked, errors };
    }
    clock.advance(ASKED_EVERY_MS);
  }
  return { afterS: Number.POSITIVE_INFINITY, asked, errors };
}

describe('the position of a partition', () => {
  it('is the committed one, with records done beyond it and lost records', async () => {
    const found = await startOf({ committed: 10, metadata: noteOf(10, 'new') });
    expect(found).toMatchObject({ offset: 10, done: [12], lost: LOST, afterS: 0, errors: [] });
    expect(await startOf({ committed: -1, metadata: '' })).toMatchObject({ offset: 3 });
    const atEnd = { committed: 20, metadata: noteOf(20, 'new', []) };
    expect(await startOf(atEnd)).toMatchObject({ offset: 20, afterS: 0 });
  });

  it('is the committed one although the bounds were requested before and answered later', async () => {
    const answers: ((range: { readonly low: number; readonly high: number }) => void)[] = [];
    let end = 1914;
    const admins = {
      boundsOf: async () => {
        const high = end;
        await new Promise((resolve) => void answers.push(resolve));
        return { low: 0, high };
      },
      committedOf: async () => {
        await turn();
        end = 1928;
        return { offset: 1928, metadata: noteOf(1928, 'new', []) };
      },
    } as unknown as Admins;
    const log = createLogger('silent');
    const doubt = new Doubt({ clock: new SimulatedClock(), log, topic: 'topic', partition: 0 });
    const options = { admins, groupId: 'group', log, topic: 'topic', topicId: async () => 'new' };
    const starting = startPosition(options, 0, { doubt });
    for (let turns = 0; answers.length === 0 && turns < 100; turns += 1) await turn();
    await turn();
    answers[0]?.({ low: 0, high: end });
    expect((await starting)?.note.offset).toBe(1928);
  });

  it('is the committed one once an old end is no longer returned, of a leader that is asked for anew', async () => {
    const ends = [...Array.from({ length: 25 }, () => 14), 28];
    const found = await startOf({ committed: 28, metadata: noteOf(28, 'new', []), ends });
    expect(found).toMatchObject({ offset: 28, afterS: 25, isAnew: false, errors: [] });
    expect(found.asked.slice(0, 3)).toEqual([false, true, true]);
  });

  it('counts records that are done beyond it: they were in the log', async () => {
    const ends = [11, 11, 13];
    const found = await startOf({ committed: 10, metadata: noteOf(10, 'new'), ends });
    expect(found).toMatchObject({ offset: 10, done: [12], afterS: 2 });
  });

  it('counts what this process read of the partition earlier', async () => {
    const earlier = new Partition('topic', 0);
    earlier.topicId = 'new';
    earlier.next = 15;
    const given = { committed: 10, metadata: noteOf(10, 'new', []), ends: [12, 12, 15], earlier };
    expect(await startOf(given)).toMatchObject({ offset: 10, afterS: 2 });
  });

  it('is where a log then ended whose end was lost, when the topic is the same', async () => {
    const ends = [14, 12, 16];
    const found = await startOf({ committed: 28, metadata: noteOf(28, 'new'), ends });
    expect(found).toMatchObject({
      offset: 12,
      windowStart: 12,
      done: [],
      end: 12,
      isAnew: false,
      afterS: 30,
    });
    expect(found.errors).toEqual([expect.stringContaining('the end of its log was lost')]);
    const partly = await startOf({ committed: 10, metadata: noteOf(10, 'new', [11, 25]), ends });
    expect(partly).toMatchObject({ offset: 10, done: [11], afterS: 30 });
  });

  it('is the oldest record when it certainly belongs to an earlier topic, however long the new one is', async () => {
    const found = await startOf({ committed: 10, metadata: noteOf(10, 'old') });
    expect(found).toMatchObject({ offset: 3, done: [], lost: null, topicId: 'new', afterS: 5 });
    expect(found.errors).toHaveLength(1);
  });

  it('is the committed one when only a broker that is behind returned an earlier id', async () => {
    const ids = ['old', 'old', 'old', 'old', 'new'];
    const found = await startOf({ committed: 10, metadata: noteOf(10, 'new'), ids });
    expect(found).toMatchObject({ offset: 10, topicId: 'new', afterS: 4, errors: [] });
  });

  it('is the oldest record when it is beyond the end and no id tells whether the topic is the same', async () => {
    const found = await startOf({ committed: 21, metadata: noteOf(21, null) });
    expect(found).toMatchObject({ offset: 3, done: [], lost: null, isAnew: true, afterS: 30 });
    expect(found.errors).toHaveLength(1);
    const ids = [null];
    expect(await startOf({ committed: 21, metadata: noteOf(21, null), ids })).toMatchObject({ offset: 3 });
  });

  it('waits while brokers that have ids return none', async () => {
    const ids = [null];
    const beyond = { committed: 28, metadata: noteOf(28, 'new') };
    expect((await startOf({ ...beyond, ids })).afterS).toBe(Number.POSITIVE_INFINITY);
    const within = await startOf({ committed: 10, metadata: noteOf(10, 'new'), ids });
    expect(within).toMatchObject({ offset: 10, topicId: 'new', afterS: 0 });
  });

  it('is chosen by its owner, who is told which topic it is', async () => {
    const asked: (string | null)[] = [];
    const owner = async (_partition: number, topicId: string | null) => {
      asked.push(topicId);
      return 7;
    };
    const same = { committed: 10, metadata: noteOf(10, 'new') };
    expect(await startOf({ ...same, startOf: owner })).toMatchObject({ offset: 7, lost: LOST });
    const other = await startOf({ committed: 10, metadata: noteOf(10, 'old'), startOf: owner });
    expect(other).toMatchObject({ offset: 7, lost: null, afterS: 5, errors: [] });
    expect(new Set(asked)).toEqual(new Set(['new']));
    expect(await startOf({ ...same, startOf: async () => 21 })).toMatchObject({ offset: 20, afterS: 30 });
    const unknown = { committed: 10, metadata: noteOf(10, null), startOf: async () => 21 };
    expect(await startOf(unknown)).toMatchObject({ offset: 3, isAnew: true });
  });
});
