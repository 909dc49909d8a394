/** A producer's commands: what became of an event, and what would become of one that is not published. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { itemsHere, simHere } from '../support/command-line.ts';
import { type SandboxService, startSandboxService } from '../support/sandbox-service.ts';

let sandbox: SandboxService;
let access: Record<string, string>;

beforeAll(async () => {
  sandbox = await startSandboxService();
  access = { ...sandbox.access };
  await sandbox.register('checkout');
  await sandbox.register('aml', {}, ['--events', 'AML']);
}, 60_000);
afterAll(() => sandbox?.stop());

const type = (line: string, given = access) => simHere(line.split(' '), given, 80);

async function publish(json: unknown): Promise<number> {
  const answer = await fetch(`${access.HOOKRAIL_BASE_URL}/producer/events`, {
    method: 'POST',
    headers: {
      authorization: `API-Key ${access.HOOKRAIL_PRODUCER_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(json),
  });
  return answer.status;
}

/** An event of the sandbox's merchant, which is published after a moment; returns its id. */
function publishSoon(merchantId: string, name: string): string {
  const event = jsonEventOf(merchantId, name, { type: 'KYC', subType: 'FULL_USER' });
  setTimeout(() => void publish(event), 400);
  return event.header.eventId;
}

test('a status that is waited for says when the event is routed, to how many endpoints, and names none', async () => {
  const id = publishSoon(access.HOOKRAIL_MERCHANT_ID ?? '', 'awaited');
  const { code, stdout, stderr } = await type(`events status ${id} --wait 20s`);
  expect([code, stderr]).toEqual([EXIT.ok, expect.stringContaining('waiting until the event is routed')]);
  expect(stdout).toMatch(new RegExp(`^.*routed.*  ${id}\n`));
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'The event was routed to 1 endpoint; 1 endpoint did not want it or could not get it.',
  );
  expect(stdout).toMatch(/\naccepted \S+Z, routed \S+Z\n$/);
  expect(stdout).not.toContain('127.0.0.1');
  const [json] = (await itemsHere(`events status ${id.toUpperCase()}`, access)).items;
  expect(json).toMatchObject({ event_id: id, status: 'routed', endpoints: { routed: 1, skipped: 1 } });
});

test('an event in quarantine is told with the reason and what to do; waited for, it ends with 1', async () => {
  const id = publishSoon(`nobody-${randomUUID()}`, 'kept');
  const awaited = await type(`events status ${id} --wait 20s`);
  expect([awaited.code, awaited.stderr]).toEqual([
    EXIT.expectation,
    expect.stringMatching(/the event is in quarantine[\s\S]*hookrail operator quarantine list/),
  ]);
  expect(awaited.stdout).toMatch(/There is no such merchant.* \(unknown_merchant, since\s+\S+Z\)/);
  expect(awaited.stdout).toMatch(/→ Correct header\.merchantId/);
  expect((await type(`events status ${id}`)).code).toBe(EXIT.ok);
});

test('an id that the key knows nothing of is refused, also after a wait, with what helps', async () => {
  for (const line of ['', ' --wait 300ms']) {
    const { code, stdout, stderr } = await type(`events status ${randomUUID()}${line}`);
    expect([code, stdout]).toEqual([EXIT.api, '']);
    expect(stderr).toContain('No event with this id');
    expect(stderr).toContain('publish it again under the same id');
    expect(stderr).not.toContain('the merchant has no such event');
  }
  const short = await type('events status 4701aacf');
  expect([short.code, short.stderr]).toEqual([EXIT.usage, expect.stringContaining('whole header.eventId')]);
  const keyless = await type(`events status ${randomUUID()}`, { ...access, HOOKRAIL_PRODUCER_KEY: '' });
  expect([keyless.code, keyless.stderr]).toEqual([
    EXIT.authentication,
    expect.stringContaining('producer key'),
  ]);
});

test('a check says what would become of an event, and publishes nothing', async () => {
  const checked = await itemsHere('trigger KYC/FULL_USER --check --count 2', access);
  expect(checked.items).toMatchObject([
    { status: 'accepted', endpoints: { routed: 1, skipped: 1 } },
    { status: 'accepted', endpoints: { routed: 1, skipped: 1 } },
  ]);
  for (const { event_id } of checked.items)
    expect((await type(`events status ${event_id}`)).code).toBe(EXIT.api);
  const told = await type('trigger KYC/FULL_USER --check');
  expect([told.code, told.stdout]).toEqual([EXIT.ok, expect.stringContaining('would be accepted')]);
  expect(told.stdout.replaceAll(/\s+/g, ' ')).toMatch(/to 1 endpoint .*1 endpoint would not get it/);
  const nobody = await type(`trigger KYC/FULL_USER --check --merchant ${randomUUID()}`);
  expect(nobody.code).toBe(EXIT.expectation);
  expect(nobody.stdout).toMatch(/would be quarantined[\s\S]*unknown_merchant[\s\S]*→ Correct/);
  expect(nobody.stderr).toContain('the event would be put into quarantine');
});

test.each(['--dry-run', '--sink kafka', '--wait 5s'])('a check is refused beside %s', async (option) => {
  const { code, stderr } = await type(`trigger KYC/FULL_USER --check ${option}`);
  expect([code, stderr]).toEqual([
    EXIT.usage,
    expect.stringContaining(`--check and ${option.replace(' 5s', '')}`),
  ]);
});
