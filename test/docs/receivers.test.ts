/**
 * The receivers of docs/receivers are run unchanged: each answers a genuine webhook with 200 and handles it once, and
 * answers 401 to any other. A language whose runtime is not on this machine is skipped.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { sign } from '../../services/domain/signature.ts';

const FOLDER = fileURLToPath(new URL('../../docs/receivers', import.meta.url));
const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

interface Runtime {
  readonly name: string;
  /** Answers without an error where the runtime is installed. */
  readonly probe: readonly [string, ...string[]];
  readonly command: (port: number, scratch: string) => readonly [string, ...string[]];
  /** Run once before: compiles where that is needed. */
  readonly build?: (scratch: string) => readonly [string, ...string[]];
}

const RUNTIMES: readonly Runtime[] = [
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

interface Running {
  readonly process: ChildProcess;
  readonly url: string;
  /** Resolves with the lines about handled webhooks once there are so many. */
  handled(count: number): Promise<readonly string[]>;
}

let running: Running | undefined;
let scratch = '';
afterEach(async () => {
  if (running && running.process.exitCode === null) {
    running.process.kill('SIGKILL');
    await once(running.process, 'exit');
  }
  running = undefined;
  rmSync(scratch, { recursive: true, force: true });
});

function isInstalled([command, ...args]: Runtime['probe']): boolean {
  return spawnSync(command, args).status === 0;
}

/** The receivers listen where PORT says, so a free port is found by listening on it for a moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves when the receiver takes connections; rejects with its output when it ends instead. */
async function start(runtime: Runtime): Promise<Running> {
  scratch = mkdtempSync(join(tmpdir(), 'hookrail-receiver-'));
  const port = await freePort();
  const env = { ...process.env, TMPDIR: scratch, WEBHOOK_SECRET: SECRET, PORT: `${port}` };
  if (runtime.build) {
    const [compiler, ...args] = runtime.build(scratch);
    const { status, stderr } = spawnSync(compiler, args, { cwd: FOLDER, env });
    if (status !== 0) throw new Error(`the ${runtime.name} receiver does not compile:\n${stderr}`);
  }
  const [command, ...args] = runtime.command(port, scratch);
  const child = spawn(command, args, { cwd: FOLDER, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let errors = '';
  let onLine = () => {};
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('received ')) lines.push(line);
    onLine();
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const handled = (count: number) =>
    new Promise<readonly string[]>((resolve) => {
      onLine = () => lines.length >= count && resolve(lines);
      onLine();
    });
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`the ${runtime.name} receiver ended:\n${errors}`);
  }
  return { process: child, url: `http://127.0.0.1:${port}/webhooks`, handled };
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

function webhook(type: string) {
  const id = randomUUID();
  const body = JSON.stringify({ type, subType: 'SUCCESS', uuid: randomUUID(), data: { name: 'Zoë' } });
  return { id, body, at: Math.floor(Date.now() / 1000), secret: SECRET, sentBody: body };
}

async function post(url: string, hook: ReturnType<typeof webhook>): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `API-Key ${hook.secret}`,
      'webhook-id': hook.id,
      'webhook-timestamp': `${hook.at}`,
      'webhook-signature': sign(SECRET, hook.id, hook.at, hook.body),
    },
    body: hook.sentBody,
  });
  await response.arrayBuffer();
  return response.status;
}

describe.each(RUNTIMES)('the $name receiver', (runtime) => {
  test.skipIf(!isInstalled(runtime.probe))(
    'handles a genuine webhook once and refuses what is not genuine',
    { timeout: 120_000 },
    async () => {
      running = await start(runtime);
      const { url, handled } = running;
      const first = webhook('fiatToCrypto');
      expect(await post(url, first)).toBe(200);
      expect(await handled(1)).toEqual([`received ${first.id} fiatToCrypto`]);
      expect(await post(url, first), 'a duplicate is acknowledged').toBe(200);

      const other = webhook('KYC');
      const wrong = SECRET.replace('A', 'B');
      expect(await post(url, { ...other, secret: wrong }), 'wrong Authorization').toBe(401);
      expect(await post(url, { ...other, sentBody: other.body.replace('Zoë', 'Zoe') }), 'altered body').toBe(
        401,
      );
      expect(await post(url, { ...other, at: other.at - 3600 }), 'an hour old').toBe(401);
      const bare = await fetch(url, { method: 'POST', body: other.body });
      expect(bare.status, 'no headers').toBe(401);

      // The last one comes after all that must not be handled: when it is there, nothing else will be.
      expect(await post(url, other)).toBe(200);
      expect(await handled(2)).toEqual([`received ${first.id} fiatToCrypto`, `received ${other.id} KYC`]);
    },
  );
});
