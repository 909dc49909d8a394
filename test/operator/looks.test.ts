/**
 * Guarantee: an operator finds what became of any merchant's events, and sees a body only by an explicit look that the
 * audit has. In production whoever changes something or looks at personal data gives a name.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventToJson } from '../../services/codec/events.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import { eventOf, jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const ENTITY = 'a7c1f9a0-0000-4000-8000-00000000abcd';
let setup: ServiceSetup;
let hookrail: Hookrail;
let endpointId: string;
let secret: string;
const eventId = crypto.randomUUID();

const where = () => besides(setup.environment, hookrail);
const operator = (...argv: string[]) => runTool(where(), ...argv);
const json = (...argv: string[]) => toolAnswer(where(), ...argv);

beforeAll(async () => {
  setup = await prepareSetup();
  hookrail = await startHookrail({ ...setup.environment, HOOKRAIL_LOG_LEVEL: 'silent' });
  const merchant = new MerchantClient(setup, () => ({ apiUrl: hookrail.apiUrl ?? '' }));
  // Nothing listens there, so the delivery fails.
  const made = await merchant.createEndpoint('https://localhost:9/hooks');
  endpointId = made.uuid;
  secret = made.signing_secret;
  const event = jsonEventOf(setup.merchantId, 'looked-at', { eventId, entityId: ENTITY });
  await merchant.publish([event]);
  await eventually('an attempt has failed', async () => {
    const found = await hookrail.store?.lists.deliveries(setup.merchantId, { status: 'failed', limit: 1 });
    return found?.records.length === 1;
  });
  await json('merchants', 'create', '--name', 'Another');
}, 60_000);
afterAll(async () => {
  await hookrail?.stop();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

describe('an operator who knows no merchant', () => {
  it('lists deliveries, events and endpoints of all, and narrows them', async () => {
    const [delivery] = (await json('deliveries', 'list')).items;
    expect(delivery).toMatchObject({ merchantId: setup.merchantId, endpointId, eventId, status: 'failed' });
    for (const [line, count] of [
      ['deliveries list --status failed', 1],
      ['deliveries list --status delivered', 0],
      [`deliveries list --endpoint ${endpointId} --since 1h`, 1],
      ['deliveries list --until 1h', 0],
      [`deliveries list --entity ${ENTITY}`, 1],
      [`deliveries list --transaction ${crypto.randomUUID()}`, 0],
      [`events list --subject ${delivery.subjectId} --type ${delivery.type}`, 1],
      [`events list --merchant ${setup.merchantId}`, 1],
      ['endpoints list --failing', 1],
      ['endpoints list --status disabled', 0],
    ] as const)
      expect([line, (await json(...line.split(' '))).items.length]).toEqual([line, count]);
    const text = (await operator('deliveries', 'list')).out;
    expect(text).toMatch(/^createdAt +status +type/);
    expect(text).toContain(delivery.deliveryId);
    const unknown = await operator('deliveries', 'list', '--merchant', 'nobody');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('merchants list')]);
    const cursor = await operator('events', 'list', '--after', 'x');
    expect([cursor.code, cursor.err]).toEqual([2, expect.stringContaining('after: must be a cursor')]);
  });

  it('goes from page to page', async () => {
    await json('merchants', 'create', '--name', 'Pages');
    const second = new MerchantClient(setup, () => ({ apiUrl: hookrail.apiUrl ?? '' }));
    await second.createEndpoint('https://localhost:10/hooks', { status: 'disabled' });
    const first = await operator('endpoints', 'list', '--limit', '1');
    const [, cursor = ''] = /^older ones: --after (\S+)$/m.exec(first.out) ?? [];
    const rest = await json('endpoints', 'list', '--limit', '1', '--after', cursor);
    expect(rest).toMatchObject({ items: [{ endpointId }], next: null });
  });

  it('finds a delivery, an event and an endpoint by their ids alone, and never sees a secret', async () => {
    const [{ deliveryId }] = (await json('deliveries', 'list')).items;
    const delivery = await json('deliveries', 'get', deliveryId);
    expect(delivery).toMatchObject({ merchantId: setup.merchantId, endpointId, status: 'failed' });
    expect(delivery.explanation).toMatch(/^Owed/);
    expect(delivery.attempts[0]).toMatchObject({ number: 1, failureCode: expect.any(String) });
    expect(await json('events', 'get', eventId.toUpperCase())).toMatchObject({
      merchantId: setup.merchantId,
    });
    const endpoint = await json('endpoints', 'get', endpointId);
    expect(endpoint).toMatchObject({ merchantId: setup.merchantId, failureCount: expect.any(Number) });
    const shown = [delivery, endpoint, (await operator('endpoints', 'list')).out];
    expect(JSON.stringify(shown)).not.toContain(secret.slice(8, -4));
    for (const line of ['deliveries get', 'events get', 'endpoints get', 'story', 'merchants get']) {
      const { code, err } = await operator(...line.split(' '), crypto.randomUUID());
      expect([line, code, err.split('\n').length]).toEqual([line, 1, 1]);
    }
  });

  it('sees no body without --body; with it the audit has who looked at what', async () => {
    const [{ deliveryId }] = (await json('deliveries', 'list')).items;
    for (const [line, id, action] of [
      ['deliveries get', deliveryId, 'delivery.show'],
      ['events get', eventId, 'event.show'],
    ] as const) {
      const argv = [...line.split(' '), id];
      const plain = await json(...argv);
      expect(Object.keys(plain)).not.toContain('body');
      const [before] = await json('audit', 'list', '--limit', '1');
      const looked = await json(...argv, '--body', '--as', 'Ann');
      expect(JSON.parse(looked.body)).toEqual(expect.any(Object));
      const [newest, previous] = await json('audit', 'list', '--limit', '2');
      expect(newest).toMatchObject({ action, person: 'Ann', merchantId: setup.merchantId });
      expect(Object.values(newest.details)).toContain(id);
      expect(previous).toEqual(before);
      expect((await operator(...argv, '--body')).out).toMatch(/\nbody:\n\{\n {2}"/);
    }
  });

  it('reads the story of an entity, whoever its merchant is', async () => {
    const [story, ...others] = await json('story', ENTITY);
    expect(others).toEqual([]);
    expect(story).toMatchObject({ merchantId: setup.merchantId, kind: 'entity' });
    expect(story.events).toMatchObject([{ eventId, endpoints: [{ endpointId, outcome: 'owed' }] }]);
    const { out } = await operator('story', ENTITY, '--merchant', setup.merchantId);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(`of merchant ${setup.merchantId}`);
    expect(out).toContain('  owed at ');
    expect(out.split('\n').filter((line) => line.length > 80 && /\S \S/.test(line))).toEqual([]);
  });

  it('finds what is in quarantine by each of its ids, and its story says why nothing was sent', async () => {
    const unknown = crypto.randomUUID();
    const event = eventOf(unknown, 'unrouted');
    const client = new MerchantClient(setup, () => ({ apiUrl: hookrail.apiUrl ?? '' }));
    await client.publish([eventToJson(event)]);
    await eventually('it is in quarantine', async () => (await json('quarantine', 'list')).length === 1);
    const { transactionUuid } = event.data as { readonly transactionUuid: string };
    for (const id of [event.eventId, event.entityId, transactionUuid]) {
      const says = expect.stringMatching(/in quarantine since \S+: There is no such merchant/);
      expect(await json('find', id)).toEqual([{ kind: 'quarantined', id, merchantId: unknown, says }]);
      const [story, ...others] = await json('story', id);
      expect(others).toEqual([]);
      expect(story).toMatchObject({ merchantId: unknown, events: [], endpoints: [] });
      expect(story.quarantine).toMatchObject({
        searched: 'all',
        events: [{ eventId: event.eventId, reason: 'unknown_merchant' }],
      });
      expect(await json('quarantine', 'list', '--about', id)).toHaveLength(1);
    }
    const { out } = await operator('story', transactionUuid);
    expect(out.replaceAll(/\s+/g, ' ')).toContain('in quarantine: There is no such merchant: ');
    expect(await json('quarantine', 'list', '--about', ENTITY)).toEqual([]);
    const elsewhere = await operator('story', transactionUuid, '--merchant', setup.merchantId);
    expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringContaining('the log has no event')]);
  });

  it('sees a merchant at a glance', async () => {
    await json('merchants', 'pause', setup.merchantId);
    const merchant = await json('merchants', 'get', setup.merchantId);
    expect(merchant).toMatchObject({
      state: 'paused',
      owed: 1,
      held: 1,
      endpoints: { active: 1, disabled: 1, auto_disabled: 0, failing: 1 },
      lastEvent: eventId,
    });
    expect(Date.now() - Date.parse(merchant.stateSince)).toBeLessThan(60_000);
    expect(merchant.keys).toHaveLength(1);
    await json('merchants', 'resume', setup.merchantId);
  });
});

describe('in production', () => {
  const live = () => ({ ...setup.environment, HOOKRAIL_ENVIRONMENT: 'production', HOOKRAIL_OPS_PORT: '1' });
  let production: Hookrail;
  let port = '1';
  beforeAll(async () => {
    await hookrail.stop();
    const { HOOKRAIL_EXTRA_CA_FILE: _, HOOKRAIL_EGRESS_ALLOW: __, ...rest } = setup.environment;
    setup = { ...setup, environment: rest };
    production = await startHookrail({
      ...rest,
      HOOKRAIL_ENVIRONMENT: 'production',
      HOOKRAIL_LOG_LEVEL: 'silent',
    });
    port = new URL(production.operationsUrl).port;
  }, 60_000);
  afterAll(() => production?.stop());

  it.each([
    ['a tool that knows the environment', () => ({ ...live(), HOOKRAIL_OPS_PORT: port })],
    // Its variables are the sandbox's: the service itself refuses.
    ['a tool that does not', () => ({ ...setup.environment, HOOKRAIL_OPS_PORT: port })],
  ])('%s changes and shows nothing personal without a name, and reads the rest', async (_, environment) => {
    for (const line of ['merchants create --name X', `events get ${eventId} --body`, 'quarantine show 1']) {
      const { code, err, out } = await runTool(environment(), ...line.split(' '));
      expect([line, code, out]).toEqual([line, 2, '']);
      expect(err).toContain('--as <your name>, or set HOOKRAIL_OPERATOR');
    }
    expect((await runTool(environment(), 'events', 'get', eventId)).code).toBe(0);
    expect((await runTool(environment(), 'merchants', 'list')).code).toBe(0);
    const named = { ...environment(), HOOKRAIL_OPERATOR: 'Bob' };
    expect((await runTool(named, 'events', 'get', eventId, '--body')).code).toBe(0);
    const made = await runTool(environment(), 'merchants', 'create', '--name', 'X', '--as', 'Ann');
    expect([made.code, made.err]).toEqual([0, '']);
    const [newest, before] = await toolAnswer(environment(), 'audit', 'list', '--limit', '2');
    expect([newest.person, before.person]).toEqual(['Ann', 'Bob']);
  });

  it('a command of the tool itself needs a name too', async () => {
    const { code, err } = await runTool(live(), 'keyring', 'add');
    expect([code, err]).toEqual([2, expect.stringContaining('keyring add changes something')]);
  });
});
