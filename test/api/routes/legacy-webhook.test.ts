/** GET and PATCH /merchant: the single webhook of API 2.2.8, with a secret that the merchant chose. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Directory } from '../../../services/domain/directory.ts';
import {
  type Answer,
  createEndpoint,
  ENDPOINTS,
  startTestApi,
  type TestApi,
} from '../../support/api/test-api.ts';

const QUOTA = 3;
let api: TestApi;
const directory = new Directory();
beforeAll(async () => {
  api = await startTestApi({ endpointQuota: QUOTA });
  await api.broker.followDirectory((change) => void directory.apply(change));
});
afterAll(() => api.close());

const url = 'https://hooks.merchant.com/single';
const secret = 'chosen-by-the-merchant';
const patch = (json: unknown, key = api.keys.own) => api.call('PATCH', '/merchant', { json, key });
const get = (key = api.keys.own) => api.call('GET', '/merchant', { key });
const NOTHING = { webhook_url: null, webhook_secret_hint: null, webhook_endpoint: null };

beforeEach(async () => {
  expect((await patch({ webhook_url: null })).status).toBe(200);
});

describe('the single webhook of a merchant', () => {
  test('does not exist until both parts are given', async () => {
    expect((await get()).body).toEqual(NOTHING);
    for (const json of [{ webhook_url: url }, { webhook_secret: secret }]) {
      const answer = await patch(json);
      expect([answer.status, answer.body.code]).toEqual([422, 'legacy_webhook_incomplete']);
      expect((await get()).body).toEqual(NOTHING);
    }
  });

  test('is an active endpoint of version 2.2.8 with every type, on the stream before the answer', async () => {
    const { status, body } = await patch({ webhook_url: url, webhook_secret: secret });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      webhook_url: url,
      webhook_secret_hint: '…hant',
      webhook_endpoint: {
        url,
        status: 'active',
        api_version: '2.2.8',
        subscribed_events: null,
        environment: 'sandbox',
        legacy: true,
      },
    });
    const onStream = directory.endpoint(body.webhook_endpoint.uuid);
    expect(onStream).toMatchObject({ url, legacy: true, apiVersion: '2.2.8', status: 'active' });
    expect(onStream && api.keyRing.open(onStream.secret, onStream.uuid)).toBe(secret);
    expect((await get()).body).toEqual(body);
  });

  test('has each part changed alone, or both in one step', async () => {
    const made = (await patch({ webhook_url: url, webhook_secret: secret })).body.webhook_endpoint;
    const opened = () => {
      const endpoint = directory.endpoint(made.uuid);
      return endpoint && [endpoint.url, api.keyRing.open(endpoint.secret, made.uuid)];
    };
    const moved = await patch({ webhook_url: `${url}/b` });
    expect(moved.body).toMatchObject({ webhook_url: `${url}/b`, webhook_secret_hint: '…hant' });
    expect(opened()).toEqual([`${url}/b`, secret]);
    const rotated = await patch({ webhook_secret: 'another-one-of-mine!' });
    expect(rotated.body).toMatchObject({ webhook_url: `${url}/b`, webhook_secret_hint: '…ine!' });
    expect(rotated.body.webhook_endpoint.secret_rotated_at).not.toBeNull();
    expect(opened()).toEqual([`${url}/b`, 'another-one-of-mine!']);
    const before = directory.endpoint(made.uuid)?.version ?? 0;
    await patch({ webhook_url: url, webhook_secret: secret });
    expect(opened()).toEqual([url, secret]);
    // One version, so no attempt can see the one without the other.
    expect(directory.endpoint(made.uuid)?.version).toBe(before + 1);
  });

  test('gives the same answer to the same request, except for the time', async () => {
    const first = (await patch({ webhook_url: url, webhook_secret: secret })).body;
    const again = (await patch({ webhook_url: url, webhook_secret: secret })).body;
    const { updated_at: _1, secret_rotated_at: _2, ...record } = first.webhook_endpoint;
    expect(again.webhook_endpoint).toMatchObject(record);
  });

  test.each([
    ['the URL', { webhook_url: null }],
    ['the secret', { webhook_secret: null }],
    ['both', { webhook_url: null, webhook_secret: null }],
  ])('is removed by null for %s, and a later one has a higher version', async (_what, json) => {
    const { uuid } = (await patch({ webhook_url: url, webhook_secret: secret })).body.webhook_endpoint;
    const version = directory.endpoint(uuid)?.version ?? 0;
    const removed = await patch(json);
    expect([removed.status, removed.body]).toEqual([200, NOTHING]);
    expect(directory.endpoint(uuid)).toBeUndefined();
    expect((await patch(json)).body).toEqual(NOTHING);
    const again = (await patch({ webhook_url: url, webhook_secret: secret })).body.webhook_endpoint;
    expect(again).toMatchObject({ uuid, failure_count: 0, secret_rotated_at: null });
    expect(directory.endpoint(uuid)?.version).toBeGreaterThan(version + 1);
  });

  test('holds the whole of one request after many concurrent ones', async () => {
    const wishes = Array.from({ length: 8 }, (_, n) => ({
      webhook_url: `${url}/${n}`,
      webhook_secret: `secret-of-number-${n}`,
    }));
    const answers = await Promise.all(wishes.map((wish) => patch(wish)));
    expect(answers.map(({ status }) => status)).toEqual(wishes.map(() => 200));
    const { body } = await get();
    const endpoint = directory.endpoint(body.webhook_endpoint.uuid);
    const opened = endpoint && api.keyRing.open(endpoint.secret, endpoint.uuid);
    expect({ webhook_url: body.webhook_url, webhook_secret: opened }).toEqual(
      wishes.find((wish) => wish.webhook_url === body.webhook_url),
    );
  });
});

describe('the single webhook beside managed endpoints', () => {
  test('cannot have the URL of one of them, nor they its URL', async () => {
    const managed = await createEndpoint(api, { url: `${url}/managed` });
    const takenBy = (uuid: string) => [409, 'url_already_registered', uuid];
    const seen = ({ status, body }: Answer) => [status, body.code, body.existing_uuid];
    const both = { webhook_url: managed.url, webhook_secret: secret };
    expect(seen(await patch(both))).toEqual(takenBy(managed.uuid));
    expect((await get()).body).toEqual(NOTHING);
    const single = (await patch({ webhook_url: url, webhook_secret: secret })).body.webhook_endpoint;
    expect(seen(await patch({ webhook_url: managed.url }))).toEqual(takenBy(managed.uuid));
    const description = 'The same receiver';
    const create = await api.call('POST', ENDPOINTS, { json: { url, description } });
    expect(seen(create)).toEqual(takenBy(single.uuid));
    // Written in another way it is the same URL.
    const spelt = 'https://HOOKS.merchant.com:443/single';
    const update = await api.call('PATCH', `${ENDPOINTS}/${managed.uuid}`, { json: { url: spelt } });
    expect(seen(update)).toEqual(takenBy(single.uuid));
    expect((await patch({ webhook_url: url })).status).toBe(200);
    await patch({ webhook_url: null });
    await api.call('DELETE', `${ENDPOINTS}/${managed.uuid}`);
    expect((await patch(both)).status).toBe(200);
  });

  test('is neither listed nor counted', async () => {
    const managed = await createEndpoint(api);
    expect((await patch({ webhook_url: url, webhook_secret: secret })).status).toBe(200);
    const list = (await api.call('GET', ENDPOINTS)).body.data;
    expect(list.map(({ uuid }: { uuid: string }) => uuid)).toEqual([managed.uuid]);
    expect(managed).not.toHaveProperty('legacy');
    for (let more = 1; more < QUOTA; more += 1) await createEndpoint(api);
    await patch({ webhook_url: null });
    expect((await api.call('GET', `${ENDPOINTS}/${managed.uuid}`)).body.status).toBe('active');
  });

  test('is reached by its uuid like an endpoint, by its own merchant', async () => {
    const made = (await patch({ webhook_url: url, webhook_secret: secret })).body.webhook_endpoint;
    const path = `${ENDPOINTS}/${made.uuid}`;
    expect((await api.call('GET', path)).body).toEqual(made);
    expect((await api.call('GET', `${path}/deliveries`)).body.data).toEqual([]);
    const test = { type: 'KYC', subType: 'FULL_USER', user_uuid: made.uuid };
    expect((await api.call('POST', `${path}/test`, { json: test })).status).toBe(202);
    const filtered = await api.call('PATCH', path, { json: { subscribed_events: ['KYC'] } });
    expect(filtered.body).toMatchObject({ subscribed_events: ['KYC'], legacy: true });
    const rotated = await api.call('PATCH', `${path}/secret`);
    expect((await get()).body.webhook_secret_hint).toBe(rotated.body.secret_hint);
    const foreign = await api.call('GET', path, { key: api.keys.foreign });
    expect(foreign.body.code).toBe('webhook_endpoint_not_found');
    expect((await get(api.keys.foreign)).body).toEqual(NOTHING);
  });

  test('is switched on again when a URL is set, and the answer tells how much was missed', async () => {
    const { uuid } = (await patch({ webhook_url: url, webhook_secret: secret })).body.webhook_endpoint;
    await api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json: { status: 'disabled' } });
    const kept = await patch({ webhook_secret: secret });
    expect(kept.body.webhook_endpoint.status).toBe('disabled');
    const { body } = await patch({ webhook_url: url });
    expect(body.webhook_endpoint.status).toBe('active');
    expect(body.hint).toMatch(/Events since .* replay/);
  });
});

describe('PATCH /merchant', () => {
  test.each([
    ['nothing', {}, 400, 'validation_error', ' empty_update'],
    ['an unknown property', { webhook_uri: url }, 400, 'validation_error', '/webhook_uri unknown_field'],
    ['a number', { webhook_url: 5 }, 400, 'validation_error', '/webhook_url invalid_type'],
    [
      'http',
      { webhook_url: 'http://a.com', webhook_secret: secret },
      400,
      'url_scheme_not_https',
      '/webhook_url https_only',
    ],
    [
      'a private address',
      { webhook_url: 'https://10.0.0.1/', webhook_secret: secret },
      422,
      'url_not_allowed',
      '/webhook_url address_literal',
    ],
    [
      'a short secret',
      { webhook_secret: 'x'.repeat(15) },
      400,
      'validation_error',
      '/webhook_secret too_short',
    ],
    [
      'a long secret',
      { webhook_secret: 'x'.repeat(129) },
      400,
      'validation_error',
      '/webhook_secret too_long',
    ],
    [
      'a secret that repeats itself',
      { webhook_url: url, webhook_secret: 'abababababababab' },
      400,
      'validation_error',
      '/webhook_secret invalid_format',
    ],
    [
      'a secret with a space',
      { webhook_secret: 'with a space in it' },
      400,
      'validation_error',
      '/webhook_secret invalid_format',
    ],
    [
      'a secret that no header carries',
      { webhook_secret: 'line\r\nX-Other: yes!!' },
      400,
      'validation_error',
      '/webhook_secret invalid_format',
    ],
    [
      'a whsec_ secret that holds no key',
      { webhook_url: url, webhook_secret: 'whsec_!!!!!!!!!!!!' },
      400,
      'validation_error',
      '/webhook_secret invalid_format',
    ],
    ['a part and a null', { webhook_url: url, webhook_secret: null }, 422, 'legacy_webhook_incomplete', ''],
  ])('refuses %s', async (_what, json, status, code, field) => {
    const answer = await patch(json);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    const found = (answer.body.errors ?? []).map(
      (e: { pointer: string; code: string }) => `${e.pointer} ${e.code}`,
    );
    expect(found).toEqual(field === '' ? [] : [field]);
  });

  test('shows no secret that was sent in an answer or the log, whether accepted or refused', async () => {
    const sent = ['taken-secret-canary', 'whsec_refused-canary!', 'refused canary with spaces'];
    const answers = [
      await patch({ webhook_url: url, webhook_secret: sent[0] }),
      await patch({ webhook_secret: sent[1] }),
      await patch({ webhook_secret: sent[2] }),
      await get(),
    ];
    const seen = answers.map(({ text }) => text).join() + api.logged.join();
    for (const text of sent) expect(seen).not.toContain(text);
  });
});
