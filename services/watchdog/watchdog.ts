import { url as inspectorUrl } from 'node:inspector';
import { Counter, type Registry } from 'prom-client';
import type { Clock } from '../process/clock.ts';
import { spawnWorker } from '../process/worker-thread.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { SharedActivity } from './activity.ts';
import type { StallWriter, WatchdogData } from './watchdog-thread.ts';

/** The main thread shows so often that it runs, and the watchdog looks as often. */
const EVERY_MS = 250;
const REPORT_MS = 2000;

export interface WatchdogOptions {
  readonly activity: SharedActivity;
  readonly writer: StallWriter;
  /** A stall of this length ends the process, milliseconds; 0 = none does. */
  readonly endMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

export interface Watchdog {
  stop(): Promise<void>;
}

/**
 * Starts a thread that notices when the main thread stands still: it logs what the main thread is busy with, and ends
 * the process when that goes on for too long. Otherwise nothing could: probes, signals and timers wait for the main
 * thread. Under a debugger, whose breakpoints are stalls, the process is never ended.
 */
export function startWatchdog({ activity, writer, endMs, clock, log, registry }: WatchdogOptions): Watchdog {
  const stalls = new Counter({
    name: 'hookrail_stalls_total',
    help: 'Times that the main thread stood still for over two seconds and went on.',
    registers: [registry],
  });
  const mayEnd = endMs > 0 && inspectorUrl() === undefined;
  const bounds = {
    reportMs: mayEnd ? Math.min(REPORT_MS, endMs / 2) : REPORT_MS,
    // Without an end nothing counts: whoever takes the work over is not ended either.
    earlyMs:
      mayEnd && writer.earlyMs !== undefined ? Math.min(writer.earlyMs, endMs) : Number.POSITIVE_INFINITY,
    endMs: mayEnd ? endMs : Number.POSITIVE_INFINITY,
  };
  const levelMin = log.levels.values[log.level] ?? Number.POSITIVE_INFINITY;
  const data: WatchdogData = { shared: activity.shared, bounds, everyMs: EVERY_MS, writer, levelMin };
  const thread = spawnWorker(new URL('./watchdog-thread.ts', import.meta.url), data);
  thread.unref();
  thread.on('message', () => stalls.inc());
  thread.on('error', (error) =>
    log.error(
      { event: 'watchdog_failed', reason: error.message },
      'the watchdog has ended: stalls are not noticed',
    ),
  );
  let cancel = () => {};
  const beat = () => {
    activity.beat();
    cancel = clock.at(clock.now() + EVERY_MS, beat);
  };
  beat();
  return {
    async stop() {
      cancel();
      await thread.terminate();
    },
  };
}
