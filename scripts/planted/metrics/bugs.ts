import type { PlantedBug } from '../planted-bug.ts';

const SQLITE = 'test/store/sqlite/contract.test.ts';
const TALLY_ROWS = 'services/store/sqlite/log/tally-rows.ts';

/** The metrics equal the log. */
export const METRIC_BUGS: readonly PlantedBug[] = [
  {
    id: 'repeat-counted-twice',
    bug: 'an attempt that a crash repeats under its number is counted again',
    file: 'services/store/log/journal-fold.ts',
    text: '    if (!isNew) return;\n',
    replacement: `    if (!isNew)
      return this.#rows.tallies.count({
        ...{ endpoint: delivery.endpoint, type: delivery.type, startedAt, durationMs },
        ...{ outcome: 0, failureCode: 0 },
      });
`,
    test: SQLITE,
    title: 'equal the log when batches, entries and attempts come again',
  },
  {
    id: 'merge-forgets-tallies',
    bug: 'a merge writes what waited in place of what was merged before',
    file: TALLY_ROWS,
    text: '      if (stored) addCells(cells, stored);\n',
    replacement: '',
    test: SQLITE,
    title: 'equal the log whatever was recorded',
  },
  {
    id: 'merged-twice',
    bug: 'what was merged still waits to be merged',
    file: TALLY_ROWS,
    text: '    this.#clear.run();\n',
    replacement: '',
    test: SQLITE,
    title: 'equal the log after more batches',
  },
  {
    id: 'failed-batch-counted',
    bug: 'what a batch counted before it failed is written with the next one',
    file: TALLY_ROWS,
    text: '  rolledBack(): void {\n    this.#batch.clear();\n',
    replacement: '  rolledBack(): void {\n',
    test: SQLITE,
    title: 'equal the log when batches, entries and attempts come again',
  },
];
