/**
 * The executable goes on with the Node that hookrail is tested with, whichever Node starts it, and nobody notices: streams,
 * signals and exit codes are those of one process.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chooseNode, pinnedName } from '../../bin/runtime.mjs';
import { eventually } from '../support/eventually.ts';
import { Installed, Launched, otherNode, PINNED } from '../support/launched.ts';

const installed = new Installed();
afterAll(() => installed.remove());

/** Node before 22.15 cannot become another program: it starts a child. */
const CHILD = [process.execPath, '--import', 'data:text/javascript,process.execve=undefined'];
const other = otherNode();
const WAYS: [string, readonly string[]][] = [
  ['becomes the pinned Node', [process.execPath]],
  ['starts the pinned Node as a child', CHILD],
  ...(other ? [[`is ${other}`, [other]] as [string, readonly string[]]] : []),
];

describe.each(WAYS)('a process that %s', (_, node) => {
  beforeAll(() => installed.pin());

  test('passes its arguments on, and its end', async () => {
    const { ended } = installed.start(node, ['exit', '7']);
    expect(await ended).toEqual({ code: 7, signal: null });
    const words = installed.start(node, ['run', 'a b', '', "it's", '--x=*']);
    await words.says('pid');
    expect(words.text).toMatch(/^pid \d+ a b\|\|it's\|--x=\*\n$/);
    words.child.kill('SIGKILL');
    await words.ended;
  });

  test('passes its standard input on', async () => {
    const reading = installed.start(node, ['read']);
    reading.child.stdin?.end('one line');
    await reading.says('read one line');
    expect(await reading.ended).toEqual({ code: 0, signal: null });
  });

  test.each(['SIGKILL', 'SIGABRT', 'SIGSEGV'])('ends by %s when the other one does', async (name) => {
    expect(await installed.start(node, ['die', name]).ended).toEqual({ code: null, signal: name });
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const)(
    'passes %s on, once',
    async (name) => {
      const running = installed.start(node, ['run']);
      await running.says('pid');
      running.child.kill(name);
      await running.says(name);
      running.child.kill('SIGUSR1');
      await running.says('SIGUSR1');
      expect(running.text.split('\n').slice(1)).toEqual([name, 'SIGUSR1', '']);
      running.child.kill('SIGKILL');
      await running.ended;
    },
  );

  test('leaves nothing behind when it is killed', async () => {
    const running = installed.start(node, ['run']);
    await running.says(/pid (\d+)/);
    const pid = Number(/pid (\d+)/.exec(running.text)?.[1]);
    running.child.kill('SIGKILL');
    expect(await running.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await eventually(`${pid} ends`, () => !isAlive(pid), 20_000);
  });

  test('passes Ctrl-C of a terminal on, once', async () => {
    const line = [...node, `${installed.root}/bin/hookrail.mjs`, 'run'].map((word) => `'${word}'`).join(' ');
    const terminal = installed.inTerminal(line);
    await terminal.says('pid');
    terminal.child.stdin?.write('\u0003');
    await terminal.says('SIGINT');
    // What came after it was handled after it.
    terminal.child.stdin?.write('\u001c');
    await terminal.says('SIGQUIT');
    expect(terminal.text.match(/SIG\w+/g)).toEqual(['SIGINT', 'SIGQUIT']);
    process.kill(Number(/pid (\d+)/.exec(terminal.text)?.[1]), 'SIGKILL');
    await terminal.ended;
  });
});

describe('the running Node is used', () => {
  test.each([
    ['is not installed', () => installed.unpin()],
    ['is another version', () => installed.pin(undefined, '98.0.0')],
    ['was made for another C library', () => installed.pin('#!/lib/ld-musl-none.so.1\n')],
    [
      'is refused by the dynamic linker',
      () => installed.pin('#!/bin/sh\necho GLIBC_2.99 not found >&2; exit 1\n'),
    ],
    ['may not be executed', () => installed.pin(undefined, PINNED, 0o644)],
    ['ends by a signal', () => installed.pin('#!/bin/sh\nkill -SEGV $$\n')],
  ])('when the pinned one %s', async (_, arrange) => {
    arrange();
    const running = installed.start([process.execPath], ['x']);
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(running.text).toBe(`runs on ${process.execPath}\n`);
  });

  test.each(['24.21.0', '24.21.1', '24.30.0'])(
    'without asking the pinned one when it is of the same line and as new: %s',
    (version) => {
      expect(chooseNode(process.cwd(), version)).toEqual({ path: process.execPath });
    },
  );
});

test('an older one of the pinned line goes on with the newer', () => {
  const newer = new Installed();
  try {
    newer.pin();
    for (const version of ['24.0.0', '24.99.0']) {
      expect(chooseNode(newer.root, version).path).toContain(newer.root);
    }
    // Both of line 24.
    newer.pin(undefined, '24.99.1', 0o755, '24.99.1');
    for (const version of ['24.0.0', '24.21.0', '24.99.0']) {
      expect(chooseNode(newer.root, version).path).toContain(newer.root);
    }
    expect(chooseNode(newer.root, '24.99.1')).toEqual({ path: process.execPath });
  } finally {
    newer.remove();
  }
});

describe('a Node that hookrail does not run on', () => {
  const OLD = ['20.19.0', '20.20.2', '21.7.3', '22.13.1', '23.11.1', '25.2.0', '27.0.0'];

  test.each([...OLD, '22.22.2', '24.20.9', '26.10.0'])('goes on with the pinned one: %s', (version) => {
    installed.pin();
    expect(chooseNode(installed.root, version).path).toBe(
      join(installed.root, 'node_modules', pinnedName(), 'bin', 'node'),
    );
  });

  test.each(OLD)(
    'says which are needed, and the command that helps, when no pinned one is there: %s',
    (version) => {
      installed.unpin();
      const { path, problem } = chooseNode(installed.root, version);
      expect(path).toBeUndefined();
      expect(problem).toContain(
        `runs on Node 22 (from 22.14), 24 or 26, but this is ${version} (${process.execPath})`,
      );
      expect(problem).toMatch(
        /its own Node 99\.0\.0 \(node-\w+-\w+\) is not installed: npm install --include=optional/,
      );
    },
  );

  test('says why the pinned one does not run', () => {
    installed.pin('#!/bin/sh\necho GLIBC_2.99 not found >&2; exit 1\n');
    const { problem } = chooseNode(installed.root, '20.20.2');
    expect(problem).toMatch(/does not run on this machine: GLIBC_2.99 not found; install Node 24, https:/);
  });

  test.each(['22.14.0', '22.23.3', '24.0.0', '26.0.0'])('is not one of the supported: %s', (version) => {
    installed.unpin();
    expect(chooseNode(installed.root, version)).toEqual({ path: process.execPath });
  });
});

test.skipIf(!other)(
  'the executable of this checkout runs on its own Node, whichever starts it',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookrail-launched-'));
    const env = {
      ...process.env,
      HOOKRAIL_DATA_DIR: join(folder, 'data'),
      XDG_STATE_HOME: folder,
      HOOKRAIL_API_PORT: '0',
      HOOKRAIL_OPS_PORT: '0',
    };
    const running = new Launched(
      spawn(other ?? '', [resolve('bin/hookrail.mjs'), 'start', '--output', 'ndjson'], { env }),
    );
    try {
      await running.says('"delivered"');
      // The kernel's list of children may miss one while another ends.
      const pids = () => [running.child.pid, ...childrenOf(running.child.pid ?? 0)];
      const programs = () => pids().map((pid) => readlinkSync(`/proc/${pid}/exe`));
      await eventually('the pinned Node runs', () => programs().includes(realpathSync(process.execPath)));
      running.child.kill('SIGTERM');
      expect(await running.ended, running.text).toEqual({ code: 0, signal: null });
    } finally {
      running.child.kill('SIGKILL');
      await running.ended;
      rmSync(folder, { recursive: true });
    }
  },
  120_000,
);

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has ended and that nobody has asked about is still listed.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
