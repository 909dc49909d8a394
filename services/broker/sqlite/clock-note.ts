import type { Clock } from '../../process/clock.ts';
import type { CommitQueue } from './commit-queue.ts';

const LOOK_MS = 1_000;

/**
 * Makes a commit when the system's time was set and nothing else is written, because every commit records by how much
 * it was set since the start (see `moveDueTimes`). Returns a function that stops this.
 */
export function noteClockChanges(clock: Clock, queue: CommitQueue): () => void {
  let cancel = () => {};
  const look = (noted: number) => {
    cancel = clock.at(clock.now() + LOOK_MS, () => {
      const setBy = clock.wall(0);
      if (setBy !== noted) queue.publish((part) => part.probe(setBy)).catch(() => {});
      look(setBy);
    });
  };
  look(0);
  return () => cancel();
}
