import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** A net only: callers log named, allow-listed fields and never a whole request, record or error with a payload. */
const REDACTED = [
  'secret',
  'signing_secret',
  'authorization',
  'body',
  '*.secret',
  '*.signing_secret',
  '*.authorization',
];

/** Lines are written together: a system call for each would cost more than making the line. */
const WRITTEN_TOGETHER_BYTES = 8 * 1024;
const WRITTEN_AT_LATEST_MS = 100;

/** JSON lines on standard output (or `destination`), one canonical line per thing that happened. */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACTED }, destination);
}

function standardOutput(): DestinationStream {
  const together = { minLength: WRITTEN_TOGETHER_BYTES, periodicFlush: WRITTEN_AT_LATEST_MS };
  return pino.destination({ dest: 1, sync: false, ...together });
}
