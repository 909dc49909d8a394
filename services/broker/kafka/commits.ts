import type { EachBatchPayload } from 'kafkajs';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Partition } from './partition.ts';

/** What is done is committed this often; milliseconds. */
export const COMMIT_MS = 500;

export interface CommitsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  /** Those that are ours now. */
  readonly partitions: () => Iterable<Partition>;
  /** Everything before `offset` is committed. */
  readonly committed?: (partition: number, offset: number) => void;
}

/** Commits what is done of one topic: now and then, before a rebalance, and at the end. */
export class Commits {
  readonly #options: CommitsOptions;
  /** How to, in the generation that was read last; null = nothing was read. */
  #send: EachBatchPayload['commitOffsetsIfNecessary'] | null = null;
  #underWay: Promise<void> | null = null;
  #cancel: () => void = () => {};
  #isEnded = false;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  /** Goes on by itself until the end. */
  start(): void {
    const { clock } = this.#options;
    this.#cancel = clock.at(clock.now() + COMMIT_MS, () => {
      void this.commit().finally(() => {
        if (!this.#isEnded) this.start();
      });
    });
  }

  /** Null when the client that could is gone. */
  sendBy(send: EachBatchPayload['commitOffsetsIfNecessary'] | null): void {
    this.#send = send;
  }

  /** One at a time, of one generation: the request names the generation of this moment, and is made once. */
  commit(): Promise<void> {
    this.#underWay ??= this.#commitOnce().finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  /** Everything that is done by now; what is under way may not have it. */
  async commitLast(): Promise<void> {
    await this.#underWay;
    await this.commit();
  }

  end(): void {
    this.#isEnded = true;
    this.#cancel();
  }

  async #commitOnce(): Promise<void> {
    const { committed, log, partitions: ours, topic } = this.#options;
    const send = this.#send;
    const commits = [...ours()].flatMap((partition) => {
      const commit = partition.toCommit();
      return commit ? [{ partition, commit }] : [];
    });
    if (!send || commits.length === 0 || this.#isEnded) return;
    const partitions = commits.map(({ partition, commit }) => ({ partition: partition.id, ...commit }));
    try {
      await send({ topics: [{ topic, partitions }] });
      for (const { partition, commit } of commits) {
        partition.committed(commit);
        committed?.(partition.id, Number(commit.offset));
      }
    } catch (error) {
      // A rebalance, or a broker that is gone: the next one says the same and more.
      log.debug({ topic, detail: String(error) }, 'positions not committed');
    }
  }
}
