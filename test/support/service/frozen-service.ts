import { fileURLToPath } from 'node:url';
import { launchService, type Service } from './system.ts';

const FREEZE = new URL('../faults/freeze.mjs', import.meta.url);

/** The environment of a service that stands still where it meets the text FREEZE, and is ended after five seconds. */
export const FREEZING = {
  NODE_OPTIONS: `--import ${fileURLToPath(FREEZE)}`,
  HOOKRAIL_STALL_SECONDS_MAX: '5',
} as const;

/** A service that may be ended while it starts. */
export interface Launched {
  /** The service, once it runs. */
  service: Service | null;
  /** Resolves when it runs; never, if it ends before. */
  readonly running: Promise<Service>;
  readonly output: readonly string[];
  /** Resolves with the code and the signal when the process has ended by itself. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  kill(signal: NodeJS.Signals): Promise<unknown>;
}

export function launch(environment: Record<string, string>): Launched {
  const { child, output, started } = launchService(environment);
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  const running = new Promise<Service>((resolve) => void started.then(resolve, () => {}));
  const launched: Launched = {
    service: null,
    running,
    output,
    ended,
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
  void running.then((service) => {
    launched.service = service;
  });
  return launched;
}

interface Line {
  readonly event?: string;
  readonly [field: string]: unknown;
}

/** Returns the log lines of an event. */
export function linesOf({ output }: Pick<Service, 'output'>, event: string): Line[] {
  return output
    .filter((line) => line.startsWith('{'))
    .map((line): Line => JSON.parse(line))
    .filter((line) => line.event === event);
}
