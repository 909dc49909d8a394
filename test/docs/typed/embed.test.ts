/** Guarantee: the commands of docs/guides/embed.md work as they are typed, one after the other, against a running service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { commandsOf } from '../../support/pages/command-blocks.ts';
import { ANY_PORTS, Terminal } from '../../support/pages/terminal.ts';
import { jsonEventOf } from '../../support/records/events.ts';

const TEST_MS = 240_000;
const MERCHANT = '<merchant id>';

let terminal: Terminal;
let publishTo: (merchantId: string) => Promise<unknown>;
beforeAll(async () => {
  terminal = new Terminal();
  await terminal.start(`${ANY_PORTS} npm start -- --no-demo`, 'Ctrl-C stops it');
  const access = parseEnv(readFileSync(join(terminal.folder, 'data', 'sandbox.env'), 'utf8'));
  terminal.export('HOOKRAIL_BASE_URL', access.HOOKRAIL_BASE_URL as string);
  publishTo = (merchantId) =>
    fetch(`${access.HOOKRAIL_BASE_URL}/producer/events`, {
      method: 'POST',
      headers: {
        authorization: `API-Key ${access.HOOKRAIL_PRODUCER_KEY}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify([jsonEventOf(merchantId, crypto.randomUUID())]),
    });
}, TEST_MS);
afterAll(() => terminal?.close(), TEST_MS);

const json = async (command: string, values?: Record<string, string>) =>
  JSON.parse((await terminal.type(command, values)).stdout);

test('docs/guides/embed.md, from the key of the platform to the end of a merchant', {
  timeout: TEST_MS,
}, async () => {
  const [makeKey = ''] = commandsOf('docs/guides/embed.md', 'A key of the platform');
  const [create = '', list = '', entitle = ''] = commandsOf('docs/guides/embed.md', 'A merchant');
  const [key = '', endpoint = '', keys = ''] = commandsOf('docs/guides/embed.md', 'Its key and its endpoint');
  const [link = ''] = commandsOf('docs/guides/embed.md', 'A link to the console');
  const [pause = '', resume = ''] = commandsOf('docs/guides/embed.md', 'On hold');
  const [count = '', replay = '', progress = ''] = commandsOf('docs/guides/embed.md', 'After an incident');
  const [quarantine = '', show = '', putBack = '', countMany = ''] = commandsOf(
    'docs/guides/embed.md',
    'Quarantine',
  );
  const [close = ''] = commandsOf('docs/guides/embed.md', 'The end');

  const made = await json(`${makeKey} --output json`);
  expect(made.key).toMatch(/^plk_sandbox_/);
  terminal.export('HOOKRAIL_PLATFORM_KEY', made.key);

  const merchant = await json(create);
  expect(await json(create)).toEqual(merchant);
  expect(merchant).toMatchObject({ name: 'Acme', state: 'active', sender_account_details: false });
  expect((await json(list)).data).toContainEqual(merchant);
  const of = { [MERCHANT]: merchant.merchant_id };
  expect(await json(entitle, of)).toMatchObject({ sender_account_details: true });

  const merchantKey = await json(key, of);
  expect(merchantKey.key).toMatch(/^sk_sandbox_/);
  const endpointMade = await json(endpoint, { '<merchant key>': merchantKey.key });
  expect(endpointMade).toMatchObject({ url: 'https://hooks.example.com/acme', status: 'active' });
  expect((await json(keys, of)).data).toEqual([
    expect.objectContaining({ name: 'backend', hint: merchantKey.hint, revoked_at: null }),
  ]);
  expect((await json(link, of)).url).toContain('/console/#link=');
  expect(await json(pause, of)).toMatchObject({ state: 'paused' });
  expect(await json(resume, of)).toMatchObject({ state: 'active' });

  const since = { '<time>': new Date(Date.now() - 3_600_000).toISOString() };
  expect(await json(count, since)).toMatchObject({ dry_run: true, count: 0, merchant_id: null });
  const started = await json(replay, since);
  expect(started).toMatchObject({ merchant_id: null, only: 'missing' });
  await eventually('the replay is completed', async () => {
    const { status } = await json(progress, { '<replay id>': started.replay_uuid });
    return status === 'completed';
  });

  const stranger = crypto.randomUUID();
  await publishTo(stranger);
  const record = await eventually('it is in quarantine', async () => (await json(quarantine)).data[0]);
  expect(record).toMatchObject({ merchant_id: stranger, reason: 'unknown_merchant' });
  const at = { '<quarantine id>': record.quarantine_id };
  expect(await json(show, at)).toMatchObject({
    event: { header: { merchantId: stranger } },
    faults: [{ pointer: '/header/merchantId' }],
  });
  expect(await json(putBack, at)).toMatchObject({ code: 'quarantined_stays' });
  expect(await json(countMany)).toMatchObject({ dry_run: true, replayed: 0, refused: 1 });

  expect(await json(close, of)).toMatchObject({ state: 'closed' });
  const refused = await json(endpoint, { '<merchant key>': merchantKey.key });
  expect(refused.code).toBe('api_key_invalid');
});
