/** Guarantee: the metrics equal the log after the recorder was killed again and again, and in a backup. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { METRIC_GROUPS } from '../../../services/store/metrics.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../services/store/store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { recordUntilKilled } from '../../support/recorders/killed-recorders.ts';
import { HOUR_MS, START } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';
import { counted, loggedAttempts, recount } from '../../support/records/recount.ts';

const MERCHANT = 'a-merchant';
const PERIOD = { from: START, to: START + 20 * HOUR_MS, step: 300_000 };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-tallies-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (file: string) =>
  openSqliteStore({ file, clock: systemClock(), healthPolicy: TEST_POLICY, keyRing: TEST_RING });

async function expectEqual(store: Store): Promise<void> {
  const attempts = await loggedAttempts(store, MERCHANT);
  expect(attempts.length).toBeGreaterThan(400);
  for (const by of METRIC_GROUPS) {
    const query = { ...PERIOD, by };
    expect(await counted(store, MERCHANT, query)).toEqual(recount(attempts, query));
  }
}

it('the metrics equal the log after kills of the recorder, also in a backup', {
  timeout: 120_000,
}, async () => {
  const [file, copy] = ['store.db', 'copy.db'].map((name) => join(folder, name)) as [string, string];
  await recordUntilKilled(file, { partition: 'p', endpointId: randomUUID() }, [7, 1, 24, 5, 40]);
  const store = await open(file);
  await expectEqual(store);
  await store.backup(copy);
  await store.close();
  const restored = await open(copy);
  await expectEqual(restored);
  await restored.close();
});
