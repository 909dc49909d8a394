import type { PlantedBug } from './planted-bug.ts';

const COPY = 'services/store/copy';
const TEST = 'test/store/copy/copy-store.test.ts';

/** The move of a store from SQLite to PostgreSQL. */
export const STORE_COPY_BUGS: readonly PlantedBug[] = [
  {
    id: 'store-copy-counts-twice',
    bug: 'attempts that SQLite has counted count for the health of endpoints again',
    file: 'services/store/postgres/log/journal-writes.ts',
    text: 'if (at <= countedTo) counted.add(entry);',
    replacement: '',
    test: TEST,
    title: 'is the same store',
  },
  {
    id: 'store-copy-gap-in-the-log',
    bug: 'the journal is read from where SQLite has stopped, so the log lacks what came since the snapshot',
    file: `${COPY}/copy-rest.ts`,
    text: 'DO UPDATE SET counted = excluded.counted`',
    replacement: 'DO UPDATE SET counted = excluded.counted, last = excluded.counted`',
    test: TEST,
    title: 'is the same store',
  },
  {
    id: 'store-copy-last-row-of-a-part',
    bug: 'the last row of each part of a table is left out',
    file: `${COPY}/log-chunk.ts`,
    text: '    table.add(row, chunk);\n',
    replacement: '    if (rows < ROWS_MAX - 1) table.add(row, chunk);\n',
    test: TEST,
    title: 'goes on where it was cut off',
  },
  {
    id: 'store-copy-place-not-kept',
    bug: 'a part that is copied does not move the place from which the copy goes on',
    file: `${COPY}/copy-state.ts`,
    text: '      JSON.stringify(after),\n',
    replacement: '      JSON.stringify({ ...after, reached: before.reached }),\n',
    test: TEST,
    title: 'goes on where it was cut off',
  },
  {
    id: 'store-copy-brings-back-erased',
    bug: 'bodies that were erased since the snapshot are in the copy',
    file: `${COPY}/copy-store.ts`,
    text: '      await eraseAgain({ ...deps, source }, to, toErase);\n',
    replacement: '',
    test: TEST,
    title: 'carries out again',
  },
  {
    id: 'store-copy-erases-by-number',
    bug: 'an erasure removes the bodies of a delivery that has the number of an event',
    file: 'services/store/postgres/maintenance/postgres-erasures.ts',
    text: 'AND kind = ANY($2::smallint[])',
    replacement: 'AND $2::smallint[] IS NOT NULL',
    test: TEST,
    title: 'carries out again',
  },
  {
    id: 'store-copy-gives-numbers-again',
    bug: 'new rows get numbers that copied rows have',
    file: `${COPY}/copy-rest.ts`,
    text: '    await setSequences(tx, source);\n',
    replacement: '',
    test: TEST,
    title: 'is the same store',
  },
  {
    id: 'store-copy-feed-behind-its-readers',
    bug: 'new entries of the feed get positions that readers have passed',
    file: `${COPY}/copy-rest.ts`,
    text: 'await copyNames(tx, source, feed);',
    replacement: 'await copyNames(tx, source, 0);',
    test: TEST,
    title: 'keeps the cursors',
  },
];
