import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import { prepareSetup, type Service, type ServiceSetup } from '../service/system.ts';
import { drainMs, type RecoveryOptions, recoveryTable, runRecoveryTrial } from './recovery-trial.ts';

const { RECOVERY_DARK_SECONDS, RECOVERY_RATES } = process.env;

/** The lengths of the failures that are tried, in seconds: a short one unless RECOVERY_DARK_SECONDS says otherwise. */
export const DARK_SECONDS = (RECOVERY_DARK_SECONDS ?? '8').split(',').map(Number);
/** Longer failures are judged by the promised times; else the bounds leave room for a busy machine. */
export const ARE_TIMES_PROMISED = Boolean(RECOVERY_DARK_SECONDS);
/** An event that is posted after the recovery arrives so soon, milliseconds. */
const NEW_P99_MS = ARE_TIMES_PROMISED ? 1000 : 10_000;
/** The widest window, and what is sent beside it to notice a recovery. */
const IN_FLIGHT_MAX = 128 + 20;

export const ratesOr = (fallback: string): readonly number[] =>
  (RECOVERY_RATES ?? fallback).split(',').map(Number);

export interface RecoveryBounds extends RecoveryOptions {
  readonly engine: string;
  /** For the last delivery that was never tried before the recovery, without the endpoint's drain time; milliseconds. */
  readonly neverTriedMs: number;
}

/** Tries the recovery of endpoints on a service of its own, and expects what is promised of it with every engine. */
export async function expectRecovery(
  { engine, neverTriedMs, ...options }: RecoveryBounds,
  start: (setup: ServiceSetup) => Promise<Service>,
): Promise<void> {
  const setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '1' });
  const service = await start(setup);
  try {
    const rows = await runRecoveryTrial(setup, service, options);
    console.log(recoveryTable(engine, rows));
    for (const row of rows) {
      expect(row).toMatchObject({ newMissing: 0, pending: 0 });
      expect(row.lateness.p99).toBeLessThanOrEqual(NEW_P99_MS);
      expect(row.lastNeverTriedMs).toBeLessThanOrEqual(neverTriedMs + drainMs(row));
      expect(row.inFlightMost).toBeLessThanOrEqual(IN_FLIGHT_MAX);
    }
    expect(await service.end('SIGTERM')).toBe(0);
  } finally {
    await service.end('SIGKILL');
    rmSync(setup.dataDir, { recursive: true, force: true });
  }
}
