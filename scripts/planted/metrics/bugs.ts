import type { PlantedBug } from '../planted-bug.ts';

const SQLITE = 'test/store/sqlite/contract.test.ts';
const ATTEMPT_CONTENTS = 'test/store/sqlite/attempt-contents.test.ts';
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
    text: '    this.#setMergedTo.run(this.#mergedTo);\n',
    replacement: '',
    test: SQLITE,
    title: 'equal the log after more batches',
  },
  {
    id: 'removed-before-merged',
    bug: 'what a batch counted is lost when its attempts are removed before it was merged',
    file: 'services/store/sqlite/log/attempt-contents.ts',
    text: '      this.#tallies.mergeBeforeDeleting(content);\n',
    replacement: '',
    test: ATTEMPT_CONTENTS,
    title: 'keep what their batch counted',
  },
  {
    id: 'numbers-of-merged-groups',
    bug: 'after a start, groups get numbers up to which the tallies count as merged',
    file: 'services/store/sqlite/log/attempt-contents.ts',
    text: 'this.#seq = 1 + Math.max(last, tallies.mergedTo);',
    replacement: 'this.#seq = 1 + last;',
    test: ATTEMPT_CONTENTS,
    title: 'have other groups than those',
  },
  {
    id: 'slot-ignored',
    bug: 'the attempts of an hour count as those of its first five minutes',
    file: 'services/store/log/tally/tallies.ts',
    text: 'const slot = Math.floor((startedAt - createdAt) / METRIC_STEP_MS);',
    replacement: 'const slot = 0;',
    test: SQLITE,
    title: 'have a point for each step, also an empty one',
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
