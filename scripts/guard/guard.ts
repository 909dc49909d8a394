import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

/**
 * Ensures that child processes and temporary folders do not outlive this process, even when it is killed: a small separate
 * process waits for its exit and cleans up.
 */
export class Guard {
  readonly #watchdog: ChildProcess;
  readonly #ended: Promise<void>;

  constructor() {
    // Its own session (`detached`), so that Ctrl-C in a terminal does not end it before this process.
    this.#watchdog = spawn(process.execPath, [fileURLToPath(new URL('./watchdog.mjs', import.meta.url))], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    // The watchdog is needed only after a crash, so its own failure is ignored.
    this.#watchdog.stdin?.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      this.#watchdog.once('exit', () => resolve());
      this.#watchdog.once('error', () => resolve());
    });
  }

  /** Returns the guard that lasts as long as this process, and does not keep it alive. */
  static ofProcess(): Guard {
    shared ??= new Guard();
    shared.#watchdog.unref();
    (shared.#watchdog.stdin as Socket | null)?.unref();
    return shared;
  }

  /** Has the process killed when this one exits. */
  watch(pid: number): void {
    this.#send(`watch ${pid}`);
  }

  /** Stops watching a process that has exited, because its id may be reused. */
  forget(pid: number): void {
    this.#send(`forget ${pid}`);
  }

  /** Has the folder removed with its contents when this process exits. */
  removeAtEnd(folder: string): void {
    this.#send(`remove ${folder}`);
  }

  /** Kills the watched processes, removes the folders, and resolves when that is done. */
  async close(): Promise<void> {
    this.#watchdog.stdin?.end();
    await this.#ended;
  }

  #send(line: string): void {
    this.#watchdog.stdin?.write(`${line}\n`);
  }
}

let shared: Guard | undefined;

/** Starts a program that does not outlive this process, even when it is killed. */
export function spawnGuarded(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const guard = Guard.ofProcess();
  const child = spawn(command, args, options);
  const { pid } = child;
  if (pid !== undefined) {
    guard.watch(pid);
    child.once('exit', () => guard.forget(pid));
  }
  return child;
}
