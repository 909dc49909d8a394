import { runCommandLine } from '../../../simulator/cli.ts';
import { eventually } from '../../support/eventually.ts';
import type { Finished } from './command-line.ts';

/** A command that runs until it is stopped, in this process. */
export interface RunningSim {
  /** Resolves with the first item of `--output ndjson` that fits. */
  item<T extends object>(what: string, fits: (item: T) => boolean): Promise<T>;
  /** Resolves with the whole output once it has the text. */
  text(part: string): Promise<string>;
  readonly finished: Promise<Finished>;
  /** Ctrl-C; resolves when the command has ended. */
  stop(): Promise<Finished>;
}

/** Starts a command that does not end by itself. With `columns`, its output is a terminal of that width. */
export function runSim(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  columns?: number,
): RunningSim {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
    },
    ...(columns === undefined ? {} : { isTTY: true, columns }),
  });
  const interrupted = new AbortController();
  const { signal } = interrupted;
  let isOver = false;
  const finished = runCommandLine(args, {
    environment,
    stdout: into('stdout'),
    stderr: into('stderr'),
    signal,
  }).then((code) => {
    isOver = true;
    return { code, ...written };
  });
  const all = () => written.stdout + written.stderr;
  const until = async <T>(what: string, probe: () => T | undefined): Promise<NonNullable<T>> => {
    const found = await eventually(what, () => probe() ?? isOver);
    if (typeof found === 'boolean') throw new Error(`it ended without ${what}:\n${all()}`);
    return found as NonNullable<T>;
  };
  return {
    finished,
    item: (what, fits) =>
      until(what, () => itemsOf(written.stdout).find((item) => fits(item as never)) as never),
    text: (part) => until(`"${part}"`, () => (all().includes(part) ? all() : undefined)),
    stop: () => {
      interrupted.abort();
      return finished;
    },
  };
}

/** Runs a command until it says that it is ready, and then stops it. */
export async function untilReady(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Finished> {
  const running = runSim(args, environment);
  await running.text('ready: ');
  return running.stop();
}

/** Returns the complete lines of an output as items. */
export function itemsOf(output: string): object[] {
  return output
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}
