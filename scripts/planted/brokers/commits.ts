import type { PlantedBug } from '../planted-bug.ts';

const WAIT = 'services/broker/sqlite/settlements-wait.ts';
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
