import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Sees to it that child processes and temporary folders do not outlive this process, even when it is killed: a small
 * process of its own waits for our end and cleans up.
 */
export class Guard {
  readonly #watchdog: ChildProcess;
  readonly #ended: Promise<void>;

  constructor() {
    // A session of its own (`detached`), so that Ctrl-C in a terminal does not end it before us.
    this.#watchdog = spawn(process.execPath, [fileURLToPath(new URL('./watchdog.mjs', import.meta.url))], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    // A watchdog that is gone is noticed by nobody and needed only in a crash.
    this.#watchdog.stdin?.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      this.#watchdog.once('exit', () => resolve());
      this.#watchdog.once('error', () => resolve());
    });
  }

  /** Kills the process when this one is gone. */
  watch(pid: number): void {
    this.#tell(`watch ${pid}`);
  }

  /** The process has ended: its number may soon belong to another. */
  forget(pid: number): void {
    this.#tell(`forget ${pid}`);
  }

  /** Removes the folder at the end, with all in it. */
  removeAtEnd(folder: string): void {
    this.#tell(`remove ${folder}`);
  }

  /** Kills what still runs, removes the folders, and resolves when that is done. */
  async close(): Promise<void> {
    this.#watchdog.stdin?.end();
    await this.#ended;
  }

  #tell(line: string): void {
    this.#watchdog.stdin?.write(`${line}\n`);
  }
}
