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

/** JSON lines on standard output (or `destination`), one canonical line per thing that happened. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACTED };
  return destination ? pino(options, destination) : pino(options);
}
