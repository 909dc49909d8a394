/**
 * Guarantee: the receivers that README shows, and `sim sample` prints, run as they are behind `sim listen`: each takes a
 * webhook of the sandbox with the secret that `--print-secret` gives. A language without a runtime here is skipped.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { isInstalled, RUNTIMES, startReceiverIn } from '../../support/receivers/documented-receivers.ts';
import { simHere } from '../support/command-line.ts';
import { type ListenSandbox, startListenSandbox } from '../support/listen-sandbox.ts';
import { runSim } from '../support/running-sim.ts';

let sandbox: ListenSandbox;
beforeAll(async () => {
  sandbox = await startListenSandbox();
}, 60_000);
afterAll(() => sandbox?.close());

test.each(RUNTIMES.filter(({ probe }) => isInstalled(probe)))(
  'the $name receiver takes a webhook behind a listener',
  async (runtime) => {
    const port = await freePort();
    const secret = (await sandbox.sim(`listen --forward-to 127.0.0.1:${port} --print-secret`)).trim();
    const receiver = await startReceiverIn(runtime, secret, port);
    const listener = runSim(['listen', '--forward-to', `127.0.0.1:${port}`], sandbox.access);
    try {
      await listener.text('ready: every event goes');
      await sandbox.sim('trigger KYC/FULL_USER');
      const [line] = await receiver.handled(1);
      expect(line).toMatch(/^received \S{36} KYC$/);
      await listener.text('KYC/FULL_USER                200');
    } finally {
      await listener.stop();
      await receiver.stop();
    }
  },
  120_000,
);

test.each([
  ['node', 'receiver.mjs'],
  ['python', 'receiver.py'],
  ['go', 'receiver.go'],
  ['php', 'receiver.php'],
])('the command sample prints the %s receiver as it is, and how to run it', async (language, file) => {
  const { code, stdout, stderr } = await simHere(['sample', language], sandbox.access);
  expect([code, stdout]).toEqual([0, readFileSync(`docs/receivers/${file}`, 'utf8')]);
  expect(stderr).toContain('hookrail sim listen --forward-to 8000 --print-secret');
  expect(stderr).toContain(file);
});
