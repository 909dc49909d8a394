import { type DestinationStream, type Logger, pino } from 'pino';
import type { Clock } from './clock.ts';

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
const WRITTEN_TOGETHER_LENGTH = 16 * 1024;
const WRITTEN_AT_LATEST_MS = 100;

/** JSON lines on standard output (or `destination`), one canonical line per thing that happened. */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: REDACTED }, destination);
}

/**
 * Writes one kind of line, at level info, that is made for every delivery: several times as fast as pino, which looks at
 * each field by itself. `members`: what stands between an object's braces, as JSON; nothing in it is redacted. Whether
 * the level is enabled is the caller's to ask.
 */
export function lineWriter(log: Logger, message: string): (members: string) => void {
  const output: DestinationStream = Reflect.get(log, pino.symbols.streamSym);
  const level = pino.levels.values.info;
  const end = `,"msg":${JSON.stringify(message)}}\n`;
  let millisecond = 0;
  let time = '';
  return (members) => {
    const now = Date.now();
    if (now !== millisecond) {
      millisecond = now;
      time = new Date(now).toISOString();
    }
    output.write(`{"level":${level},"time":"${time}",${members}${end}`);
  };
}

/** Resolves when every line so far is written, or nobody reads them, or after `withinMs`. */
export function written(log: Logger, clock: Clock, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.now() + withinMs, resolve);
    log.flush(() => {
      cancel();
      resolve();
    });
  });
}

/**
 * Gathers lines and hands them to pino's destination in pieces, the next when the one before is written. That
 * destination could gather as well, but it measures all it holds at every line, and writes no more than 16 KiB in a turn
 * of the event loop: a busy process would make lines faster than that.
 */
function standardOutput(): DestinationStream & { flush(done: () => void): void } {
  const output = pino.destination({ dest: 1, sync: false });
  let lines = '';
  let isWriting = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | null = null;
  const flushing: (() => void)[] = [];
  const pass = () => {
    if (timer) clearTimeout(timer);
    timer = null;
    if (lines === '') return;
    const piece = lines;
    lines = '';
    isWriting = true;
    output.write(piece);
  };
  const passSoon = () => {
    if (isWriting || lines === '') return;
    if (lines.length >= WRITTEN_TOGETHER_LENGTH || flushing.length > 0) pass();
    else timer ??= setTimeout(pass, WRITTEN_AT_LATEST_MS).unref();
  };
  const flushed = () => {
    if (lines === '' && !isWriting) for (const done of flushing.splice(0)) done();
  };
  output.on('drain', () => {
    isWriting = false;
    passSoon();
    flushed();
  });
  output.on('error', (error: NodeJS.ErrnoException) => {
    // Nobody reads the pipe any more: nothing is gathered for it. Any other error stays unhandled.
    if (error.code !== 'EPIPE') throw error;
    isClosed = true;
    isWriting = false;
    lines = '';
    flushed();
  });
  // Whatever ends the process, the last lines tell why; pino's own handler writes them out after this one.
  process.prependListener('exit', pass);
  return {
    write(line) {
      if (isClosed) return;
      lines += line;
      passSoon();
    },
    flush(done) {
      flushing.push(done);
      passSoon();
      flushed();
    },
  };
}
