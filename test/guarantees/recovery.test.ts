/**
 * Guarantee: an endpoint that hangs, refuses connections or answers 503 for a while gets waiting webhooks as soon as
 * it has recovered, and new ones at once; while it fails it sees no more requests than its window.
 * RECOVERY_DARK_SECONDS=20,60,600 measures longer failures, and judges by the promised times; without it the bounds
 * leave room for a busy machine.
 */
import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { preparePremises, startService } from '../support/service/system.ts';
import { drainMs, recoveryTable, runRecoveryTrial } from '../support/trials/recovery-trial.ts';

const DARK_SECONDS = (process.env.RECOVERY_DARK_SECONDS ?? '8').split(',').map(Number);
const RATES = (process.env.RECOVERY_RATES ?? '5,50').split(',').map(Number);
/** An event that is posted after the recovery arrives so soon, milliseconds. */
const NEW_P99_MS = process.env.RECOVERY_DARK_SECONDS ? 1000 : 10_000;
/** Bound for the last delivery that was never tried before the recovery, without the endpoint's drain time; milliseconds. */
const NEVER_TRIED_MS = process.env.RECOVERY_DARK_SECONDS ? 10_000 : 30_000;
/** The widest window, and what is sent beside it to notice a recovery. */
const IN_FLIGHT_MAX = 128 + 20;

it.each(DARK_SECONDS)(
  'an endpoint that failed for %d s gets waiting webhooks soon after its recovery, and new ones at once',
  { timeout: (Math.max(...DARK_SECONDS) + 90) * 1000 },
  async (darkSeconds) => {
    const premises = await preparePremises({ HOOKRAIL_RETRY_SCALE: '1' });
    const service = await startService(premises.environment);
    try {
      const rows = await runRecoveryTrial(premises, service, { darkSeconds, afterSeconds: 31, rates: RATES });
      console.log(recoveryTable('sqlite', rows));
      for (const row of rows) {
        expect(row).toMatchObject({ newMissing: 0, pending: 0 });
        expect(row.lateness.p99).toBeLessThanOrEqual(NEW_P99_MS);
        expect(row.lastNeverTriedMs).toBeLessThanOrEqual(NEVER_TRIED_MS + drainMs(row));
        expect(row.inFlightMost).toBeLessThanOrEqual(IN_FLIGHT_MAX);
      }
      expect(await service.end('SIGTERM')).toBe(0);
    } finally {
      await service.end('SIGKILL');
      rmSync(premises.dataDir, { recursive: true, force: true });
    }
  },
);
