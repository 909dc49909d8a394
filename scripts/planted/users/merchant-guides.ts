import type { PlantedBug } from '../planted-bug.ts';

/** Bugs in what merchants who move to another version of the API, or look something up, are told. */
export const MERCHANT_GUIDE_BUGS: readonly PlantedBug[] = [
  {
    id: 'lacking-subtypes-untold',
    bug: 'the list of differences between versions names types that one of them lacks, but no subTypes',
    file: 'services/domain/versions/version-differences.ts',
    text: 'each.older.join() !== each.newer.join()',
    replacement: 'each.older.length === 0',
    test: 'test/domain/versions/differences.test.ts',
    title: 'types and subTypes of one version only are listed whole',
  },
  {
    id: 'rows-not-searched',
    bug: 'the search of the reference does not know the rows of tables: an error code leads to whatever names it',
    file: 'scripts/reference/assets/search.js',
    text: 'entry.names.includes(asked) || ',
    replacement: '',
    test: 'test/docs/search.test.ts',
    title: 'the first three results for every',
  },
];
