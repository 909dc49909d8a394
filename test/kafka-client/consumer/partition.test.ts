/** Guarantee: only the contiguous prefix of done records is committed, and what is done beyond travels with it. */
import { describe, expect, it } from 'vitest';
import {
  type CommitNote,
  noteUpTo,
  readNote,
  writeNote,
} from '../../../services/kafka-client/consumer/commit-note.ts';
import { Partition } from '../../../services/kafka-client/consumer/partition.ts';

const from = (offset: number, done: number[] = [], windowStart = offset) => ({
  offset,
  windowStart,
  done: new Set(done),
  topicId: null,
  lost: null,
});

/** A partition of which so many records were read. */
function read(count: number, note = from(0)): Partition {
  const partition = new Partition('topic', 0);
  partition.start(note, 0);
  for (let offset = partition.next ?? 0; offset < count; offset += 1) {
    if (partition.isNew(offset)) partition.hold(10);
  }
  return partition;
}

describe('a partition', () => {
  it('commits the contiguous prefix, in whatever order records are done', () => {
    const partition = read(5);
    for (const offset of [1, 3, 4]) partition.done(offset, 10);
    expect(partition.toCommit()?.offset).toBe('0');
    partition.done(0, 10);
    expect(partition.toCommit()?.offset).toBe('2');
    partition.done(2, 10);
    expect(partition.toCommit()?.offset).toBe('5');
    expect([partition.held, partition.heldBytes, partition.doneAhead]).toEqual([0, 0, 0]);
  });

  it('has nothing to commit twice, nor when it was taken away', () => {
    const partition = read(1);
    partition.done(0, 10);
    const commit = partition.toCommit();
    if (commit) partition.committed(commit);
    expect(partition.toCommit()).toBeNull();
    // The topic's id goes with it.
    partition.topicId = 'id';
    expect(readNote(1, partition.toCommit()?.metadata ?? null).topicId).toBe('id');
    const lost = read(1);
    lost.done(0, 10);
    lost.isAlive = false;
    expect(lost.toCommit()).toBeNull();
  });

  it('does not offer records again that were done beyond the commit', () => {
    const first = read(6);
    for (const offset of [0, 2, 5]) first.done(offset, 10);
    const commit = first.toCommit();
    const again = new Partition('topic', 0);
    again.start(readNote(Number(commit?.offset), commit?.metadata ?? null), 0);
    const offered = [1, 2, 3, 4, 5, 6].filter((offset) => again.isNew(offset));
    expect(offered).toEqual([1, 3, 4, 6]);
  });

  it('does not offer records again that this process did and could not commit, unless the log is another', () => {
    const earlier = read(8);
    for (const offset of [0, 1, 2, 4, 7]) earlier.done(offset, 10);
    earlier.isAlive = false;
    const again = new Partition('topic', 0);
    again.start(from(1), 0);
    again.takeOver(earlier, 8);
    expect(again.prefix).toBe(3);
    expect([1, 2, 3, 4, 5, 6, 7, 8].filter((offset) => again.isNew(offset))).toEqual([3, 5, 6, 8]);
    const madeAnew = new Partition('topic', 0);
    madeAnew.start(from(0), 0);
    madeAnew.takeOver(earlier, 2);
    expect([0, 1].filter((offset) => madeAnew.isNew(offset))).toEqual([0, 1]);
  });

  it('remembers only what the log still has when its end was lost, and commits the lower position', () => {
    const earlier = read(8);
    for (const offset of [0, 1, 2, 3, 4, 6]) earlier.done(offset, 10);
    earlier.topicId = 'id';
    expect(earlier.reach).toBe(8);
    const again = new Partition('topic', 0);
    again.topicId = 'id';
    again.start(noteUpTo(from(2, [6], 1), 4), 0);
    again.takeOver(earlier, 4);
    expect([3, 4, 5, 6, 7].filter((offset) => again.isNew(offset))).toEqual([4, 5, 6, 7]);
    expect(again.toCommit()?.offset).toBe('4');
    const shorter = noteUpTo(from(8, [9], 7), 4);
    expect(shorter).toEqual(from(4, [], 4));
  });

  it('has reached the last record that was read or is done', () => {
    const partition = new Partition('topic', 0);
    partition.start(from(4, [9], 2), 0);
    expect(partition.reach).toBe(10);
    for (let offset = 2; offset < 12; offset += 1) partition.isNew(offset);
    expect(partition.reach).toBe(12);
  });

  it('reads the window before the commit without offering it', () => {
    const partition = new Partition('topic', 0);
    partition.start(from(4, [], 2), 0);
    expect(partition.next).toBe(2);
    expect([2, 3, 4].filter((offset) => partition.isNew(offset))).toEqual([4]);
    expect(partition.prefix).toBe(4);
  });

  it('starts at the oldest record when the committed one is gone', () => {
    const partition = new Partition('topic', 0);
    partition.start(from(4, [], 2), 10);
    expect([partition.next, partition.prefix]).toEqual([10, 10]);
    // What was deleted in between is told; what was done of it is not lost.
    expect(partition.lost).toEqual({ from: 4, to: 10, count: 6 });
    partition.skipTo(12);
    expect([partition.next, partition.prefix]).toEqual([12, 12]);
    const partly = new Partition('topic', 0);
    partly.start(from(4, [5, 6, 12]), 10);
    expect(partly.lost).toEqual({ from: 4, to: 10, count: 4 });
  });
});

describe('the losses of a partition', () => {
  const lostOf = (note: CommitNote, first: number, acknowledged: number) => {
    const partition = new Partition('topic', 0);
    partition.start(note, first, acknowledged);
    return partition.lost;
  };

  it('begin after the acknowledged ones, and leave out records that were done', () => {
    const note = from(4, [6, 8]);
    expect(lostOf(note, 10, 0)).toEqual({ from: 4, to: 10, count: 4 });
    expect(lostOf(note, 10, 7)).toEqual({ from: 7, to: 10, count: 2 });
    expect(lostOf(note, 10, 10)).toBeNull();
    expect(lostOf(note, 4, 0)).toBeNull();
  });

  it('are added to those of an earlier commit', () => {
    const note = { ...from(6), lost: { from: 1, to: 4, count: 2 } };
    expect(lostOf(note, 6, 0)).toEqual({ from: 1, to: 4, count: 2 });
    expect(lostOf(note, 9, 0)).toEqual({ from: 1, to: 9, count: 5 });
    expect(lostOf(note, 9, 3)).toEqual({ from: 3, to: 9, count: 4 });
    expect(lostOf(note, 9, 4)).toEqual({ from: 6, to: 9, count: 3 });
  });

  it('are reported until acknowledged, and later ones from there on', () => {
    const partition = read(2);
    partition.lose(5);
    partition.acknowledgeLost(5);
    expect(partition.lost).toBeNull();
    partition.lose(8);
    partition.acknowledgeLost(5);
    expect(partition.lost).toEqual({ from: 5, to: 8, count: 3 });
  });
});

describe('the note of a commit', () => {
  it('comes back as it was written, within the 4096 bytes that Kafka takes', () => {
    const done = Array.from({ length: 21_000 }, (_, index) => index + 8).filter((offset) => offset % 3 > 0);
    const metadata = writeNote(from(7, done, 3));
    expect(metadata.length).toBeLessThanOrEqual(4096);
    expect(readNote(7, metadata)).toEqual(from(7, done, 3));
    expect(writeNote(from(0, [30_000]))).toBe('1;0;');
    const lost = { from: 2 ** 40, to: 2 ** 50, count: 2 ** 49 };
    const whole = { ...from(7, done, 3), topicId: 'A'.repeat(22), lost };
    expect(writeNote(whole).length).toBeLessThanOrEqual(4096);
    expect(readNote(7, writeNote(whole))).toEqual(whole);
  });

  it.each([null, '', 'of another program', '2;1;AA==', '1;x;AA=='])(
    'is ignored when it is %j',
    (metadata) => {
      expect(readNote(9, metadata)).toEqual(from(9));
    },
  );
});
