import type { Clock } from '../../process/clock.ts';
import type { CommitQueue } from './commit-queue.ts';

const LOOK_MS = 1_000;

/**
 * Every commit notes by how much the system's time was set since the start (see `moveDueTimes`). This makes a commit when
 * that has changed and nothing else is written. Returns a function that ends it.
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
