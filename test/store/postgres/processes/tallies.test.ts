/**
 * Guarantee: the metrics equal the log after recorders of two processes were killed again and again while they recorded
 * attempts of one endpoint, and merged what they had counted.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../../services/process/clock.ts';
import { METRIC_GROUPS } from '../../../../services/store/metrics.ts';
import type { Store } from '../../../../services/store/store.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWithPostgres } from '../../../support/postgres/suites.ts';
import { recordUntilKilled } from '../../../support/recorders/killed-recorders.ts';
import { delivered, eventNumber, HOUR_MS, head, START } from '../../../support/records/journal-entries.ts';
import { counted, loggedAttempts, recount } from '../../../support/records/recount.ts';
import { type PostgresPlace, postgresPlace } from '../postgres-place.ts';

const MERCHANT = 'a-merchant';
const PERIOD = { from: START, to: START + 20 * HOUR_MS, step: 300_000 };

await describeWithPostgres('the metrics of two recorders', (createDatabase) => {
  let place: PostgresPlace;
  beforeEach(async () => {
    place = await postgresPlace(createDatabase, systemClock());
  });
  afterEach(() => place.dispose());

  it('equal the log when one merges while another one does', async () => {
    const [one, two] = await Promise.all([place.open(), place.open()]);
    const apply = (store: Store, partition: string) => {
      const of = head(eventNumber(MERCHANT, 0, { eventId: partition }), endpointId);
      return store.log.applyJournal([{ partition, first: 1, last: 1, entries: [delivered(of)] }]);
    };
    const merge = (store: Store) => store.log.retain(0, 1);
    const endpointId = randomUUID();
    // Both make their leaves before.
    await Promise.all([merge(one), merge(two)]);
    await apply(one, 'p');
    const holder = new pg.Client({ connectionString: place.database.url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE tally IN SHARE ROW EXCLUSIVE MODE');
    const waiting = async (count: number) =>
      (await place.database.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length >=
      count;
    const first = merge(one);
    await eventually('the first one waits, with what it has read', () => waiting(1));
    await apply(two, 'q');
    const second = merge(two);
    await Promise.race([second, eventually('the second one waits, too', () => waiting(2)).catch(() => {})]);
    await holder.end();
    await Promise.all([first, second]);
    expect(await counted(one, MERCHANT, PERIOD)).toEqual(['all 2030-01-01T00:00:00.000Z: 2, 0 failed']);
    await Promise.all([one.close(), two.close()]);
  });

  it('equal the log after both were killed while they recorded and merged', {
    timeout: 120_000,
  }, async () => {
    const endpointId = randomUUID();
    const { running } = place.database;
    await Promise.all([
      recordUntilKilled(running, { partition: 'p', endpointId }, [7, 1, 24, 5, 40]),
      recordUntilKilled(running, { partition: 'q', endpointId }, [3, 22, 15, 2, 31]),
    ]);
    const store = await place.open();
    const attempts = await loggedAttempts(store, MERCHANT);
    expect(attempts.length).toBeGreaterThan(800);
    for (const by of METRIC_GROUPS) {
      const query = { ...PERIOD, by };
      expect(await counted(store, MERCHANT, query)).toEqual(recount(attempts, query));
    }
    await store.close();
  });
});
