import { type DestinationStream, type Logger, pino } from 'pino';
import { Counter, type Registry } from 'prom-client';
import type { Clock } from '../process/clock.ts';
import { LogOutput } from '../process/log-output.ts';

export type { Logger };

/** A safety net: callers log named, allow-listed fields and never a whole request, record or error with a payload. */
const REDACTED = [
  'secret',
  'signing_secret',
  'authorization',
  'body',
  '*.secret',
  '*.signing_secret',
  '*.authorization',
];

/** JSON lines on standard output (or `destination`), one line per thing that happened. */
export function createLogger(level: string, destination: DestinationStream = new LogOutput(1)): Logger {
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACTED },
    destination,
  );
  outputs.set(log, destination);
  if (destination instanceof LogOutput) {
    destination.onDropped = (lines) =>
      log.error(
        { event: 'log_lines_dropped', lines },
        `${lines} log lines were dropped while standard output could not be written`,
      );
  }
  return log;
}

/** Counts the lines that were dropped because standard output could not be written. */
export function countDroppedLines(output: LogOutput, registry: Registry): void {
  new Counter({
    name: 'hookrail_log_lines_dropped_total',
    help: 'Log lines dropped because standard output could not be written.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(output.dropped);
    },
  });
}

/** Where the lines of each logger go. */
const outputs = new WeakMap<Logger, DestinationStream>();

/**
 * Returns where a logger made by `createLogger` writes its lines, for lines of the level "info" that are put together
 * elsewhere; null when it writes none of that level.
 */
export function infoLines(log: Logger): DestinationStream | null {
  const output = outputs.get(log);
  if (output === undefined) throw new Error('infoLines needs a logger of createLogger, not a child of it');
  return log.isLevelEnabled('info') ? output : null;
}

/** Resolves when every line so far is written, when lines cannot be written, or after `withinMs`. */
export function written(log: Logger, clock: Clock, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.now() + withinMs, resolve);
    log.flush(() => {
      cancel();
      resolve();
    });
  });
}
