/** Attempts in numbers, and a tail of what is about one thing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { itemsHere, simHere } from '../support/command-line.ts';
import { type SandboxService, startSandboxService } from '../support/sandbox-service.ts';

let sandbox: SandboxService;
let access: SandboxService['access'];
beforeAll(async () => {
  sandbox = await startSandboxService();
  access = sandbox.access;
  await sandbox.register('checkout');
  await sandbox.register('analytics', {}, ['--events', 'fiatToCrypto,KYC']);
}, 60_000);
afterAll(() => sandbox?.stop());

const type = (line: string) => itemsHere(line, access);

test('attempts are counted by time, outcome and endpoint, and an empty period says so', async () => {
  expect((await type('trigger KYC/FULL_USER --wait')).code).toBe(EXIT.ok);
  const [ofAll] = (await type('metrics --since 1h --step 10m')).items;
  expect(ofAll).toMatchObject({ step: 600, by: null, data: [{ name: null }] });
  expect(ofAll.data[0].attempts).toBeGreaterThan(0);
  const told = await simHere(['metrics', '--since', '1h', '--by', 'endpoint'], access);
  expect(told.stdout).toMatch(/^endpoint +attempts +failed +p50 +p99\n/);
  expect(told.stdout).toMatch(/analytics +\d+ +\d+ +\d+ ms +\d+ ms/);
  const byTime = await simHere(['metrics', '--since', '20m'], access);
  expect(byTime.stdout).toMatch(/\nall +\d+ +\d+/);
  const none = await simHere(['metrics', '--since', '1h', '--type', 'otpNotification'], access);
  expect([none.stdout, none.stderr]).toEqual(['', expect.stringMatching(/^nothing was attempted from /)]);
  const refused = await simHere(['metrics', '--step', '7m'], access);
  expect([refused.code, refused.stderr]).toEqual([EXIT.usage, expect.stringContaining('a multiple of 5m')]);
});

test('a tail shows what is about one user or one transaction only', async () => {
  const entity = crypto.randomUUID();
  const deliveries = type(`deliveries tail --since 1h --entity ${entity} --for 8s`);
  const events = type(`events tail --entity ${entity} --for 8s`);
  const none = type(`events tail --transaction ${crypto.randomUUID()} --for 8s`);
  await type('trigger KYC/FULL_USER --wait');
  // The tails are open by the last one at the latest.
  for (let n = 0; n < 3; n += 1) await type(`trigger KYC/FULL_USER --user ${entity} --wait`);
  for (const { code, items } of await Promise.all([deliveries, events])) {
    expect(code).toBe(EXIT.ok);
    expect(items.length).toBeGreaterThan(0);
    expect(items.every((item) => item.entity_uuid === entity)).toBe(true);
  }
  expect((await none).items).toEqual([]);
}, 60_000);
