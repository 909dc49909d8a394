/** An installed hookrail in a folder of its own, whose pinned Node is a program of the test. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { pinnedName } from '../../bin/runtime.mjs';
import { eventually } from './eventually.ts';

export const PINNED = '99.0.0';

/** Tells what it got, line by line, and ends as its first argument says. */
const PROGRAM = `
  import { endWithLauncher } from './bin/runtime.mjs';
  endWithLauncher();
  const say = (line) => process.stdout.write(line + '\\n');
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) process.on(name, () => say(name));
  const [how, ...rest] = process.argv.slice(process.argv.findIndex((word) => word.endsWith('hookrail.mjs')) + 1);
  if (how === 'exit') process.exit(Number(rest[0]));
  if (how === 'die') process.kill(process.pid, rest[0]);
  if (how === 'read') for await (const text of process.stdin) say('read ' + text);
  else setInterval(() => {}, 60_000);
  say('pid ' + process.pid + ' ' + rest.join('|'));
`;

export class Installed {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'hookrail-installed-')));
  readonly #own = join(this.root, 'node_modules', pinnedName());
  readonly #children: ChildProcess[] = [];

  constructor() {
    cpSync(resolve('bin'), join(this.root, 'bin'), { recursive: true });
    this.pin();
    this.unpin();
    writeFileSync(join(this.root, 'program.mjs'), PROGRAM);
    mkdirSync(join(this.root, 'dist', 'simulator'), { recursive: true });
    const main = 'export async function main() { console.log("runs on", process.execPath); }';
    writeFileSync(join(this.root, 'dist', 'simulator', 'hookrail.js'), main);
    writeFileSync(join(this.root, 'dist', 'package.json'), '{"type": "module"}');
  }

  /** Installs a pinned Node: without a script, one that runs the test's program. */
  pin(script?: string, version = PINNED, mode = 0o755, wanted = PINNED): void {
    const optionalDependencies = { [pinnedName()]: wanted };
    writeFileSync(join(this.root, 'package.json'), JSON.stringify({ optionalDependencies }));
    rmSync(this.#own, { recursive: true, force: true });
    mkdirSync(join(this.#own, 'bin'), { recursive: true });
    writeFileSync(join(this.#own, 'package.json'), JSON.stringify({ version, bin: { node: 'bin/node' } }));
    const runs = `#!/bin/sh
      if [ "$1" = --version ]; then echo v${version}; exit; fi
      exec '${process.execPath}' '${join(this.root, 'program.mjs')}' "$@"`;
    writeFileSync(join(this.#own, 'bin', 'node'), script ?? runs, { mode });
  }

  unpin(): void {
    rmSync(this.#own, { recursive: true, force: true });
  }

  /** Starts the executable with a Node and flags for it. */
  start(node: readonly string[], args: readonly string[], options: SpawnOptions = {}): Launched {
    const [program = '', ...flags] = node;
    const words = [...flags, join(this.root, 'bin', 'hookrail.mjs'), ...args];
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
    this.#children.push(child);
    return new Launched(child);
  }

  /** Types a line in a terminal of its own. */
  inTerminal(line: string): Launched {
    // With exec, no shell is left between: its end would hang the terminal up.
    const child = spawn('script', ['-qefc', `exec ${line}`, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    return new Launched(child);
  }

  remove(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** A process that was started, and what it has written. */
export class Launched {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  text = '';

  constructor(child: ChildProcess) {
    this.child = child;
    this.ended = new Promise((done) => child.once('close', (code, signal) => done({ code, signal })));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.text += chunk;
      });
    }
  }

  async says(words: RegExp | string): Promise<void> {
    const has = () => (typeof words === 'string' ? this.text.includes(words) : words.test(this.text));
    await eventually(`it says ${words}`, has, 240_000).catch((error: Error) => {
      throw new Error(`${error.message}; it said ${this.text}`);
    });
  }
}

/** Returns a Node on this machine that is not the one of these tests; undefined where there is none. */
export function otherNode(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, 'node')).filter((file) => existsSync(file));
  return found.find((file) => realpathSync(file) !== realpathSync(process.execPath));
}
