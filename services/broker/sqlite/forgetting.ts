import type { Clock } from '../../process/clock.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { EngineThread } from './file/engine-thread.ts';

/** The pause after a whole round. Event ids are deleted in small steps, so that no commit waits long for one. */
const FORGET_PAUSE_MS = 1_000;
const FORGET_ROUND_PAUSE_MS = 60 * 60 * 1000;
const FORGET_STEP = 1_000;
/** How long a repeated event id is recognised by default. */
const RETENTION_MS = 45 * 86_400_000;

export interface ForgettingOptions {
  readonly clock: Clock;
  readonly queue: CommitQueue;
  readonly thread: EngineThread;
  /** The time that an event id is remembered, milliseconds. */
  readonly retentionMs: number | undefined;
}

/** Deletes old event ids a few at a time, while no commit is running. */
export class Forgetting {
  readonly #options: ForgettingOptions;
  #cancel: () => void = () => {};
  #isOver = false;

  constructor(options: ForgettingOptions) {
    this.#options = options;
    this.#after(FORGET_ROUND_PAUSE_MS);
  }

  end(): void {
    this.#isOver = true;
    this.#cancel();
  }

  #after(pauseMs: number): void {
    const { clock, queue, thread, retentionMs = RETENTION_MS } = this.#options;
    this.#cancel = clock.at(clock.now() + pauseMs, () => {
      if (queue.busy) return this.#after(FORGET_PAUSE_MS);
      const before = clock.wall() - retentionMs;
      thread.send({ kind: 'forgetEvents', before, limit: FORGET_STEP }, [], (reply) => {
        const more = reply.kind === 'forgotten' && reply.more;
        if (!this.#isOver) this.#after(more ? FORGET_PAUSE_MS : FORGET_ROUND_PAUSE_MS);
      });
    });
  }
}
