/**
 * The endpoints of listeners that do not run are in nobody's way: lists leave them out, and `listen --forget` deletes
 * them.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { eventually } from '../../support/eventually.ts';
import { type ListenSandbox, startListenSandbox } from '../support/listen-sandbox.ts';
import { runSim } from '../support/running-sim.ts';

const ADDRESSES = ['localhost:3001', 'localhost:3002/hook', 'localhost:3003'];
let sandbox: ListenSandbox;

beforeAll(async () => {
  sandbox = await startListenSandbox();
  for (const address of ADDRESSES) await sandbox.sim(`listen --forward-to ${address} --print-secret`);
}, 90_000);
afterAll(() => sandbox?.close());

const listed = (command: string) => sandbox.sim(`${command} list`);
const kept = () => readdirSync(join(sandbox.folder, 'listeners'));

async function accepted(): Promise<string> {
  const [sent] = JSON.parse(await sandbox.sim('trigger KYC/FULL_USER --output json'));
  const id: string = sent.event_uuid.slice(0, 8);
  return eventually('the event is listed', async () => {
    const lines = (await listed('events')).split('\n');
    return lines.find((line) => line.includes(id));
  });
}

test('the line of an event that only they could have had says so, and scripts see each of them', async () => {
  expect(await accepted()).toMatch(/KYC\/FULL_USER +only listeners that do not run$/);
  const [event] = JSON.parse(await sandbox.sim('events list --output json'));
  expect(event.endpoints).toHaveLength(ADDRESSES.length);
  expect((await sandbox.sim('events list --verdict endpoint_disabled')).match(/- listen →/g)).toHaveLength(3);
});

test('beside an endpoint of the developer they are not named', async () => {
  await sandbox.sim('endpoints create --url https://localhost:9/ --description mine');
  expect(await accepted()).toMatch(/KYC\/FULL_USER +→ mine$/);
  expect(await sandbox.sim('trigger KYB/ACTIVE')).not.toContain('localhost:3001');
});

test('--forget with an address deletes that one, without an address all that do not run, and never another endpoint', async () => {
  expect(await sandbox.sim('listen --forget --forward-to localhost:3002/hook')).toBe(
    'forgotten: listen → http://localhost:3002/hook\n',
  );
  expect(kept()).toHaveLength(2);
  const running = runSim(['listen', '--forward-to', 'localhost:3003'], sandbox.access);
  try {
    await running.text('ready');
    const refused = await runSim(['listen', '--forget', '--forward-to', 'localhost:3003'], sandbox.access)
      .finished;
    expect([refused.code, refused.stderr]).toEqual([
      EXIT.usage,
      expect.stringContaining('another sim listen forwards to http://localhost:3003/ already'),
    ]);
    expect(await sandbox.sim('listen --forget')).toBe('forgotten: listen → http://localhost:3001/\n');
  } finally {
    await running.stop();
  }
  expect(await sandbox.sim('listen --forget')).toBe('forgotten: listen → http://localhost:3003/\n');
  expect(await sandbox.sim('listen --forget')).toBe('no endpoint of sim listen is disabled\n');
  expect(kept()).toEqual([]);
  expect(await listed('endpoints')).toContain('mine');
}, 60_000);
