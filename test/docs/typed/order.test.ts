/** Guarantee: the commands of docs/order.md work as they are typed, with each of the documented receivers. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { commandsOf } from '../../support/pages/command-blocks.ts';
import { Terminal } from '../../support/pages/terminal.ts';
import { isInstalled, RUNTIMES, startReceiverIn } from '../../support/receivers/documented-receivers.ts';

const TEST_MS = 240_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

let terminal: Terminal;
beforeAll(() => {
  terminal = new Terminal();
});
afterAll(() => terminal?.close());

const [check = '', ...more] = commandsOf('docs/order.md', 'Try it');

test.each(RUNTIMES.filter(({ probe }) => isInstalled(probe)))(
  'the $name receiver applies nothing that newer webhooks have overtaken',
  async (runtime) => {
    expect(more).toEqual([]);
    const port = await freePort();
    const receiver = await startReceiverIn(runtime, SECRET, port);
    try {
      const { stdout } = await terminal.type(check, { '3000': `${port}`, 'whsec_…': SECRET });
      expect(stdout).toMatch(/chaos\.overtaken +5 webhooks/);
      expect((await receiver.printed('older')).join('\n')).toMatch(/^older \S+ fiatToCrypto$/m);
    } finally {
      await receiver.stop();
    }
  },
  TEST_MS,
);
