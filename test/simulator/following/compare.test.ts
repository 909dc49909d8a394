/** Guarantee: one command shows events as both versions of the API write them, and marks every difference. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { eventually } from '../../support/eventually.ts';
import { simHere } from '../support/command-line.ts';
import { type SandboxService, startSandboxService } from '../support/sandbox-service.ts';

let service: SandboxService;
beforeAll(async () => {
  service = await startSandboxService();
});
afterAll(() => service?.stop());

const sim = (...line: readonly string[]) => simHere(line, service.operatorAccess);

async function compared(...line: readonly string[]) {
  const { code, stdout, stderr } = await sim('events', 'compare', ...line, '--output', 'json');
  expect([code, stderr]).toEqual([EXIT.ok, '']);
  return JSON.parse(stdout);
}

/** Sends events, and waits until the newest of them is listed. */
async function send(...events: readonly (readonly string[])[]): Promise<void> {
  for (const event of events) expect((await sim('trigger', ...event, '--wait', '0s')).code).toBe(EXIT.ok);
  const last = events.at(-1)?.[0];
  await eventually('the last one is listed', async () => {
    const [first] = await compared('--last', '1');
    return `${first?.type}/${first?.subType}` === last;
  });
}

test('nothing to compare is said, with what helps', async () => {
  const { code, stdout, stderr } = await sim('events', 'compare');
  expect([code, stdout]).toEqual([EXIT.ok, '']);
  expect(stderr).toContain('hookrail sim trigger fiatToCrypto/SUCCESS');
  expect(await compared()).toEqual([]);
});

test('each difference is marked, the newest event first, on a screen and for scripts', async () => {
  await send(
    ['serviceBankAccount/statusUpdate', '--set', 'data.status=ACTIVE'],
    ['serviceBankAccount/statusUpdate', '--set', 'data.status=WAITING_CREATION'],
    ['KYC/SUSPENDED'],
    ['walletCreated/CREATED'],
    ['fiatToCrypto/SUCCESS'],
  );
  const events = await compared();
  expect(events.map(({ type, result }: Record<string, string>) => `${type} ${result}`)).toEqual([
    'fiatToCrypto different',
    'walletCreated only_newer',
    'KYC only_newer',
    'serviceBankAccount different',
    'serviceBankAccount same',
  ]);
  expect(events[3].differences).toEqual([
    { path: 'data.status', '2.2.8': '"PENDING"', '2.3.8': '"WAITING_CREATION"' },
  ]);
  const { stdout } = await sim('events', 'compare');
  expect(stdout).toMatch(/\+ +data\.senderDetails\.senderName +none +"/);
  expect(stdout).toMatch(/≠ +data\.status +"PENDING" +"WAITING_CREATION"/);
  expect(stdout).toContain('only in 2.3.8: 2.2.8 does not have the subType SUSPENDED');
  expect(stdout).toContain('only in 2.3.8: 2.2.8 does not have the type walletCreated');
  expect(stdout).toMatch(/both versions have the same body: \d+ fields/);
  expect(stdout, 'what is the same is left out').not.toContain('data.transactionUuid');
  const whole = await sim('events', 'compare', '--last', '1', '--all');
  expect(whole.stdout).toMatch(/= +data\.transactionUuid +the same +"/);
  expect((await compared('--type', 'KYC')).length).toBe(1);
});

test('events are named by id, or digits of it, and those of a subject are chosen', async () => {
  const [first, second] = await compared('--last', '2');
  const named = await compared(first.event_uuid, second.event_uuid.slice(0, 8));
  expect(named).toEqual([first, second]);
  const wrong = await sim('events', 'compare', '--last', '0');
  expect([wrong.code, wrong.stdout]).toEqual([EXIT.usage, '']);
  expect(wrong.stderr).toContain('--last must be a whole number from 1 to 100');
});
