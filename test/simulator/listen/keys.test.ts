/**
 * Guarantee: on a terminal, the keys of `sim listen` show, verify, copy and resend what arrived, and the shell gets its
 * terminal back as it was. The terminal is a real one: that of script(1).
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUILT } from '../../support/built/modules.ts';
import { eventually } from '../../support/eventually.ts';
import { type ListenSandbox, startListenSandbox } from '../support/listen-sandbox.ts';
import { type OwnApp, startOwnApp } from '../support/own-app.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;

let sandbox: ListenSandbox;
let app: OwnApp;
let child: ChildProcess | undefined;
beforeAll(async () => {
  sandbox = await startListenSandbox();
  app = await startOwnApp();
}, 60_000);
afterAll(async () => {
  // Without its terminal, the listener ends.
  child?.kill('SIGKILL');
  await app?.close();
  await sandbox?.close();
});

interface Terminal {
  press(keys: string): void;
  /** Resolves with what was printed since the last call, once it has the text. */
  text(part: string): Promise<string>;
  readonly exited: Promise<unknown>;
}

/** Runs a shell line in a terminal of 80 columns. */
function openTerminal(line: string): Terminal {
  const script = spawn('script', ['-qfc', `stty cols 80 rows 40; ${line}`, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', ...sandbox.access },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child = script;
  script.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return {
    press: (keys) => script.stdin.write(keys),
    text: async (part) => {
      await eventually(`"${part}" on the terminal`, () =>
        stripVTControlCharacters(output).includes(part),
      ).catch((error: Error) => {
        throw new Error(`${error.message}\n${stripVTControlCharacters(output)}`);
      });
      const shown = stripVTControlCharacters(output);
      output = '';
      return shown;
    },
    exited: new Promise((resolve) => script.once('exit', resolve)),
  };
}

test.skipIf(!hasScript)(
  'a developer chooses a webhook, sees it whole, verifies it, copies it, resends it and quits',
  async () => {
    const sim = `${process.execPath} ${BUILT.simulator} listen --forward-to ${app.url}`;
    const terminal = openTerminal(`${sim}; stty -a; echo "the shell goes on"`);
    await terminal.text('waiting for the first webhook');
    await sandbox.sim('trigger KYC/FULL_USER');
    await terminal.text('· 1');
    await sandbox.sim('trigger KYB/ACTIVE');
    await terminal.text('· 2');

    terminal.press('\u001b[A\u001b[A');
    expect(await terminal.text('▸ 1')).toContain('KYC/FULL_USER');
    terminal.press('d');
    const details = await terminal.text('answer  200');
    expect(details).toContain('"subType": "FULL_USER"');
    expect(details).toContain('authorization: [redacted]');
    terminal.press('v');
    await terminal.text('✓ signature');
    terminal.press('c');
    const copied = await terminal.text('signed for the next 5 minutes');
    const [curl = ''] = /curl '[^\r]*\\[\s\S]*--data-raw '.*'/.exec(copied.replaceAll('\r', '')) ?? [];
    // Not synchronously: the app is in this process.
    await promisify(execFile)('sh', ['-c', `${curl} -s -o /dev/null`]);
    const original = app.requests[0];
    const [, , again] = await app.received(3);
    expect([again?.body, again?.headers['webhook-id']]).toEqual([
      original?.body,
      original?.headers['webhook-id'],
    ]);

    terminal.press('r');
    await terminal.text('resent');
    terminal.press('?');
    await terminal.text('details: the request');
    terminal.press('q');
    const after = await terminal.text('the shell goes on');
    await terminal.exited;
    expect(after).toContain('the endpoint is disabled');
    expect(after).toMatch(/(?<!-)icanon/);
    expect(after).toMatch(/(?<!-)echo\b/);
  },
  60_000,
);

test.skipIf(!hasScript)(
  'a closed terminal ends the listener as Ctrl-C does: its endpoint is disabled',
  async () => {
    const terminal = openTerminal(
      `exec ${process.execPath} ${BUILT.simulator} listen --forward-to ${app.url}`,
    );
    await terminal.text('waiting for the first webhook');
    const statuses = async () => {
      const endpoints = JSON.parse(await sandbox.sim('endpoints list --output json'));
      return endpoints
        .filter(({ description }: { description: string }) => description.includes(app.url))
        .map(({ status }: { status: string }) => status);
    };
    expect(await statuses()).toEqual(['active']);
    child?.kill('SIGKILL');
    await terminal.exited;
    await eventually('the endpoint is disabled', async () => (await statuses()).join() === 'disabled');
  },
  60_000,
);
