import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The receivers that README shows, run as processes. */
const FOLDER = fileURLToPath(new URL('../../../docs/receivers', import.meta.url));

export interface Runtime {
  readonly name: string;
  /** Answers without an error where the runtime is installed. */
  readonly probe: readonly [string, ...string[]];
  readonly command: (port: number, scratch: string) => readonly [string, ...string[]];
  /** Run once before: compiles where that is needed. */
  readonly build?: (scratch: string) => readonly [string, ...string[]];
}

export const RUNTIMES: readonly Runtime[] = [
  { name: 'Node', probe: [process.execPath, '--version'], command: () => [process.execPath, 'receiver.mjs'] },
  { name: 'Python', probe: ['python3', '--version'], command: () => ['python3', 'receiver.py'] },
  {
    name: 'Go',
    probe: ['go', 'version'],
    build: (scratch) => ['go', 'build', '-o', join(scratch, 'receiver'), 'receiver.go'],
    command: (_port, scratch) => [join(scratch, 'receiver')],
  },
  {
    name: 'PHP',
    probe: ['php', '--version'],
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
];

export interface RunningReceiver {
  readonly url: string;
  /** Resolves with the lines about handled webhooks once there are so many. */
  handled(count: number): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export function isInstalled([command, ...args]: Runtime['probe']): boolean {
  return spawnSync(command, args).status === 0;
}

/** Resolves when the receiver takes connections; rejects with its output when it ends instead. */
export async function startReceiverIn(
  runtime: Runtime,
  secret: string,
  port: number,
): Promise<RunningReceiver> {
  const scratch = mkdtempSync(join(tmpdir(), 'hookrail-receiver-'));
  const env = { ...process.env, TMPDIR: scratch, WEBHOOK_SECRET: secret, PORT: `${port}` };
  if (runtime.build) {
    const [compiler, ...args] = runtime.build(scratch);
    const { status, stderr } = spawnSync(compiler, args, { cwd: FOLDER, env });
    if (status !== 0) throw new Error(`the ${runtime.name} receiver does not compile:\n${stderr}`);
  }
  const [command, ...args] = runtime.command(port, scratch);
  const child = spawn(command, args, { cwd: FOLDER, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { handled, errors } = linesOf(child);
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`the ${runtime.name} receiver ended:\n${errors()}`);
  }
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(scratch, { recursive: true, force: true });
  };
  return { url: `http://127.0.0.1:${port}/webhooks`, handled, stop };
}

function linesOf({ stdout, stderr }: ChildProcess) {
  const lines: string[] = [];
  let errors = '';
  let onLine = () => {};
  if (stdout === null) throw new Error('there is no pipe');
  createInterface({ input: stdout }).on('line', (line) => {
    if (line.startsWith('received ')) lines.push(line);
    onLine();
  });
  stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const handled = (count: number) =>
    new Promise<readonly string[]>((resolve) => {
      onLine = () => lines.length >= count && resolve(lines);
      onLine();
    });
  return { handled, errors: () => errors };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    // Not yet: give the receiver the processor for a moment before asking again.
    socket.on('error', () => setTimeout(() => resolve(false), 20));
  });
}
