import type { PlantedBug } from './planted-bug.ts';

const END_TO_END = 'test/guarantees/stalls.test.ts';
const WATCH = 'test/watchdog/stall-watch.test.ts';

/** What makes the main thread stand still, and what was changed while nothing ran. */
export const STALL_BUGS: readonly PlantedBug[] = [
  {
    id: 'stalled-task-attempted-again',
    bug: 'a task that stopped two processes is attempted once more',
    file: 'services/sender/deliver.ts',
    text: 'if (blame) return aside(task, blame, clock.wall());',
    replacement: '',
    test: END_TO_END,
    title: 'a response’s body that freezes the process twice is put aside',
  },
  {
    id: 'put-back-task-put-aside-again',
    bug: 'a task that an operator puts back is put aside again at once',
    file: 'services/operator/commands/record-stores.ts',
    text: 'if (pardoned.size > 0) await stalls.append({ at: now, pardoned: [...pardoned] });',
    replacement: 'void stalls;',
    test: END_TO_END,
    title: 'a response’s body that freezes the process twice is put aside',
  },
  {
    id: 'suspension-counts-as-stall',
    bug: 'time in which the whole process was suspended counts as a stall',
    file: 'services/watchdog/stall-watch.ts',
    text: 'if (passedMs < 2 * this.#everyMs) this.#stalledMs',
    replacement: 'this.#stalledMs',
    test: WATCH,
    title: 'time of a process that is suspended for an hour does not count',
  },
  {
    id: 'changes-while-stopped-come-late',
    bug: 'a sender starts before the changes that were made while the service was stopped are applied',
    file: 'services/main.ts',
    text: "if (store && has(config, 'sender')) await applyPending(store, deps.directory);",
    replacement: 'void applyPending;',
    test: 'test/guarantees/changes-while-stopped.test.ts',
    title: 'a rotated secret is in every retry',
  },
];
