import { isatty } from 'node:tty';
import type { Surroundings } from './session.ts';
import { openKeyboard } from './terminal/keyboard.ts';

/**
 * Runs a command as this process: with its streams and environment, until Ctrl-C or until its terminal is closed. Sets
 * the exit code.
 */
export async function runAsProcess(run: (surroundings: Surroundings) => Promise<number>): Promise<void> {
  const interrupted = new AbortController();
  // The first Ctrl-C asks to stop, the second does not wait.
  const interrupt = () => {
    if (interrupted.signal.aborted) process.exit(1);
    interrupted.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);
  // A closed terminal tells so in several ways, in any order: the command stops as after one Ctrl-C.
  const hangUp = () => interrupted.abort();
  process.on('SIGHUP', hangUp);
  const failed = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EIO') hangUp();
    // `sim … | head` closes the pipe early: that is not an error.
    else if (!interrupted.signal.aborted) process.exit(error.code === 'EPIPE' ? 0 : 1);
  };
  process.stdout.on('error', failed);
  process.stderr.on('error', failed);
  const { env: environment, stdout, stderr } = process;
  const { signal } = interrupted;
  // Not before it is asked for: commands read a pipe by its file descriptor.
  const keyboard = () => (isatty(0) ? openKeyboard(process.stdin, interrupt, hangUp) : undefined);
  const code = await run({ environment, stdout, stderr, signal, keyboard });
  process.exitCode = code;
  // The command has stopped; connections to an unreachable server would keep the process alive.
  if (signal.aborted) stdout.write('', () => process.exit(code));
}
