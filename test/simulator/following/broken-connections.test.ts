/**
 * Guarantee: a command goes on when a connection breaks while it awaits a response. It repeats requests that only read,
 * and those that publish events, whose ids keep them from a second delivery. It repeats none that could take effect twice.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { itemsHere } from '../support/command-line.ts';
import { type LimitedApi, startLimitedApi } from '../support/limited-api.ts';
import { type Registered, type SandboxService, startSandboxService } from '../support/sandbox-service.ts';

let sandbox: SandboxService;
let front: LimitedApi;
let access: Record<string, string>;
let checkout: Registered;

beforeAll(async () => {
  sandbox = await startSandboxService({ HOOKRAIL_RETRY_SCALE: '10' });
  front = await startLimitedApi(sandbox.hookrail.apiUrl);
  access = { ...sandbox.access, HOOKRAIL_BASE_URL: front.url };
  checkout = await sandbox.register('checkout');
}, 60_000);

afterAll(async () => {
  await front?.close();
  await sandbox?.stop();
});

const type = (line: string) => itemsHere(line, access);

test('an event is published again under its id, and delivered once', async () => {
  const before = checkout.receiver.arrivals.length;
  front.cutNext('POST /producer/events');
  const { code, items, stderr } = await type('trigger KYC/FULL_USER --wait 20s');
  expect(code, stderr).toBe(EXIT.ok);
  expect(items.filter(({ kind }) => kind === 'attempt')).toHaveLength(1);
  expect(checkout.receiver.arrivals).toHaveLength(before + 1);
});

test.each(['endpoints list', 'deliveries list', 'whoami', 'events list'])(
  'a request that only reads is repeated: %s',
  async (line) => {
    front.cutNext('GET /');
    const { code, stderr } = await type(line);
    expect(code, stderr).toBe(EXIT.ok);
  },
);

test('a wait goes on while look-ups break again and again', async () => {
  front.cutNext('GET /merchant/events', 6);
  const { code, stderr } = await type('trigger KYC/FULL_USER --wait 30s');
  expect(code, stderr).toBe(EXIT.ok);
}, 60_000);

test.each([
  ['POST /merchant/webhook-endpoints', 'endpoints create https://hooks.example.com/a'],
  ['PATCH /merchant/webhook-endpoints', 'endpoints disable checkout'],
  ['POST /merchant/webhook-endpoints/', 'endpoints test checkout'],
])('a request that could take effect twice is not repeated: %s', async (request, line) => {
  front.cutNext(request);
  const { code, stderr } = await type(line);
  expect(code, stderr).toBe(EXIT.unreachable);
  expect(JSON.parse(stderr).error.message).toMatch(/broke .* may have been carried out/);
  const sent = front.requests.slice(-3).filter((each) => each.startsWith(request));
  expect(sent).toHaveLength(1);
});
