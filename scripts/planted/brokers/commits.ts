import type { PlantedBug } from '../planted-bug.ts';

const WAIT = 'services/broker/sqlite/settlements-wait.ts';
const RECENT_FILE = 'services/broker/sqlite/file/recent-commits.ts';
const RECENT = 'test/broker/sqlite/recent-commits.test.ts';
const SETTLEMENTS = 'test/broker/sqlite/settlements.test.ts';

/** Commits and transactions that nobody waits for, and the threads that make them. */
export const COMMIT_BUGS: readonly PlantedBug[] = [
  {
    id: 'settlements-wait-for-ever',
    bug: 'a settlement without a publication is never committed',
    file: WAIT,
    text: 'SETTLEMENTS_WAIT_MS, this.#ended',
    replacement: 'SETTLEMENTS_WAIT_MS, () => {}',
    test: SETTLEMENTS,
    title: 'is committed alone when there is no publication',
  },
  {
    id: 'settlements-wait-without-bound',
    bug: 'any number of settlements wait, and a crash repeats them all',
    file: WAIT,
    text: ' || count >= SETTLEMENTS_WAIT_MAX',
    replacement: '',
    test: SETTLEMENTS,
    title: 'is committed at once when as many wait as may',
  },
  {
    id: 'settlements-hold-up-the-consumer',
    bug: 'no task is handed over until settlements that fill the limit have waited',
    file: 'services/broker/work-consumer.ts',
    text: 'if (this.#committing > 0 && !this.hasRoom) this.#options.awaited?.();',
    replacement: '',
    test: SETTLEMENTS,
    title: 'is committed at once when no more may be in flight',
  },
  {
    id: 'retries-committed-late',
    bug: 'a retry that is due soon is committed when it is late already',
    file: WAIT,
    text: 'now + 2 * SETTLEMENTS_WAIT_MS',
    replacement: 'now - SETTLEMENTS_WAIT_MS',
    test: SETTLEMENTS,
    title: 'is committed at once when a retry is due soon',
  },
  {
    id: 'recent-row-overwritten',
    bug: 'a batch row that is open is lost when its slot is written again',
    file: RECENT_FILE,
    text: 'if (this.#open[row.stream]?.has(row.first)) this.#spill(row);',
    replacement: 'if (row.count < 0) this.#spill(row);',
    test: RECENT,
    title: 'a row that stays open moves to its table with its bits, and can be finished there',
  },
  {
    id: 'recent-marks-cut-off',
    bug: 'ends of which a slot cannot hold all are not stored',
    file: RECENT_FILE,
    text: 'if (HEADER_BYTES + this.#marks.length > SLOT_BYTES) this.clear(positions);',
    replacement: 'if (HEADER_BYTES + this.#marks.length > SLOT_BYTES) this.#marks.truncate(0);',
    test: RECENT,
    title: 'more marks than a slot holds are kept',
  },
  {
    id: 'recent-commit-half-failed',
    bug: 'the ends of a commit that failed count as stored when it is tried again',
    file: 'services/broker/sqlite/file/commit.ts',
    text: '    this.#recent.load();\n',
    replacement: '',
    test: RECENT,
    title: 'ends whose commit failed are kept when it is tried again',
  },
  {
    id: 'recent-ids-overwritten',
    bug: 'the ids of events are lost when their slot is written again, and a repeated event is new after a crash',
    file: RECENT_FILE,
    text: 'if (slot % IDS_LEAVE_TOGETHER === 0)',
    replacement: 'if (slot < 0)',
    test: RECENT,
    title: 'ids of events are in the file until they are in the table, also more than a slot holds',
  },
  {
    id: 'recent-not-cleared',
    bug: 'records that are done stay in the slots when the file is purged',
    file: 'services/broker/sqlite/file/worker.ts',
    text: '        engine.committer.clearRecent();\n',
    replacement: '',
    test: 'test/guarantees/erased.test.ts',
    title: 'quarantined records and dead letters are gone, too',
  },
  {
    id: 'tests-gather',
    bug: 'the end of a test is recorded when its transaction is large enough',
    file: 'services/recorder/gathering.ts',
    text: '    this.#gathered.abort();\n',
    replacement: '',
    test: 'test/recorder/gathering.test.ts',
    title: 'nothing gathers while somebody waits',
  },
  {
    id: 'log-in-front-of-deliveries',
    bug: 'the writer of the delivery log has the priority of what delivers',
    file: 'services/store/sqlite/writer.ts',
    text: '\nstepBack();',
    replacement: '',
    test: 'test/process/thread-priority.test.ts',
    title: 'a service has threads of two priorities',
  },
];
