/** After the sandbox's clock was moved on, a live line still says how long a webhook took: by the clock, not by its date. */
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hookrail, startHookrail } from '../../../services/main.ts';
import { parseDuration } from '../../../simulator/duration.ts';
import { EXIT } from '../../../simulator/exit.ts';
import { eventually } from '../../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';
import { accessTo, operationsOf, simHere } from '../support/command-line.ts';

/** The receiver takes so long. */
const ANSWER_MS = 300;
/** Two clocks are read to the millisecond, and a line shows two digits of seconds. */
const ROUNDED_MS = 5;
const SHOWN = 1.05;

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, () => setTimeout(ANSWER_MS, 204));
  hookrail = await startHookrail(setup.environment);
  await new MerchantClient(setup, () => hookrail).createEndpoint(receiver.url);
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

function type(line: string) {
  return simHere(line.split(' '), {
    ...accessTo(setup, hookrail),
    ...operationsOf(hookrail),
  });
}

test('the latency of a live line is right after the clock was moved on', { timeout: 60_000 }, async () => {
  expect((await type('clock advance 6h')).code).toBe(EXIT.ok);
  const shown = await type('clock show --output json');
  const { ahead_ms: aheadMs } = JSON.parse(shown.stdout);
  // The date of a response leaves out what has passed of a second: much of it, here.
  await eventually('half of a second has passed', () => (Date.now() + aheadMs) % 1000 > 500);
  const from = performance.now();
  const { code, stdout, stderr } = await type('trigger KYC/FULL_USER --wait 20s');
  const tookMs = performance.now() - from;
  expect(code, stderr).toBe(EXIT.ok);
  const [, latency = ''] = / 204 in [\d.]+ m?s, ([\d.]+ m?s) after it was sent$/m.exec(stdout) ?? [];
  const latencyMs = parseDuration(latency.replace(' ', ''));
  expect(latencyMs, stdout).toBeGreaterThanOrEqual(ANSWER_MS - ROUNDED_MS);
  expect(latencyMs, stdout).toBeLessThanOrEqual(tookMs * SHOWN + ROUNDED_MS);
});
