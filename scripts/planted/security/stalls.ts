import type { PlantedBug } from '../planted-bug.ts';

const STALLS = 'test/guarantees/stalls.test.ts';
const STALL_WATCH = 'test/watchdog/stall-watch.test.ts';

/** A main thread that stands still, and changes that are made while the service is stopped. */
export const STALL_BUGS: readonly PlantedBug[] = [
  {
    id: 'stalled-task-attempted-again',
    bug: 'a task that stopped two processes is attempted once more',
    file: 'services/sender/deliver.ts',
    text: 'if (stalls) return aside(task, stalls, clock.wall());',
    replacement: '',
    test: STALLS,
    title: 'that freezes the process twice is put aside',
  },
  {
    id: 'put-back-task-put-aside-again',
    bug: 'a task that an operator puts back is put aside again at once',
    file: 'services/management/quarantine/replay.ts',
    text: 'if (pardoned.size > 0) await stalls.append({ at: now, pardoned: [...pardoned] });',
    replacement: 'void stalls;',
    test: STALLS,
    title: 'that freezes the process twice is put aside',
  },
  {
    id: 'suspension-counts-as-stall',
    bug: 'time in which the whole process was suspended counts as a stall',
    file: 'services/watchdog/stall-watch.ts',
    text: 'if (passedMs < 2 * this.#everyMs) this.#stalledMs',
    replacement: 'this.#stalledMs',
    test: STALL_WATCH,
    title: 'suspended for an hour',
  },
  {
    id: 'changes-while-stopped-come-late',
    bug: 'a sender starts before the changes that were made while the service was stopped are applied',
    file: 'services/main.ts',
    text: "if (store && has(config, 'sender')) await applyPending(store, deps);",
    replacement: 'void applyPending;',
    test: 'test/guarantees/changes-while-stopped.test.ts',
    title: 'a rotated secret is in every retry',
  },
  {
    id: 'stall-written-after-the-session',
    bug: 'on Kafka a stall is written down when others have taken the task over',
    file: 'services/broker/kafka/stalls/stall-topic.ts',
    text: ', earlyMs: EARLY_MS }',
    replacement: ' }',
    test: 'test/guarantees/kafka/frozen/senders.test.ts',
    title: 'one of three senders after another is put aside by the third',
    needsKafka: true,
    isSlow: true,
  },
  {
    id: 'resumed-stall-counts',
    bug: 'a stall that was written down early counts although the main thread went on',
    file: 'services/domain/stalls/stall.ts',
    text: '      this.#forget(entry.resumed);\n',
    replacement: '',
    test: 'test/domain/stall.test.ts',
    title: 'counts once, and not at all when the main thread went on',
  },
];
