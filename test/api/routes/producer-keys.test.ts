/**
 * A producer's key publishes in its environment only, and only the types and merchants of its lists; every event names
 * the key that published it, and no merchant sees which. The same with two apis on one PostgreSQL.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiKeyHint, hashApiKey, newApiKey } from '../../../services/domain/api-key.ts';
import { Directory } from '../../../services/domain/directory.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { fanOut } from '../../../services/router/fan-out.ts';
import type { PublishRights } from '../../../services/store/store.ts';
import {
  createEndpoint,
  onDatabase,
  startTestApi,
  type TestApi,
  type TestApiOptions,
} from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { jsonEventOf } from '../../support/records/events.ts';

const KYC = { type: 'KYC', subType: 'FULL_USER' } as const;
const ACTOR = { kind: 'operator', person: 'ann' } as const;

let api: TestApi;

/** Creates a producer's key in the store and returns it with its id. */
async function aKey(
  rights: PublishRights = {},
  text = newApiKey('producer', 'sandbox', systemRandom.bytes(32)),
) {
  const keyId = systemRandom.uuid();
  await api.store.keys.create({
    ...{ keyId, kind: 'producer', merchantId: null, hash: hashApiKey(text), hint: apiKeyHint(text) },
    ...{ name: null, createdAt: Date.now(), revokedAt: null, lastUsedAt: null },
    ...rights,
  });
  return { keyId, key: text };
}

const publish = (json: unknown, key: string) => api.call('POST', '/producer/events', { json, key });
const change = (keyId: string, rights: Parameters<TestApi['store']['keys']['setRights']>[1]) =>
  api.store.keys.setRights(keyId, rights, { at: Date.now(), actor: ACTOR });

function suite(start: (options: TestApiOptions) => Promise<TestApi>): void {
  beforeAll(async () => {
    api = await start({});
    const directory = new Directory();
    await api.broker.followDirectory((each) => void directory.apply(each));
    await api.broker.events.consume(
      (received) => fanOut(received, { directory, acceptsSimulated: true, now: Date.now() }),
      { inFlightMax: 100 },
    );
    await api.broker.journal.consume(
      async (batch) => api.store.log.applyJournal([batch]),
      async (partition) => api.store.log.positionOf(partition),
      { batchMax: 100 },
    );
  });
  afterAll(() => api.close());
  environments();
  lists();
  publishers();
}

function environments(): void {
  test('a key of the other environment is refused with a reason that says so', async () => {
    const { key } = await aKey({}, newApiKey('producer', 'production', systemRandom.bytes(32)));
    const answer = await publish(jsonEventOf(api.merchantId, 'live'), key);
    expect([answer.status, answer.body.code]).toEqual([401, 'api_key_environment_mismatch']);
    expect(answer.body.detail).toContain('the key is for production');
  });
}

function lists(): void {
  test('an event of a type outside the list is refused by 403, which names it and who can change that', async () => {
    const { key } = await aKey({ types: ['KYC', 'AML'] });
    expect((await publish(jsonEventOf(api.merchantId, 'kyc', KYC), key)).status).toBe(202);
    const answer = await publish(jsonEventOf(api.merchantId, 'money'), key);
    expect([answer.status, answer.body.code]).toEqual([403, 'publish_not_allowed']);
    expect(answer.body.detail).toContain('fiatToCrypto');
    expect(answer.body.detail).toContain('operator keys set');
    expect(answer.body.errors).toEqual([
      { pointer: '/type', code: 'not_allowed', detail: expect.stringContaining('KYC, AML') },
    ]);
  });

  test('an event of a merchant outside the list is refused by 403, whether hookrail has that merchant or not', async () => {
    const { key } = await aKey({ merchants: [api.merchantId] });
    expect((await publish(jsonEventOf(api.merchantId, 'mine'), key)).status).toBe(202);
    for (const merchant of [api.foreignMerchantId, systemRandom.uuid(), api.merchantId.toUpperCase()]) {
      const answer = await publish(jsonEventOf(merchant, 'theirs'), key);
      expect([answer.status, answer.body.code]).toEqual([403, 'publish_not_allowed']);
      expect(answer.body.errors[0].pointer).toBe('/header/merchantId');
      expect(answer.body.detail).toContain(merchant);
    }
  });

  test('one event outside the lists refuses the request, each of them is named, and nothing is accepted', async () => {
    const { key } = await aKey({ types: ['KYC'], merchants: [api.merchantId] });
    const good = jsonEventOf(api.merchantId, 'good', { ...KYC, eventId: systemRandom.uuid() });
    const money = jsonEventOf(api.merchantId, 'bad type');
    const both = jsonEventOf(api.foreignMerchantId, 'bad both');
    const answer = await publish([good, money, both], key);
    expect(answer.status).toBe(403);
    expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/1/type',
      '/2/type',
      '/2/header/merchantId',
    ]);
    expect((await publish([good], key)).body).toMatchObject({ accepted: 1, duplicates: 0 });
    const many = await publish(
      Array.from({ length: 500 }, (_, n) => jsonEventOf(api.foreignMerchantId, `many ${n}`)),
      key,
    );
    expect([many.status, many.body.errors.length]).toEqual([403, 100]);
  });

  test.each([
    ['another letter case', 'kyc'],
    ['a Cyrillic letter', 'KY\u0421'],
    ['letters of full width', '\uff2b\uff39\uff23'],
    ['a zero-width space', 'KYC\u200b'],
    ['a space', 'KYC '],
    ['the name of a method', 'constructor'],
  ])('a type with %s is no event type, whatever the list has', async (_what, type) => {
    const { key } = await aKey({ types: ['KYC'] });
    const event = { ...jsonEventOf(api.merchantId, 'alike', KYC), type };
    const answer = await publish(event, key);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/type']);
  });

  test('a change of the lists is in force from the next request on, at every api', async () => {
    const { key, keyId } = await aKey();
    const statuses = async () => {
      const event = () => jsonEventOf(api.merchantId, 'changing', { eventId: systemRandom.uuid() });
      const all = await Promise.all([1, 2, 3, 4].map(() => publish(event(), key)));
      return [...new Set(all.map(({ status }) => status))];
    };
    expect(await statuses()).toEqual([202]);
    for (const [rights, status] of [
      [{ types: ['KYC'] }, 403],
      [{ types: ['KYC', 'fiatToCrypto'] }, 202],
      [{ merchants: [api.foreignMerchantId] }, 403],
      [{ merchants: null }, 202],
      [{ types: [] }, 403],
      [{ types: null }, 202],
    ] as const) {
      await change(keyId, rights);
      expect(await statuses()).toEqual([status]);
    }
  });
}

function publishers(): void {
  test('an event in the log names the key that published it, the first one if it was published again', async () => {
    const [first, second] = [await aKey(), await aKey()];
    const event = jsonEventOf(api.merchantId, 'twice', { eventId: systemRandom.uuid() });
    const { eventId } = event.header;
    expect((await publish(event, first.key)).body).toMatchObject({ accepted: 1 });
    expect((await publish([event], second.key)).body).toMatchObject({ duplicates: 1, quarantined: 0 });
    const found = await eventually('the event is in the log', () =>
      api.store.log.event(api.merchantId, eventId),
    );
    expect(found.event.publishedBy).toBe(first.keyId);
  });

  test('a quarantined event names its key', async () => {
    const { key, keyId } = await aKey();
    const stranger = jsonEventOf(systemRandom.uuid(), 'stranger', { eventId: systemRandom.uuid() });
    expect((await publish(stranger, key)).body.quarantined).toBe(1);
    const matches = ({ eventId }: { eventId: string | null }) => eventId === stranger.header.eventId;
    const [kept] = await api.broker.quarantine.list({ limit: 1, matches });
    expect(kept?.record.publishedBy).toBe(keyId);
  });

  test('the line of the request has the ids of the key and of the events', async () => {
    const { key, keyId } = await aKey({ types: ['KYC'] });
    const events = Array.from({ length: 30 }, () =>
      jsonEventOf(api.merchantId, 'logged', { ...KYC, eventId: systemRandom.uuid() }),
    );
    const ids = events.map(({ header }) => header.eventId);
    const answers = [
      await publish(events, key),
      await publish([jsonEventOf(api.merchantId, 'logged money', { eventId: ids[0] ?? '' })], key),
    ];
    const lines = await eventually('both lines', () => {
      const found = api.logged.map((line) => JSON.parse(line)).filter((line) => line.key_id === keyId);
      return found.length === 2 ? found : null;
    });
    expect(answers.map(({ status }) => status)).toEqual([202, 403]);
    expect(lines[0]).toMatchObject({ events: 30, event_ids: ids.slice(0, 20) });
    expect(lines[1]).toMatchObject({ events: 1, event_ids: [ids[0]], code: 'publish_not_allowed' });
  });

  test('no merchant sees the id of the key, in no list, log or stream', async () => {
    const { key, keyId } = await aKey();
    const { uuid } = await createEndpoint(api);
    await eventually('the endpoint is in force', () => api.directory.merchant(api.merchantId));
    const event = jsonEventOf(api.merchantId, 'seen', { eventId: systemRandom.uuid() });
    const { eventId } = event.header;
    await publish(event, key);
    await eventually('the event is in the log', () => api.store.log.event(api.merchantId, eventId));
    const answers = await Promise.all(
      [
        `/merchant/events/${eventId}`,
        '/merchant/events?limit=100',
        '/merchant/deliveries',
        `/merchant/webhook-endpoints/${uuid}`,
        `/merchant/webhook-endpoints/${uuid}/deliveries`,
      ].map((path) => api.call('GET', path)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { entries } = await api.store.feed.read(api.merchantId, { after: '0', limit: 1000 });
    const all = [...answers.map(({ text }) => text), JSON.stringify(entries)].join('\n');
    expect(all).toContain(eventId);
    expect(all).not.toContain(keyId);
  });
}

describe('producer keys', () => suite(startTestApi));

await describeWithPostgres('producer keys, with two apis on one PostgreSQL,', (createDatabase) =>
  suite(onDatabase(createDatabase)),
);
