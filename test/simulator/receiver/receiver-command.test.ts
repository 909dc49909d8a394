/**
 * Guarantee: `sim receiver` behaves as typed, also by the names that are numbers; with --register it makes its endpoint,
 * whose secret stays the same, and disables it when it stops; it says why it refuses a request.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { BEHAVIOURS } from '../../../client/receiver-behaviours.ts';
import { simHere } from '../support/command-line.ts';
import { send, webhookHeaders } from '../support/https-request.ts';
import { type ListenSandbox, startListenSandbox } from '../support/listen-sandbox.ts';
import { type RunningSim, runSim } from '../support/running-sim.ts';

let sandbox: ListenSandbox;
let running: RunningSim | undefined;
beforeAll(async () => {
  sandbox = await startListenSandbox();
}, 60_000);
afterEach(async () => {
  await running?.stop();
});
afterAll(() => sandbox?.close());

const BODY = '{"type":"KYC","subType":"FULL_USER","amount":1.10}';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

interface Listening {
  readonly listening: string;
  readonly endpoint_uuid: string;
  readonly signing_secret: string;
}

async function receiver(line: string): Promise<Listening> {
  running = runSim(['receiver', ...line.split(' '), '--output', 'ndjson'], sandbox.access);
  return running.item<Listening>('listening', ({ listening }) => listening !== undefined);
}

/** Sends a webhook, and returns the status or, without one, the connection's error. */
async function ask(url: string, secret = SECRET): Promise<number | string | null> {
  const ca = readFileSync(join(sandbox.folder, 'ca.crt'), 'utf8');
  const headers = webhookHeaders(secret, BODY, 'd');
  const reply = await send({ url, ca, headers, body: BODY, giveUpMs: 1000, bytesMax: 64 * 1024 });
  return reply.error ?? reply.status;
}

const ANSWERS: Readonly<Record<(typeof BEHAVIOURS)[number], number | string>> = {
  ok: 200,
  '500': 500,
  '410': 410,
  redirect: 302,
  hang: 'timeout',
  reset: 'ECONNRESET',
  'slow-body': 'timeout',
  'huge-body': 'too large',
  drip: 'timeout',
  garbage: 'HPE_INVALID_CONSTANT',
  'tls-expired': 'CERT_HAS_EXPIRED',
};

test.each(BEHAVIOURS)(
  'the option --behaviour %s is taken as it is typed',
  async (behaviour) => {
    const { listening } = await receiver(`--secret ${SECRET} --behaviour ${behaviour}`);
    expect(await ask(listening)).toBe(ANSWERS[behaviour]);
  },
  30_000,
);

test('a request that is not authentic gets 401, and the output says which check failed', async () => {
  const sim = runSim(['receiver', '--secret', SECRET, '--print'], sandbox.access);
  running = sim;
  const url = /listening on (\S+)/.exec(await sim.text('listening on'))?.[1] ?? '';
  expect(await ask(url, OTHER)).toBe(401);
  const shown = await sim.text('401, refused');
  expect(shown).toContain('signature: the signature does not match');
  expect(await ask(url)).toBe(200);
  expect(await sim.text('"amount": 1.10')).toContain('authentic: secret, signature and time are right');
}, 30_000);

test('the option --register makes an endpoint with the same secret every time, disabled while it is stopped', async () => {
  const first = await receiver('--register');
  const statusOf = async () =>
    JSON.parse(await sandbox.sim(`endpoints get ${first.endpoint_uuid} --output json`)).status;
  await sandbox.sim('trigger KYC/FULL_USER');
  const arrival = await running?.item<{ verdict: { authentic: boolean } }>(
    'a webhook',
    (item) => 'verdict' in item,
  );
  expect(arrival?.verdict.authentic).toBe(true);
  expect(await statusOf()).toBe('active');
  await running?.stop();
  expect(await statusOf()).toBe('disabled');
  expect(await receiver('--register')).toEqual(first);
  const both = await simHere(['receiver', '--register', '--secret', SECRET], sandbox.access);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('leave --secret out')]);
}, 60_000);
