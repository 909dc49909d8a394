import { messageOf } from '../messages/error-message.ts';
import { LogOutput } from './log-output.ts';
import { helpersStepBack } from './thread-priority.ts';

/** The longest wait for standard error: one that cannot be written must not keep the process from ending. */
const TOLD_MS_MAX = 1000;

/** A running service. */
interface Running {
  /** Resolves with the reason when the service cannot continue. */
  readonly failed: Promise<Error>;
  /** `signal` asked for it; the log names it. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Runs a service until SIGINT, SIGTERM, SIGHUP or its failure, then stops it and ends the process: exit code 0 after a signal,
 * 1 otherwise. A second signal ends the process at once, with a line on standard error, as a failed start does.
 */
export function runProcess(name: string, start: () => Promise<Running>): void {
  const errors = new LogOutput(2);
  const end = (line: string) => {
    errors.write(`${name} ${line}\n`);
    return new Promise<never>(() => {
      setTimeout(() => process.exit(1), TOLD_MS_MAX);
      errors.flush(() => process.exit(1));
    });
  };
  const fail = (what: string, error: unknown) => end(`${what}: ${messageOf(error)}`);
  helpersStepBack();
  const run = async () => {
    const running = await start();
    const signalled = new Promise<NodeJS.Signals>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => {
          process.once(signal, () => end(`ends at once: a second ${signal}`));
          resolve(signal);
        });
      }
      // A closed terminal sends it, sometimes more than once.
      process.on('SIGHUP', () => resolve('SIGHUP'));
    });
    const cause = await Promise.race([running.failed, signalled]);
    const signal = cause instanceof Error ? undefined : cause;
    if (cause instanceof Error) errors.write(`${name} cannot go on: ${cause.message}\n`);
    await running.stop(signal).catch((error: unknown) => fail('did not stop', error));
    process.exit(signal === undefined ? 1 : 0);
  };
  run().catch((error: unknown) => fail('did not start', error));
}
