/**
 * Guarantee: the sequences of an entity's events rise in the order in which they were appended, and the same record has
 * the same one whenever it is read: through restarts at any position, moves between processes, topics that are created
 * again, more partitions, clocks that step back, and a move from the embedded engine.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Sequences } from '../../../../services/broker/kafka/streams/sequences.ts';
import { Sequencer } from '../../../../services/broker/sqlite/file/sequencer.ts';
import { Doubt } from '../../../../services/kafka-client/client/doubt.ts';
import { readNote, writeNote } from '../../../../services/kafka-client/consumer/commit-note.ts';
import { Partition } from '../../../../services/kafka-client/consumer/partition.ts';
import { startPosition } from '../../../../services/kafka-client/consumer/start-position.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { anEvent } from '../../../support/records/broker-records.ts';

const NOW = 1_760_000_000_000;

interface Logged {
  readonly offset: number;
  readonly timestamp: number;
}

/** A process that has the partition: it reads records in order, and ends them in any. */
class Owner {
  readonly #sequences: Sequences;
  readonly #partition = new Partition('events', 0);

  /** `windowStart`: from where the next owner reads; undefined = from the position. */
  constructor(
    committed: { readonly offset: string; readonly metadata: string } | null,
    now = () => NOW,
    windowStart: () => number | undefined = () => undefined,
  ) {
    this.#sequences = new Sequences(now);
    this.#partition.start(readNote(Number(committed?.offset ?? 0), committed?.metadata ?? null), 0);
    this.#partition.windowStart = windowStart;
    this.#sequences.assigned(this.#partition);
  }

  /** Whether reading begins at this offset or before it. */
  reads(offset: number): boolean {
    return offset >= (this.#partition.next ?? 0);
  }

  read({ offset, timestamp }: Logged): number {
    const partition = this.#partition;
    if (partition.isNew(offset)) partition.hold(1);
    return this.#sequences.of({ partition, offset, timestamp });
  }

  done(offset: number): void {
    if (offset >= this.#partition.prefix) this.#partition.done(offset, 1);
  }

  /** The position and its note, as Kafka keeps them. */
  get commit() {
    return this.#partition.toCommit();
  }
}

const steps = fc.oneof(
  // Milliseconds from one record to the next: batches of one time, pauses, and clocks that step back.
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 5000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -3_600_000, max: -1 }) },
  // A producer whose clock is years ahead.
  { weight: 1, arbitrary: fc.constant(400_000_000_000) },
);

function logOf(times: readonly number[], gaps: readonly number[]): Logged[] {
  let [offset, timestamp] = [0, NOW - 100_000_000];
  return times.map((step, index) => {
    offset += 1 + (gaps[index % gaps.length] ?? 0);
    const isWrong = step > 3_600_000;
    if (!isWrong) timestamp += step;
    return { offset, timestamp: isWrong ? timestamp + step : timestamp };
  });
}

describe('the sequences of the events topic', () => {
  it('rise with the offsets, and are the same for every reader from every committed position', () => {
    const record = fc.tuple(steps, fc.boolean());
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 60 }),
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(59), { maxLength: 6 }),
        fc.boolean(),
        (records, gaps, crashes, isRemembering) => {
          const log = logOf(
            records.map(([step]) => step),
            gaps,
          );
          const first = new Map<number, number>();
          const windowStart = () => (isRemembering ? 0 : undefined);
          let owner = new Owner(null, () => NOW, windowStart);
          let commit: Owner['commit'] = null;
          for (const until of [...crashes.map((at) => at % log.length), log.length - 1]) {
            let before = 0;
            for (const [index, one] of log.slice(0, until + 1).entries()) {
              if (!owner.reads(one.offset)) continue;
              const sequence = owner.read(one);
              // Events before the position are read only to be remembered.
              if (one.offset < Number(commit?.offset ?? 0)) continue;
              expect(sequence).toBe(first.get(one.offset) ?? sequence);
              expect(sequence).toBeGreaterThan(before);
              first.set(one.offset, sequence);
              before = sequence;
              if (records[index]?.[1]) owner.done(one.offset);
              // Stored at any moment; the last one counts.
              if (index % 3 === 0) commit = owner.commit ?? commit;
            }
            owner = new Owner(commit, () => NOW, windowStart);
          }
          const all = log.map(({ offset }) => first.get(offset) ?? 0);
          for (const [index, sequence] of all.entries())
            if (index > 0 && sequence > 0) expect(sequence).toBeGreaterThan(all[index - 1] ?? 0);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('go on above those of a topic that was deleted, also when the clocks are behind then', () => {
    const owner = new Owner(null);
    const last = owner.read({ offset: 41, timestamp: NOW });
    const { mark } = readNote(0, owner.commit?.metadata ?? null);
    // startPosition: the mark of the old log, and as much as it had offsets.
    const anew = { offset: '0', metadata: writeNote({ ...readNote(0, null), mark: (mark ?? 0) + 42 }) };
    expect(new Owner(anew).read({ offset: 0, timestamp: NOW - 60_000 })).toBeGreaterThan(last);
  });

  it('go on above those of a topic that was deleted with its positions, where the router remembers the partition', async () => {
    const sequences = new Sequences(() => NOW);
    const earlier = new Partition('events', 0);
    earlier.topicId = 'old';
    earlier.start(readNote(0, null), 0);
    sequences.assigned(earlier);
    earlier.isNew(41);
    const last = sequences.of({ partition: earlier, offset: 41, timestamp: NOW });
    const options = {
      admins: {
        committedOf: async () => ({ offset: -1, metadata: null }),
        boundsOf: async () => ({ low: 0, high: 5 }),
      },
      ...{ groupId: 'events', topic: 'events', topicId: async () => 'new', log: pino({ level: 'silent' }) },
    } as unknown as Parameters<typeof startPosition>[0];
    const doubt = new Doubt({ clock: systemClock(), log: options.log, topic: 'events', partition: 0 });
    const found = await eventually(
      'it is certain',
      () => startPosition(options, 0, { doubt, earlier }),
      30_000,
    );
    expect(found).toMatchObject({ isAnew: true, topicId: 'new' });
    const anew = { offset: '0', metadata: writeNote(found.note) };
    expect(new Owner(anew).read({ offset: 0, timestamp: NOW - 60_000 })).toBeGreaterThan(last);
  }, 40_000);

  it('are those of the time, so that they rise when an entity gets to another partition or engine', () => {
    const [quiet, busy] = [new Owner(null), new Owner(null)];
    busy.read({ offset: 5_000_000, timestamp: NOW - 10_000 });
    const before = busy.read({ offset: 5_002_000, timestamp: NOW - 10_000 });
    const after = quiet.read({ offset: 3, timestamp: NOW - 9_000 });
    expect(after).toBeGreaterThan(before);
    // A burst of 2,000 records in one millisecond is two milliseconds ahead of the time.
    expect(before - (NOW - 10_000) * 1000).toBe(2_000);
    const embedded = new Sequencer({ wall: () => NOW }, 0);
    const moved = embedded.next(anEvent()).sequence ?? 0;
    expect(new Owner(null, () => NOW + 5).read({ offset: 0, timestamp: NOW + 5 })).toBeGreaterThan(moved);
  });

  it('do not follow a clock that is years ahead, and stay exact', () => {
    const owner = new Owner(null);
    const first = owner.read({ offset: 7, timestamp: NOW + 400_000_000_000 });
    expect(first).toBe(NOW * 1000);
    expect(owner.read({ offset: 8, timestamp: NOW + 1 })).toBe((NOW + 1) * 1000);
    expect(owner.read({ offset: 9, timestamp: NOW + 400_000_000_000 })).toBe((NOW + 1) * 1000 + 1);
    expect(Number.isSafeInteger(Date.UTC(2255, 0) * 1000)).toBe(true);
  });
});

describe('the sequences of the embedded engine', () => {
  it('rise whatever the clock does, also after a restart', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -10_000_000, max: 10_000_000 }), { minLength: 1 }), (jumps) => {
        let wall = NOW;
        let sequencer = new Sequencer({ wall: () => wall }, 0);
        let last = 0;
        for (const jump of jumps) {
          wall += jump;
          const { sequence = 0 } = sequencer.next(anEvent());
          expect(sequence).toBeGreaterThan(last);
          last = sequence;
          if (jump % 3 === 0) sequencer = new Sequencer({ wall: () => wall }, sequencer.last);
        }
      }),
    );
  });

  it('go on above those that a restored backup does not know, as long as time has passed', () => {
    let wall = NOW;
    const lost = new Sequencer({ wall: () => wall }, 0);
    const backup = lost.next(anEvent()).sequence ?? 0;
    wall += 60_000;
    const sent = lost.next(anEvent()).sequence ?? 0;
    wall += 1;
    const restored = new Sequencer({ wall: () => wall }, backup);
    expect(restored.next(anEvent()).sequence).toBeGreaterThan(sent);
  });
});
