/**
 * Guarantee: no read of the store port takes longer because the log is old. On 34 leaves, as many as 30 days have, each
 * read uses an index, reads few rows, and a page of a list reads no leaf behind its last row.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExplainedDatabase } from '../../../scripts/bench/postgres/explained-database.ts';
import { fillLeaves } from '../../../scripts/bench/postgres/fill-leaves.ts';
import { planFaults } from '../../../scripts/bench/postgres/plan-faults.ts';
import { type PortRead, portReads } from '../../../scripts/bench/postgres/port-reads.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { HOUR_MS, START } from '../../support/records/journal-entries.ts';
import { type PostgresPlace, postgresPlace } from './postgres-place.ts';

const SIZES = { leaves: 34, leafMs: HOUR_MS, until: START, eventsPerLeaf: 1000, endpoints: 500 };
const FILL_MS = 120_000;
/** Reads whose page is in one leaf, or reaches into the next. */
const ONE_PLACE = /first page|in the middle$|of one hour|, delivered$/;
/** Indexes of the log that the reads need: their names as patterns of LIKE. */
const INDEXES = [
  'event_newest',
  'delivery_newest',
  'delivery_newest_of_merchant',
  'event_of_entity',
  'event_of_subject',
  'delivery_requested_of_entity',
  'event_%_key',
  'delivery_%_key',
  'attempt_%_key',
  'body_%_key',
  'tally_2%_key',
];
/** The indexes with such a name, and the statements that make them. */
const DEFINITIONS = `SELECT relname AS name, pg_get_indexdef(oid) AS definition FROM pg_class
  WHERE relname LIKE $1 AND relkind IN ('i', 'I')`;

await describeWithPostgres('plans of reads of the log', (createDatabase) => {
  const clock = systemClock();
  let place: PostgresPlace;
  let database: ExplainedDatabase;
  let reads: readonly PortRead[];
  beforeAll(async () => {
    place = await postgresPlace(createDatabase, clock);
    const { url } = place.database;
    const address = parsePostgresUrl(url, undefined);
    // Of a disk without moving parts. With PostgreSQL's default, leaves as small as these are not worth an index.
    await place.database.query(`ALTER DATABASE ${address.database} SET random_page_cost = 1.1`);
    database = new ExplainedDatabase({ address, clock, connectionsMax: 2, applicationName: 'plans' });
    const filled = await fillLeaves(database, url, SIZES);
    reads = portReads(database, filled, { leafMs: HOUR_MS, clock });
  }, FILL_MS);
  afterAll(async () => {
    await database.close();
    await place.dispose();
  });

  /** Makes every read, and returns what is wrong with their plans. */
  async function faults(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const { name, run } of reads) {
      await run(1);
      const leavesMax = ONE_PLACE.test(name) ? 2 : SIZES.leaves;
      const statements = database.take();
      found.push(
        ...statements.flatMap((each) => planFaults(each, leavesMax)).map((each) => `${name}: ${each}`),
      );
    }
    return found;
  }

  it('use an index and read no leaf behind the page', async () => {
    expect(await faults()).toEqual([]);
  });

  it.each(INDEXES)('are noticed when %s is missing', async (pattern) => {
    const { query } = place.database;
    const indexes = await query(DEFINITIONS, [pattern]);
    await query(indexes.map(({ name }) => `DROP INDEX ${name}`).join(';'));
    const found = await faults();
    await query(indexes.map(({ definition }) => String(definition).replace(' ON ONLY ', ' ON ')).join(';'));
    expect(indexes).not.toEqual([]);
    expect(found).not.toEqual([]);
  });
});
