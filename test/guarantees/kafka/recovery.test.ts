/**
 * Guarantee, on Kafka: an endpoint that hangs, refuses connections or answers 503 for a while gets new events at once
 * after its recovery. Waiting ones arrive within the longest parking time, 66 s, and the endpoint's drain time.
 * RECOVERY_DARK_SECONDS=20,60,600 measures longer failures, and judges by the promised times; without it the bounds
 * leave room for a busy machine.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { preparePremises, startService } from '../../support/service/system.ts';
import { drainMs, recoveryTable, runRecoveryTrial } from '../../support/trials/recovery-trial.ts';

/** A short failure: what waits comes up every few seconds, and the whole trial is over soon. */
const DARK_SECONDS = (process.env.RECOVERY_DARK_SECONDS ?? '8').split(',').map(Number);
const RATES = (process.env.RECOVERY_RATES ?? '5').split(',').map(Number);
const NEW_P99_MS = process.env.RECOVERY_DARK_SECONDS ? 1000 : 10_000;
const NEVER_TRIED_MS = 75_000;
const IN_FLIGHT_MAX = 128 + 20;
/** Longest wait for the rest to arrive after the load has ended. */
const AFTER_SECONDS = 95;

await describeWithKafka('the recovery of endpoints on Kafka', (kafka) => {
  it.each(DARK_SECONDS)(
    'after failing for %d s brings everything that waited soon, and new events at once',
    { timeout: (Math.max(...DARK_SECONDS) + AFTER_SECONDS + 120) * 1000 },
    async (darkSeconds) => {
      const premises = await preparePremises({ HOOKRAIL_RETRY_SCALE: '1' });
      const service = await startService({
        ...premises.environment,
        ...kafkaEnvironment(kafka, freshPrefix()),
        HOOKRAIL_KEYRING: join(premises.dataDir, 'keyring.json'),
      });
      try {
        const options = { darkSeconds, afterSeconds: AFTER_SECONDS, rates: RATES };
        const rows = await runRecoveryTrial(premises, service, options);
        console.log(recoveryTable('kafka', rows));
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
});
