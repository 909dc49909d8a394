import { errorLine } from '../../messages/error-message.ts';
import { PartitionSilent } from '../client/admins.ts';
import { Doubt } from '../client/doubt.ts';
import { deletedBefore } from './lost-range.ts';
import type { Partition } from './partition.ts';
import { type StartPosition, startPosition, tellLost } from './start-position.ts';
import type { TopicConsumerOptions } from './topic-consumer-options.ts';

/** The pause between two requests for a partition's position. */
const AGAIN_MS = 1000;

/**
 * Why a position is compared with the log: a fetch found nothing there, or began after it (`fetchedFrom`), or the
 * topic's id is another.
 */
export type WhyChecked = 'out of range' | 'another id' | { readonly fetchedFrom: number };

export interface PositionsOptions extends TopicConsumerOptions {
  readonly isEnded: () => boolean;
  readonly pause: (partition: Partition) => void;
  /** Reads on at the partition's position. */
  readonly fetchFrom: (partition: Partition) => void;
  /** The position belongs to a replaced log, or the log has lost its end: `find` must be called for a new partition. */
  readonly replaced: (partition: Partition, doubt: Doubt) => void;
}

/** Finds the position of each assigned partition, and checks those of which reading says that they are wrong. */
export class Positions {
  readonly #options: PositionsOptions;
  readonly #checked = new Set<Partition>();

  constructor(options: PositionsOptions) {
    this.#options = options;
  }

  /**
   * Finds where a partition starts; retries until it is known or the partition is no longer ours. `earlier`: the
   * partition as this process held it before. `doubt`: what was found out about the position until now.
   */
  async find(partition: Partition, earlier?: Partition, doubt = this.#doubtOf(partition)): Promise<void> {
    const { clock, log, topic } = this.#options;
    while (this.#isOurs(partition)) {
      try {
        const start = await startPosition(this.#options, partition.id, { doubt, earlier });
        if (!this.#isOurs(partition)) return;
        if (start) return this.#begin(partition, start, earlier);
        partition.isSilent = true;
      } catch (error) {
        doubt.restart();
        partition.isSilent = error instanceof PartitionSilent;
        // Silent partitions are reported once, where their offsets are requested.
        if (!partition.isSilent)
          log.warn(
            { topic, partition: partition.id, detail: errorLine(error) },
            'a committed offset could not be read',
          );
      }
      await clock.sleep(AGAIN_MS);
    }
  }

  /**
   * Compares the position of a partition that is being read with the log. Nothing of it is read meanwhile. Reading
   * continues at the position, or after records that were deleted, unless it is certain that the log is another.
   */
  async check(partition: Partition, why: WhyChecked): Promise<void> {
    if (!this.#isOurs(partition)) return;
    this.#options.pause(partition);
    if (this.#checked.has(partition)) return;
    this.#checked.add(partition);
    const doubt = this.#doubtOf(partition);
    while (this.#isOurs(partition)) {
      try {
        if (await this.#isChecked(partition, why, doubt)) break;
      } catch (error) {
        doubt.restart();
        if (!(error instanceof PartitionSilent))
          this.#options.log.warn(
            { topic: partition.topic, detail: errorLine(error) },
            'the oldest offset could not be read',
          );
      }
      await this.#options.clock.sleep(AGAIN_MS);
    }
    this.#checked.delete(partition);
  }

  /** Checks that the topic is still the one of the known positions: its log may have grown past them. */
  async verify(partitions: Iterable<Partition>): Promise<void> {
    // Those that are assigned later may know the id from a later answer.
    const known = [...partitions].filter(({ next, topicId }) => next !== null && topicId !== null);
    const id = await this.#options.topicId().catch(() => null);
    if (id === null) return;
    for (const partition of known) if (partition.topicId !== id) void this.check(partition, 'another id');
  }

  #begin(partition: Partition, start: StartPosition, earlier: Partition | undefined): void {
    const { note, first, end, topicId, acknowledged, isAnew } = start;
    partition.topicId = topicId;
    partition.start(note, first, acknowledged);
    const lost = deletedBefore(first, note, acknowledged);
    if (lost) tellLost(this.#options, partition.id, lost);
    if (earlier && earlier.next !== null && !isAnew) partition.takeOver(earlier, end);
    this.#options.assigned?.(partition);
    this.#options.fetchFrom(partition);
    this.#options.changed?.();
  }

  /** Returns whether the check is over. */
  async #isChecked(partition: Partition, why: WhyChecked, doubt: Doubt): Promise<boolean> {
    const { admins, clock, fetchFrom, log, replaced, topic, topicId } = this.#options;
    const expected = partition.next ?? 0;
    const known = { topicId: partition.topicId, reach: partition.reach };
    const id = await topicId();
    const { low, high } = await admins.boundsOf(topic, partition.id, { anew: doubt.isOpen });
    if (!this.#isOurs(partition)) return true;
    const contradiction = doubt.judge(known, { topicId: id, end: high });
    if (contradiction === 'unsure') return false;
    if (contradiction) {
      replaced(partition, doubt);
      return true;
    }
    const lost = partition.next === expected ? partition.lose(low) : 0;
    if (lost > 0) tellLost(this.#options, partition.id, { from: expected, to: low, count: lost });
    else if (why !== 'another id') {
      const got = why === 'out of range' ? null : why.fetchedFrom;
      log.warn({ topic, partition: partition.id, expected, got }, 'offset gap, refetching');
      // The leader that was fetched from and the one that returned the bounds disagree.
      if (got === null) await clock.sleep(AGAIN_MS);
    }
    if (this.#isOurs(partition)) fetchFrom(partition);
    return true;
  }

  #isOurs(partition: Partition): boolean {
    return partition.isAlive && !this.#options.isEnded();
  }

  #doubtOf({ topic, id }: Partition): Doubt {
    const { clock, log } = this.#options;
    return new Doubt({ clock, log, topic, partition: id });
  }
}
