/**
 * Guarantee: the commands of the merchants' guides work as they are typed, one after the other, against a running service:
 * a move from 2.2.8 to 2.3.8 and back, a rotation of a secret, and what follows an outage of one's own.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { secretHint } from '../../../services/domain/secret.ts';
import { eventually } from '../../support/eventually.ts';
import { commandsOf } from '../../support/pages/command-blocks.ts';
import { ANY_PORTS, type RunningCommand, Terminal } from '../../support/pages/terminal.ts';

const TEST_MS = 240_000;
/** After which an event is delivered to an endpoint that was created or enabled, as the guides say. */
const IN_FORCE_MS = 1000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const ID = '<endpoint id>';

let terminal: Terminal;
let receiver: RunningCommand;
let port: string;
beforeAll(async () => {
  terminal = new Terminal();
  await terminal.start(`${ANY_PORTS} npm start -- --no-demo`, 'Ctrl-C stops it');
  const access = parseEnv(readFileSync(join(terminal.folder, 'data', 'sandbox.env'), 'utf8'));
  for (const name of ['HOOKRAIL_BASE_URL', 'HOOKRAIL_API_KEY']) terminal.export(name, access[name] as string);
  port = `${await freePort()}`;
  receiver = await listen();
}, TEST_MS);
afterAll(() => terminal?.close(), TEST_MS);

const listen = (...options: readonly string[]) =>
  terminal.start(['hookrail sim receiver --port', port, ...options].join(' '), 'listening on https://');
const type = async (command: string, values?: Record<string, string>) =>
  (await terminal.type(command, values)).stdout;
const json = async (command: string, values?: Record<string, string>) =>
  JSON.parse(await type(command, values));
const here = (path: string) => `https://localhost:${port}${path}`;
const trigger = (event: string) => type(`hookrail sim trigger ${event} --wait 10s`);
const time = () => new Date().toISOString();

test('docs/guides/move-to-2.3.8.md, there and back', { timeout: TEST_MS }, async () => {
  const [compare = '', compareOne = ''] = commandsOf(
    'docs/guides/move-to-2.3.8.md',
    'See your own events in both versions',
  );
  const [older = '', newer = ''] = commandsOf(
    'docs/guides/move-to-2.3.8.md',
    'See your own events in both versions',
    2,
  );
  const [create = ''] = commandsOf('docs/guides/move-to-2.3.8.md', 'Create the endpoint');
  const [send = ''] = commandsOf('docs/guides/move-to-2.3.8.md', 'Test it');
  const [enable = ''] = commandsOf('docs/guides/move-to-2.3.8.md', 'Let both arrive');
  const [deliveries = ''] = commandsOf('docs/guides/move-to-2.3.8.md', 'Let both arrive', 2);
  const [count = '', replay = ''] = commandsOf('docs/guides/move-to-2.3.8.md', 'Switch');
  const [remove = ''] = commandsOf('docs/guides/move-to-2.3.8.md', 'Remove the old webhook');
  const [back = ''] = commandsOf('docs/guides/move-to-2.3.8.md', 'Go back');

  const before = time();
  const old = { 'https://hooks.example.com/v1': here('/v1'), 'whsec_…': SECRET };
  const { webhook_endpoint: legacy } = await json(back, old);
  expect(legacy.api_version).toBe('2.2.8');
  await setTimeout(IN_FORCE_MS);
  await trigger('fiatToCrypto/SUCCESS');
  expect(await type(compare)).toMatch(/\+ +data\.senderDetails\.senderName +none/);
  const bodies = [await json(older), await json(newer)].map(({ data: [event] }) => event);
  const [first, second] = bodies.map(({ body }) => JSON.parse(body).data);
  expect([first.senderDetails, typeof second.senderDetails]).toEqual([undefined, 'object']);
  const one = { '5c1f1f0e': bodies[0].event_uuid.slice(0, 8) };
  expect(await type(compareOne, one)).toMatch(/= +data\.transactionUuid +the same/);

  const made = await json(create, { 'https://hooks.example.com/v2': here('/v2') });
  expect(made).toMatchObject({ status: 'disabled', api_version: '2.3.8' });
  const at = { [ID]: made.uuid };
  expect(await json(send, at)).toMatchObject({ status: 'delivered' });
  await trigger('KYC/FULL_USER');
  expect(await json(enable, at)).toMatchObject({ status: 'active' });
  await setTimeout(IN_FORCE_MS);
  await trigger('fiatToCrypto/SUCCESS');
  // The same event has arrived in both versions, under one id.
  const [newest] = (await json(deliveries, at)).data;
  expect(newest).toMatchObject({ type: 'fiatToCrypto', status: 'delivered', api_version: '2.3.8' });
  const [same] = (await json(deliveries, { [ID]: legacy.uuid })).data;
  expect(same).toMatchObject({ event_uuid: newest.event_uuid, status: 'delivered', api_version: '2.2.8' });

  const since = { ...at, '<time before the switch>': before };
  const counted = await json(count, since);
  expect(counted).toMatchObject({ dry_run: true });
  expect(counted.count).toBeGreaterThan(1);
  const replayed = await json(replay, since);
  expect(replayed).toMatchObject({ count: counted.count });
  await eventually('what came while it was disabled arrives', async () => {
    const { data } = await json(deliveries, at);
    return data.some((each: Record<string, string>) => each.type === 'KYC' && each.trigger === 'replay');
  });
  expect(await json(remove)).toMatchObject({ webhook_url: null });
  expect(await json(back, old)).toMatchObject({ webhook_url: here('/v1') });
  await json(remove);
  await type(`hookrail sim endpoints delete ${made.uuid}`);
});

test('docs/guides/rotate-a-secret.md, with a response that was lost', { timeout: TEST_MS }, async () => {
  const [list = '', prepare = ''] = commandsOf('docs/guides/rotate-a-secret.md', 'Prepare');
  const [prepareBySim = ''] = commandsOf('docs/guides/rotate-a-secret.md', 'Prepare', 2);
  const [send = '', sendBySim = ''] = commandsOf('docs/guides/rotate-a-secret.md', 'Verify');
  const [rotate = ''] = commandsOf('docs/guides/rotate-a-secret.md', 'Rotate');
  const [rotateBySim = ''] = commandsOf('docs/guides/rotate-a-secret.md', 'Rotate', 2);
  const [failed = ''] = commandsOf('docs/guides/rotate-a-secret.md', 'Rotate', 3);
  const [legacy = ''] = commandsOf('docs/guides/rotate-a-secret.md', 'The webhook of 2.2.8');

  const made = await json(`hookrail sim endpoints create --url ${here('/rotated')} --output json`);
  const [listed] = (await json(list)).data;
  expect(listed.uuid).toBe(made.uuid);
  const at = { [ID]: made.uuid };
  const { signing_secret: secret } = await json(prepare, at);
  expect(secret).toMatch(/^whsec_/);
  expect(secret).not.toBe(made.signing_secret);
  // The response was lost: the same secret again, and no other one.
  expect((await json(prepare, at)).signing_secret).toBe(secret);
  expect(await type(prepareBySim, at)).toContain(secret);
  expect(await json(send, at)).toMatchObject({ status: 'delivered' });
  expect(await type(sendBySim, at)).toContain('200');
  expect((await json(rotate, at)).signing_secret).toBe(secret);
  expect(await type(rotateBySim, at)).toContain(secret);
  const { secret_hint } = await json(`hookrail sim endpoints get ${made.uuid} --output json`);
  expect(secret_hint).toBe(secretHint(secret));
  expect((await json(failed)).data).toEqual([]);

  const register = `hookrail sim endpoints delete ${made.uuid}
    curl -s -X PATCH "$HOOKRAIL_BASE_URL/merchant" -H "Authorization: API-Key $HOOKRAIL_API_KEY" \\
      -H "Content-Type: application/json" -d '{"webhook_url": "${here('/v1')}", "webhook_secret": "${SECRET}"}'`;
  await type(register);
  const other = `whsec_${randomBytes(32).toString('base64')}`;
  const { webhook_secret_hint } = await json(legacy, { 'whsec_…': other });
  expect(webhook_secret_hint).toBe(secretHint(other));
  await type(`${legacy.replace('"webhook_secret": "whsec_…"', '"webhook_url": null')}`);
});

test('docs/guides/after-an-outage.md and docs/guides/why-not-received.md', { timeout: TEST_MS }, async () => {
  const [endpoints = '', metrics = '', failed = '', exhausted = '', skipped = '', story = ''] = commandsOf(
    'docs/guides/after-an-outage.md',
    'See what you missed',
  );
  const [missedBySim = '', metricsBySim = '', storyBySim = ''] = commandsOf(
    'docs/guides/after-an-outage.md',
    'See what you missed',
    2,
  );
  const [enable = ''] = commandsOf('docs/guides/after-an-outage.md', 'Enable the endpoint');
  const [count = '', replay = '', progress = ''] = commandsOf('docs/guides/after-an-outage.md', 'Replay');
  const [countBySim = '', replayBySim = ''] = commandsOf('docs/guides/after-an-outage.md', 'Replay', 2);
  const [why = '', whyBySim = ''] = commandsOf('docs/guides/why-not-received.md', 'Why did I not get it?');

  const { uuid } = await json(`hookrail sim endpoints create --url ${here('/shop')} --output json`);
  await setTimeout(IN_FORCE_MS);
  const began = time();
  await receiver.interrupt();
  receiver = await listen('--behaviour 500');
  // With --wait a trigger that fails ends with 1.
  const fails = (event: string) => type(`hookrail sim trigger ${event} --wait 3s || true`);
  for (let i = 0; i < 3; i += 1) await fails('fiatToCrypto/SUCCESS');
  expect((await json(failed)).data.length).toBe(3);
  await type('hookrail sim clock advance 30h');
  expect((await json(exhausted)).data.length).toBe(3);
  await fails('fiatToCrypto/SUCCESS');
  await eventually('the endpoint is disabled', async () => {
    const [endpoint] = (await json(endpoints)).data;
    return endpoint.status === 'auto_disabled';
  });
  await fails('KYC/FULL_USER');
  const [unsent] = (await json(skipped)).data;
  expect(unsent.type).toBe('KYC');
  expect((await json(metrics)).data).toEqual([expect.objectContaining({ name: 'http_5xx' })]);
  const [{ transaction_uuid: transaction }] = (await json(exhausted)).data;
  const about = { '<transaction id>': transaction };
  for (const command of [story, why]) {
    const { endpoints: told } = await json(command, about);
    expect(told).toEqual([expect.objectContaining({ endpoint_uuid: uuid, not_received: 1 })]);
  }
  expect(await type(missedBySim)).toMatch(/localhost/);
  expect(await type(metricsBySim)).toContain('http_5xx');
  for (const command of [storyBySim, whyBySim])
    expect(await type(command, about)).toContain('Not sent any more: all 7 attempts failed.');

  await receiver.interrupt();
  receiver = await listen();
  const values = { [ID]: uuid, '<time of the outage>': began };
  const enabled = await json(enable, values);
  expect(enabled).toMatchObject({ status: 'active', replay_uuid: expect.any(String) });
  await eventually('nothing is missing', async () => (await json(count, values)).count === 0, 60_000);
  expect(await json(replay, values)).toMatchObject({ count: 0 });
  const followed = await json(progress, { [ID]: uuid, '<replay id>': enabled.replay_uuid });
  expect(followed).toMatchObject({ status: 'completed', count: 5 });
  expect(await type(countBySim, { [ID]: uuid })).toContain('0 events would be sent');
  expect(await type(replayBySim, { [ID]: uuid })).toContain('nothing is missing');
});

test('docs/guides/notices.md, into an endpoint and a channel', { timeout: TEST_MS }, async () => {
  const [create = ''] = commandsOf('docs/guides/notices.md', 'Operational notices');
  const [slack = ''] = commandsOf('docs/guides/notices.md', 'Slack');
  const [sample = ''] = commandsOf('docs/guides/notices.md', 'Try it', 1);
  const [sampleBySim = ''] = commandsOf('docs/guides/notices.md', 'Try it', 2);
  const [rotate = ''] = commandsOf('docs/guides/notices.md', 'Try it', 3);
  const operational = await json(create, { 'https://ops.example.com/hookrail': here('/ops') });
  expect(operational).toMatchObject({ kind: 'operational', format: 'json' });
  const url = 'https://hooks.slack.com/services/T000/B000/XXXX';
  const channel = await json(slack, { [url]: here('/slack') });
  expect(channel).toMatchObject({ kind: 'operational', format: 'slack' });
  expect(await json(sample, { [ID]: channel.uuid })).toMatchObject({ status: 'delivered', warnings: [] });
  expect(await type(sampleBySim, { [ID]: channel.uuid })).toContain('endpoint.disabled/CONSECUTIVE_FAILURES');
  const made = await json(`hookrail sim endpoints create --url ${here('/other')} --output json`);
  await json(rotate, { [ID]: made.uuid });
  for (const { uuid } of [operational, channel])
    await eventually('the notice arrives', async () => {
      const lines = await type(`hookrail sim deliveries list --endpoint ${uuid} --output json`);
      return lines.includes('secret.rotated') && lines.includes('"delivered"');
    });
  for (const { uuid } of [operational, channel, made]) await type(`hookrail sim endpoints delete ${uuid}`);
});
