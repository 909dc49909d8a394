/** POST /merchant/webhook-endpoints: what is made, what is refused and with which code. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const valid = { url: 'https://hooks.merchant.com/a', description: 'd' };
const create = (json: unknown, headers = {}) => api.call('POST', ENDPOINTS, { json, headers });

describe('what is made', () => {
  test('the answer has the record, the secret and where it is; reading it again never shows the secret', async () => {
    const url = 'https://hooks.merchant.com/first';
    const made = await create({ url, description: 'First' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      url,
      description: 'First',
      subscribed_events: null,
      status: 'active',
      api_version: '2.3.8',
      environment: 'sandbox',
      failure_count: 0,
      secret_rotated_at: null,
      disabled_at: null,
      last_failure: null,
    });
    expect(made.body.signing_secret).toMatch(/^whsec_/);
    expect(made.headers.get('location')).toBe(`${ENDPOINTS}/${made.body.uuid}`);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const { signing_secret: secret, ...record } = made.body;
    const read = await api.call('GET', `${ENDPOINTS}/${made.body.uuid}`);
    expect(read.body).toEqual(record);
    expect(secret.endsWith(record.secret_hint.slice(1).padEnd(5, '='))).toBe(true);
    const list = await api.call('GET', ENDPOINTS);
    expect(list.text).not.toContain('whsec_');
  });

  test('the stored secret opens with the key ring and is the one that was shown', async () => {
    const made = await createEndpoint(api);
    const stored = await api.store.endpoints.get(api.merchantId, made.uuid);
    expect(stored && api.keyRing.open(stored.secret, made.uuid)).toBe(made.signing_secret);
  });

  test('the URL is stored and shown in its canonical form', async () => {
    const made = await createEndpoint(api, { url: 'https://HOOKS.Merchant.com:443/Päth' });
    expect(made.url).toBe('https://hooks.merchant.com/P%C3%A4th');
  });

  test('a filter folds duplicates and keeps its order', async () => {
    const made = await createEndpoint(api, { subscribed_events: ['KYC', 'AML', 'KYC'] });
    expect(made.subscribed_events).toEqual(['KYC', 'AML']);
    expect((await createEndpoint(api, { subscribed_events: [...EVENT_TYPES] })).subscribed_events).toEqual(
      EVENT_TYPES,
    );
  });

  test('the version comes from the body, else from API-Version, else it is the latest', async () => {
    expect((await createEndpoint(api, { api_version: '2.2.8' })).api_version).toBe('2.2.8');
    const header = { 'api-version': '2.2.8' };
    const byHeader = await create({ ...valid, url: 'https://hooks.merchant.com/by-header' }, header);
    expect(byHeader.body.api_version).toBe('2.2.8');
    const both = { ...valid, url: 'https://hooks.merchant.com/both', api_version: '2.3.8' };
    expect((await create(both, header)).body.api_version).toBe('2.3.8');
  });

  test('a description has at most 255 characters, counted as people count them', async () => {
    expect((await createEndpoint(api, { description: '😀'.repeat(255) })).description).toBe('😀'.repeat(255));
    const over = await create({ ...valid, description: '😀'.repeat(256) });
    expect(over.body.errors).toEqual([
      expect.objectContaining({ pointer: '/description', code: 'too_long' }),
    ]);
  });
});

describe('400: does not match the description', () => {
  test.each([
    ['nothing', {}, ['/url required', '/description required']],
    ['no description', { url: valid.url }, ['/description required']],
    ['url null', { ...valid, url: null }, ['/url invalid_type']],
    ['url a number', { ...valid, url: 5 }, ['/url invalid_type']],
    ['description an object', { ...valid, description: {} }, ['/description invalid_type']],
    ['a filter that is no list', { ...valid, subscribed_events: 'KYC' }, ['/subscribed_events invalid_type']],
    ['a null filter', { ...valid, subscribed_events: null }, ['/subscribed_events invalid_type']],
    ['an unknown property', { ...valid, colour: 'red' }, ['/colour unknown_field']],
    ['a secret of their own', { ...valid, signing_secret: 'x' }, ['/signing_secret unknown_field']],
    ['a uuid of their own', { ...valid, uuid: 'x' }, ['/uuid unknown_field']],
    ['a status', { ...valid, status: 'active' }, ['/status unknown_field']],
    ['an array', [valid], [' invalid_type']],
    ['half a surrogate pair', { ...valid, description: '\ud83d' }, ['/description invalid_format']],
  ])('%s', async (_what, json, expected) => {
    const answer = await create(json);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('validation_error');
    const found = answer.body.errors.map((e: { pointer: string; code: string }) => `${e.pointer} ${e.code}`);
    expect(found.sort()).toEqual([...expected].sort());
  });

  test('__proto__ is a property like any other: refused', async () => {
    const raw = '{"url":"https://hooks.merchant.com/p","description":"d","__proto__":{"status":"disabled"}}';
    const answer = await api.call('POST', ENDPOINTS, { raw });
    expect(answer.body.errors[0]).toMatchObject({ pointer: '/__proto__', code: 'unknown_field' });
  });

  test('an unknown event type has a code of its own, and the detail lists the known ones', async () => {
    const answer = await create({ ...valid, subscribed_events: ['KYC', 'kyc'] });
    expect([answer.status, answer.body.code]).toEqual([400, 'unknown_event_type']);
    expect(answer.body.errors[0].pointer).toBe('/subscribed_events/1');
    for (const type of EVENT_TYPES) expect(answer.body.detail).toContain(type);
  });

  test('an empty filter would receive nothing: refused', async () => {
    expect((await create({ ...valid, subscribed_events: [] })).body.code).toBe('empty_filter');
  });

  test('an unknown version, in the header or the body', async () => {
    expect((await create(valid, { 'api-version': '1.0' })).body.code).toBe('unsupported_api_version');
    expect((await create({ ...valid, api_version: '9' })).body.code).toBe('unsupported_api_version');
  });

  test('a code of its own yields to other faults', async () => {
    const answer = await create({ url: valid.url, subscribed_events: ['nope'] });
    expect(answer.body.code).toBe('validation_error');
    expect(answer.body.errors.map((e: { code: string }) => e.code).sort()).toEqual([
      'required',
      'unknown_event_type',
    ]);
  });

  test('not https', async () => {
    for (const url of [
      'http://hooks.merchant.com/',
      'ftp://hooks.merchant.com',
      'hooks.merchant.com',
      '',
      'HTTPS://x.com',
    ]) {
      const answer = await create({ ...valid, url });
      expect([url, answer.status, answer.body.code]).toEqual([url, 400, 'url_scheme_not_https']);
    }
  });
});

describe('409 and 422', () => {
  test.each([
    ['https://localhost/', 'single_label', 'reserved_name'],
    ['https://10.0.0.1/', 'address_literal'],
    ['https://[::1]/', 'address_literal'],
    ['https://hooks.internal/', 'reserved_name'],
    ['https://user:pass@hooks.merchant.com/', 'userinfo'],
    ['https://hooks.merchant.com/#x', 'fragment'],
    ['https://hooks.merchant.com:22/', 'port'],
    ['https://hooks.merchant.com/a b', 'forbidden_character'],
    [`https://hooks.merchant.com/${'a'.repeat(2048)}`, 'length'],
  ])('%s breaks a rule that errors[0] names', async (url, ...rules) => {
    const answer = await create({ ...valid, url });
    expect([answer.status, answer.body.code]).toEqual([422, 'url_not_allowed']);
    expect(rules).toContain(answer.body.errors[0].code);
  });

  test('one URL, one endpoint: however it is written', async () => {
    const url = 'https://hooks.merchant.com/once';
    const first = await create({ ...valid, url });
    const again = await create({ ...valid, url: 'https://hooks.MERCHANT.com:443/once' });
    expect([again.status, again.body.code]).toEqual([409, 'url_already_registered']);
    expect(again.body.existing_uuid).toBe(first.body.uuid);
    const foreign = await api.call('POST', ENDPOINTS, { json: { ...valid, url }, key: api.keys.foreign });
    expect(foreign.status).toBe(201);
  });

  test('a merchant has at most as many endpoints as the operator allows', async () => {
    const small = await startTestApi({ endpointQuota: 2 });
    try {
      await createEndpoint(small);
      const second = await createEndpoint(small);
      const third = await small.call('POST', ENDPOINTS, { json: valid });
      expect([third.status, third.body.code]).toEqual([409, 'endpoint_quota_exceeded']);
      await small.call('DELETE', `${ENDPOINTS}/${second.uuid}`);
      expect((await small.call('POST', ENDPOINTS, { json: valid })).status).toBe(201);
    } finally {
      await small.close();
    }
  });
});
