import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawnGuarded } from '../../../scripts/guard/guard.ts';
import { eventually } from '../eventually.ts';

/** The receivers that README shows, run as processes. */
const FOLDER = fileURLToPath(new URL('../../../docs/receivers', import.meta.url));

export interface Runtime {
  readonly name: string;
  /** Answers without an error where the runtime is installed. */
  readonly probe: readonly [string, ...string[]];
  readonly command: (port: number, scratch: string) => readonly [string, ...string[]];
  /** Run once before: compiles where that is needed. */
  readonly build?: (scratch: string) => readonly [string, ...string[]];
  /** Whether it keeps the ids of webhooks in a table. */
  readonly keepsIds?: boolean;
}

export const RUNTIMES: readonly Runtime[] = [
  { name: 'Node', probe: [process.execPath, '--version'], command: () => [process.execPath, 'receiver.mjs'] },
  {
    name: 'Python',
    probe: ['python3', '--version'],
    command: () => ['python3', 'receiver.py'],
    keepsIds: true,
  },
  {
    name: 'Go',
    probe: ['go', 'version'],
    build: (scratch) => ['go', 'build', '-o', join(scratch, 'receiver'), 'receiver.go'],
    command: (_port, scratch) => [join(scratch, 'receiver')],
  },
  {
    name: 'PHP',
    probe: ['php', '-r', 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);'],
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
    keepsIds: true,
  },
];

export interface RunningReceiver {
  readonly url: string;
  /** Resolves with the lines about handled webhooks once there are so many. */
  handled(count: number): Promise<readonly string[]>;
  /** Resolves once the receiver has printed a line with this text; returns all lines so far. */
  printed(text: string): Promise<readonly string[]>;
  /** Ends the process and starts it again, with the same port and files. */
  restarted(): Promise<RunningReceiver>;
  stop(): Promise<void>;
}

export function isInstalled([command, ...args]: Runtime['probe']): boolean {
  return spawnSync(command, args).status === 0;
}

/** `more`: further variables. Resolves when the receiver takes connections; rejects with its output when it ends instead. */
export async function startReceiverIn(
  runtime: Runtime,
  secret: string,
  port: number,
  more: Readonly<Record<string, string>> = {},
): Promise<RunningReceiver> {
  const scratch = mkdtempSync(join(tmpdir(), 'hookrail-receiver-'));
  const env = { ...process.env, ...more, TMPDIR: scratch, WEBHOOK_SECRET: secret, PORT: `${port}` };
  if (runtime.build) {
    const [compiler, ...args] = runtime.build(scratch);
    const { status, stderr } = spawnSync(compiler, args, { cwd: FOLDER, env });
    if (status !== 0) throw new Error(`the ${runtime.name} receiver does not compile:\n${stderr}`);
  }
  const start = async (): Promise<RunningReceiver> => {
    const [command, ...args] = runtime.command(port, scratch);
    const child = spawnGuarded(command, args, { cwd: FOLDER, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const { handled, printed, errors } = linesOf(child);
    await eventually(`the ${runtime.name} receiver listens`, () => {
      if (child.exitCode !== null) throw new Error(`the ${runtime.name} receiver ended:\n${errors()}`);
      return accepts(port);
    });
    const end = async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    };
    const stop = async () => {
      await end();
      rmSync(scratch, { recursive: true, force: true });
    };
    const restarted = async () => {
      await end();
      return start();
    };
    return { url: `http://127.0.0.1:${port}/webhooks`, handled, printed, restarted, stop };
  };
  return start();
}

function linesOf({ stdout, stderr }: ChildProcess) {
  const lines: string[] = [];
  let errors = '';
  if (stdout === null) throw new Error('there is no pipe');
  createInterface({ input: stdout }).on('line', (line) => lines.push(line));
  stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const received = () => lines.filter((line) => line.startsWith('received '));
  const handled = async (count: number) => {
    await eventually(`${count} webhooks are handled`, () => received().length >= count);
    return received();
  };
  const printed = async (text: string) => {
    await eventually(`"${text}" is printed`, () => lines.some((line) => line.includes(text)));
    return [...lines];
  };
  return { handled, printed, errors: () => errors };
}

/** Returns whether a process of this machine listens there. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
