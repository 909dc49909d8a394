/** A reader's terminal: the commands of a page are typed into bash as they are printed, in a checkout. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Launched } from '../launched.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** A reader has no data yet, and Git's folder is not for commands of pages. */
const NOT_LINKED = new Set(['data', '.git', 'coverage']);
/** Only against hanging. */
const TYPED_MS_MAX = 240_000;
const STOPPED_MS_MAX = 60_000;

/** In place of npm's own, which takes a second before each command: with `--no` it runs what is installed. */
const RUNNER = `#!/bin/sh
[ "$1" = --no ] || { echo "without --no this would fetch: $*" >&2; exit 64; }
shift
npm_lifecycle_event="\${0##*/}" exec "$@"
`;

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Puts what a reader fills in into a command. A key that is not in the command fails: the page has another placeholder
 * now.
 */
function filled(command: string, values: Readonly<Record<string, string>>): string {
  let text = command;
  for (const [placeholder, value] of Object.entries(values)) {
    if (!command.includes(placeholder)) throw new Error(`"${placeholder}" is not in the command: ${command}`);
    text = text.replaceAll(placeholder, value);
  }
  return text;
}

/** A command that runs on. */
export class RunningCommand extends Launched {
  /** Presses Ctrl-C; resolves with the exit code of the shell. Rejects when nothing ends. */
  async interrupt(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    signalGroup(this.child, signal);
    const late = setTimeout(() => signalGroup(this.child, 'SIGKILL'), STOPPED_MS_MAX);
    const { code, signal: by } = await this.ended;
    clearTimeout(late);
    if (by === 'SIGKILL') throw new Error(`it did not end: ${this.text}`);
    return code;
  }
}

export class Terminal {
  /** The checkout, with the commands' data in `data`: entries of this one by links. */
  readonly folder: string;
  readonly #place = realpathSync(mkdtempSync(join(tmpdir(), 'hookrail-terminal-')));
  readonly #environment: Record<string, string | undefined>;
  readonly #running: RunningCommand[] = [];

  /** `environment`: what the reader has exported. */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.folder = join(this.#place, 'hookrail');
    const home = join(this.#place, 'home');
    const programs = join(this.#place, 'programs');
    for (const folder of [this.folder, home, programs]) mkdirSync(folder);
    for (const name of readdirSync(ROOT)) {
      if (!NOT_LINKED.has(name)) symlinkSync(join(ROOT, name), join(this.folder, name));
    }
    writeFileSync(join(programs, 'npx'), RUNNER, { mode: 0o755 });
    symlinkSync(join(ROOT, 'bin', 'hookrail.mjs'), join(programs, 'hookrail'));
    this.#environment = {
      PATH: `${programs}:${process.env.PATH}`,
      HOME: home,
      // npm would ask for its newest version.
      npm_config_update_notifier: 'false',
      HOOKRAIL_API_PORT: '0',
      HOOKRAIL_OPS_PORT: '0',
      HOOKRAIL_RATE_LIMIT_PER_MINUTE: '10000',
      ...environment,
    };
  }

  /** Exports a variable to the commands that come. */
  export(name: string, value: string): void {
    this.#environment[name] = value;
  }

  /** Types a command that ends, and rejects with what it said when it fails. */
  async type(command: string, values: Readonly<Record<string, string>> = {}): Promise<Printed> {
    const typed = filled(command, values);
    const printed = { stdout: '', stderr: '' };
    const { child, ended } = this.#launch(typed);
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.on('data', (chunk: Buffer) => {
        printed[name] += chunk;
      });
    }
    const late = setTimeout(() => signalGroup(child, 'SIGKILL'), TYPED_MS_MAX);
    const { code, signal } = await ended;
    clearTimeout(late);
    if (code !== 0)
      throw new Error(`exit ${code ?? signal} of: ${typed}\n${printed.stdout}${printed.stderr}`);
    return printed;
  }

  /** The same without the runner above: npm itself starts the command. */
  typeWithNpm(command: string): Promise<Printed> {
    return this.type(`export PATH=${process.env.PATH}\n${command}`);
  }

  /** Types a command that runs on; resolves once it says that it does. */
  async start(
    command: string,
    says: RegExp | string,
    values: Readonly<Record<string, string>> = {},
  ): Promise<RunningCommand> {
    const running = this.#launch(filled(command, values));
    const ended = running.ended.then(({ code, signal }) => {
      throw new Error(`exit ${code ?? signal} instead of "${says}" of: ${command}\n${running.text}`);
    });
    await Promise.race([running.says(says), ended]);
    return running;
  }

  /** Ends what still runs, and removes the folder. */
  async close(): Promise<void> {
    for (const running of this.#running) {
      if (running.child.exitCode === null && running.child.signalCode === null)
        signalGroup(running.child, 'SIGKILL');
      await running.ended;
    }
    rmSync(this.#place, { recursive: true, force: true });
  }

  #launch(command: string): RunningCommand {
    const child = spawn('bash', ['-c', command], {
      cwd: this.folder,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, as in a terminal: Ctrl-C reaches all of it.
      detached: true,
    });
    const running = new RunningCommand(child);
    this.#running.push(running);
    return running;
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // All of it has ended.
  }
}
