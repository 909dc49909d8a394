import { messageOf } from '../messages/error-message.ts';
import { LogOutput } from '../telemetry/log-output.ts';

/** The longest wait for standard error: one that cannot be written must not keep the process from ending. */
const TOLD_MS_MAX = 1000;

/** A running service. */
interface Running {
  /** Resolves with the reason when the service cannot continue. */
  readonly failed: Promise<Error>;
  stop(): Promise<void>;
}

/**
 * Runs a service until SIGINT, SIGTERM, SIGHUP or its failure, then stops it and ends the process: exit code 0 after a signal,
 * 1 otherwise. A second signal ends the process at once. A failed start prints one line on standard error.
 */
export function runProcess(name: string, start: () => Promise<Running>): void {
  const errors = new LogOutput(2);
  const fail = (what: string, error: unknown) => {
    errors.write(`${name} ${what}: ${messageOf(error)}\n`);
    return new Promise<never>(() => {
      setTimeout(() => process.exit(1), TOLD_MS_MAX);
      errors.flush(() => process.exit(1));
    });
  };
  const run = async () => {
    const running = await start();
    const signalled = new Promise<null>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => {
          process.once(signal, () => process.exit(1));
          resolve(null);
        });
      }
      // A closed terminal sends it, sometimes more than once.
      process.on('SIGHUP', () => resolve(null));
    });
    const failure = await Promise.race([running.failed, signalled]);
    if (failure) errors.write(`${name} cannot go on: ${failure.message}\n`);
    await running.stop().catch((error: unknown) => fail('did not stop', error));
    process.exit(failure ? 1 : 0);
  };
  run().catch((error: unknown) => fail('did not start', error));
}
