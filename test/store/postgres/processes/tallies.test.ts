/**
 * Guarantee: the metrics equal the log after recorders of two processes were killed again and again while they recorded
 * attempts of one endpoint, and merged what they had counted.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../../services/process/clock.ts';
import { METRIC_GROUPS } from '../../../../services/store/metrics.ts';
import { describeWithPostgres } from '../../../support/postgres/suites.ts';
import { recordUntilKilled } from '../../../support/recorders/killed-recorders.ts';
import { HOUR_MS, START } from '../../../support/records/journal-entries.ts';
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
