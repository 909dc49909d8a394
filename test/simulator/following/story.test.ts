/**
 * Guarantee: "why did I not get the webhook for transaction X?" is answered by one command, for every reason that there is,
 * with what helps.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { eventually } from '../../support/eventually.ts';
import { eventOf } from '../../support/records/events.ts';
import { simHere } from '../support/command-line.ts';
import { type SandboxService, startSandboxService } from '../support/sandbox-service.ts';

let service: SandboxService;
beforeAll(async () => {
  service = await startSandboxService();
});
afterAll(() => service?.stop());

const sim = (...line: readonly string[]) => simHere(line, service.operatorAccess);

async function json(...line: readonly string[]) {
  const { stdout, stderr } = await sim(...line, '--output', 'json');
  if (stdout === '') throw new Error(`${line.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Sends the beginning of a transaction, and returns the transaction's id. */
async function transaction(event = 'fiatToCrypto/PENDING'): Promise<string> {
  const before = new Set((await events()).map(({ event_uuid }) => event_uuid));
  await sim('trigger', event, '--wait', '0s');
  let id = '';
  await eventually('the event is routed', async () => {
    const made = (await events()).find(({ event_uuid }) => !before.has(event_uuid));
    id = made?.subject_uuid ?? '';
    return made !== undefined;
  });
  return id;
}

const events = (): Promise<{ event_uuid: string; subject_uuid: string }[]> =>
  json('events', 'list', '--limit', '1000');

/** Waits until the story says something of an endpoint, and returns what it says on the screen. */
async function story(id: string, ...expected: readonly RegExp[]): Promise<string> {
  let text = '';
  await eventually(
    `the story of ${id} says ${expected.join(', ')}`,
    async () => {
      const { code, stdout } = await sim('story', id);
      text = stdout.replaceAll(/\s+/g, ' ');
      return code === EXIT.ok && expected.every((each) => each.test(text));
    },
    15_000,
  ).catch((error: Error) => {
    throw new Error(`${error.message}; it says: ${text}`);
  });
  return text;
}

test('before there is an endpoint, the story says so', async () => {
  const id = await transaction();
  await story(id, /there was no endpoint when the event was accepted.*Create one/);
});

test('an endpoint that does not take the type, is disabled, or has an older version is told with what helps', async () => {
  await service.register('only KYC', {}, ['--events', 'KYC']);
  const disabled = await service.register('switched off');
  await sim('endpoints', 'disable', disabled.uuid);
  await service.register('old version', {}, ['--api-version', '2.2.8']);
  await service.register('fine');
  const id = await transaction();
  const text = await story(id, /fine: Delivered at \S+ by attempt 1: the receiver answered 200/);
  expect(text).toMatch(/only KYC: Not sent: the endpoint's subscribed_events did not have this type/);
  expect(text).toMatch(/switched off: Not sent: the endpoint was disabled\. Enable it .* bring back/);
  expect(text).toMatch(/old version: Not sent: the API version of the endpoint does not have this subType/);
  expect(text).toMatch(/PENDING; next may be IN_PROGRESS, ON_HOLD, FAILED/);
  await story(
    await transaction('walletCreated/CREATED'),
    /old version: Not sent: .* does not have this type/,
  );
});

test('a receiver that fails, that is gone, and one that was disabled since are told apart', async () => {
  const failing = await service.register('failing', { behaviour: '500' });
  const id = await transaction();
  await story(id, /failing: Owed: attempt 2 of 7 is due at \S+\. Attempt 1: http_5xx \(HTTP 500\)/);
  await sim('endpoints', 'disable', failing.uuid);
  expect((await sim('clock', 'advance', '10s')).code).toBe(EXIT.ok);
  await story(id, /failing: Not sent any more: the endpoint was disabled before it arrived\. Enable it/);
  const gone = await service.register('gone', { behaviour: '410' });
  const refused = await transaction();
  await story(refused, /gone: Not sent any more: Attempt 1: endpoint_gone \(HTTP 410\).*Enable the endpoint/);
  await eventually('the endpoint is disabled', async () => {
    const [found] = [await json('endpoints', 'get', gone.uuid)].flat();
    return found.status === 'auto_disabled';
  });
  await story(await transaction(), /gone: Not sent: hookrail had disabled the endpoint/);
});

test('a delivery that has used all its attempts, and what a resend makes of it', async () => {
  const worn = await service.register('worn out', { behaviour: '500' });
  const id = await transaction();
  await story(id, /worn out: Owed: attempt 2 of 7/);
  expect((await sim('clock', 'advance', '24h')).code).toBe(EXIT.ok);
  await story(id, /worn out: Not sent any more: all 7 attempts failed\. Attempt 7: http_5xx/);
  const list = await json('deliveries', 'list', '--transaction', id, '--endpoint', worn.uuid);
  expect(list).toHaveLength(1);
  worn.receiver.setBehaviour('ok');
  await sim('deliveries', 'resend', list[0].delivery_uuid, '--wait', '0s');
  await story(id, /worn out: Delivered at \S+ by attempt 1/);
  // From the id of the event and of a delivery too.
  const whole = await json('story', id);
  for (const from of [list[0].event_uuid, list[0].delivery_uuid])
    expect((await json('story', from)).subject_uuid).toBe(whole.subject_uuid);
});

test('an event in quarantine is told with why and what the platform has to do, from each of its ids', async () => {
  const occurredAt = Date.now() + 90 * 86_400_000;
  const event = eventOf(service.access.HOOKRAIL_MERCHANT_ID ?? '', 'in-quarantine', { occurredAt });
  const refusals = new Map([[event, 'schema_violation' as const]]);
  await service.hookrail.broker.publishEvents([event], { refusals });
  const { eventId } = event;
  const transaction = String(event.data.transactionUuid);
  const says =
    /\(quarantined\).*✗ Not sent: the event went into quarantine at \S+ The event breaks a rule: \/header\/occurredAt .*Your platform has to correct the event, and publish it under a new id; ask it with event id/;
  for (const id of [transaction, eventId]) await story(id, /none of its events was routed/, says);
  expect((await sim('lookup', eventId)).stdout).toMatch(/event\s+The event \S+ that is in quarantine since/);
  const { code, stderr } = await sim('events', 'get', eventId);
  expect([code, stderr]).toEqual([
    EXIT.api,
    expect.stringMatching(new RegExp(`in quarantine since.*hookrail sim story ${transaction}`, 's')),
  ]);
});

test('an id that hookrail does not know is told with what to compare', async () => {
  const { code, stderr } = await sim('story', randomUUID());
  expect(code).toBe(EXIT.api);
  expect(stderr).toMatch(/No event about it was accepted for you in this environment.*ask the platform/s);
});

test('any id is told with the command that shows it, also where another kind was looked for', async () => {
  const id = await transaction();
  const [listed] = await json('events', 'list', '--transaction', id);
  const kinds: readonly [string, RegExp][] = [
    [id, /transaction\s+A transaction; its newest event is fiatToCrypto\/PENDING/],
    [listed.event_uuid, /event\s+The event fiatToCrypto\/PENDING of/],
    [listed.entity_uuid, /entity\s+A user; the newest event about it/],
  ];
  for (const [each, says] of kinds) expect((await sim('lookup', each)).stdout).toMatch(says);
  const wrong = await sim('events', 'get', id);
  expect([wrong.code, wrong.stderr]).toEqual([
    EXIT.api,
    expect.stringMatching(new RegExp(`${id} is a transaction, not an event.*sim story ${id}`, 's')),
  ]);
  expect((await sim('deliveries', 'get', listed.event_uuid)).stderr).toMatch(/is an event, not a delivery/);
});
