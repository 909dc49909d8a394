import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import { prepareSetup, type Service, type ServiceSetup } from '../service/system.ts';
import { drainMs, type RecoveryOptions, recoveryTable, runRecoveryTrial } from './recovery-trial.ts';

const { RECOVERY_DARK_SECONDS, RECOVERY_RATES } = process.env;

/** The lengths of the tested failures, in seconds. Default: one short failure; RECOVERY_DARK_SECONDS overrides it. */
export const DARK_SECONDS = (RECOVERY_DARK_SECONDS ?? '8').split(',').map(Number);
/** Configured failures are checked against the promised times; by default the bounds leave room for a busy machine. */
export const ARE_TIMES_PROMISED = Boolean(RECOVERY_DARK_SECONDS);
/**
 * The longest time to arrival of an event posted after the recovery, p99 in milliseconds. A machine that is too busy for
 * the load is late for the control, too: by default its p99 is added.
 */
const NEW_P99_MS = ARE_TIMES_PROMISED ? 1000 : 5000;
/** The widest window, and the probes sent in addition to detect a recovery. */
const IN_FLIGHT_MAX = 128 + 20;

export const ratesOr = (fallback: string): readonly number[] =>
  (RECOVERY_RATES ?? fallback).split(',').map(Number);

export interface RecoveryBounds extends RecoveryOptions {
  readonly engine: string;
  /** The bound for the last delivery first tried after the recovery, without the endpoint's drain time; milliseconds. */
  readonly neverTriedMs: number;
}

/** Runs a recovery trial on its own service, and expects the guarantees that hold with every engine. */
export async function expectRecovery(
  { engine, neverTriedMs, ...options }: RecoveryBounds,
  start: (setup: ServiceSetup) => Promise<Service>,
): Promise<void> {
  const setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '1' });
  const service = await start(setup);
  try {
    const rows = await runRecoveryTrial(setup, service, options);
    console.log(recoveryTable(engine, rows));
    const control = rows.find(({ failure }) => failure === null)?.lateness.p99 ?? 0;
    const lateMs = ARE_TIMES_PROMISED ? 0 : control;
    for (const row of rows) {
      expect(row).toMatchObject({ newMissing: 0, pending: 0 });
      expect(row.lateness.p99).toBeLessThanOrEqual(NEW_P99_MS + lateMs);
      expect(row.lastNeverTriedMs).toBeLessThanOrEqual(neverTriedMs + drainMs(row) + lateMs);
      expect(row.inFlightMost).toBeLessThanOrEqual(IN_FLIGHT_MAX);
    }
    expect(await service.end('SIGTERM')).toBe(0);
  } finally {
    await service.end('SIGKILL');
    rmSync(setup.dataDir, { recursive: true, force: true });
  }
}
