import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** The nice value of threads that nobody waits for: 0 is the usual one, 19 the lowest priority. */
export const BEHIND = 10;
/** The name of the threads in which V8 compiles and collects garbage, in Node 24. */
const V8_THREAD = 'V8Worker';

/**
 * Lowers the priority of the calling thread, so that those that deliver and commit go first. Only Linux has a priority for
 * each thread: elsewhere nothing happens.
 */
export function stepBack(): void {
  lower(() => [ownThread()]);
}

/**
 * Lowers the priority of the threads in which V8 compiles and collects garbage. They belong to the whole process: only an
 * executable should call it.
 */
export function helpersStepBack(): void {
  lower(() => {
    const threads = readdirSync('/proc/self/task').map(Number);
    const nameOf = (thread: number) => readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
    return threads.filter((thread) => nameOf(thread) === V8_THREAD);
  });
}

function ownThread(): number {
  return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
}

function lower(threads: () => readonly number[]): void {
  try {
    for (const thread of threads()) setPriority(thread, BEHIND);
  } catch {
    // Another system, or /proc is not mounted: all threads keep their priority.
  }
}
