/** POST /merchant/webhook-endpoints: the created record, and the refusals with their codes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const valid = { url: 'https://hooks.merchant.com/a', description: 'd' };
const create = (json: unknown, headers = {}) => api.call('POST', ENDPOINTS, { json, headers });

describe('POST /merchant/webhook-endpoints', () => {
  test('answers with the record, the secret and its location, and a later GET never shows the secret', async () => {
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
      prepared_secret_hint: null,
      secret_prepared_at: null,
      newest_check: null,
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

  test('stores the secret that it showed, sealed with the key ring', async () => {
    const made = await createEndpoint(api);
    const stored = await api.store.endpoints.get(api.merchantId, made.uuid);
    expect(stored && api.keyRing.open(stored.secret, made.uuid)).toBe(made.signing_secret);
  });

  test('stores and shows the URL in its canonical form', async () => {
    const made = await createEndpoint(api, { url: 'https://HOOKS.Merchant.com:443/Päth' });
    expect(made.url).toBe('https://hooks.merchant.com/P%C3%A4th');
  });

  test('removes duplicates from the filter and keeps its order', async () => {
    const made = await createEndpoint(api, { subscribed_events: ['KYC', 'AML', 'KYC'] });
    expect(made.subscribed_events).toEqual(['KYC', 'AML']);
    expect((await createEndpoint(api, { subscribed_events: [...EVENT_TYPES] })).subscribed_events).toEqual(
      EVENT_TYPES,
    );
  });

  test('creates a disabled endpoint, whose answer and record say so', async () => {
    const json = { ...valid, url: 'https://hooks.merchant.com/later', status: 'disabled' };
    const made = await create(json);
    expect([made.status, made.body]).toEqual([
      201,
      expect.objectContaining({
        status: 'disabled',
        disabled_reason: 'manual',
        disabled_at: expect.any(String),
      }),
    ]);
    const { signing_secret: _, ...record } = made.body;
    expect((await api.call('GET', `${ENDPOINTS}/${made.body.uuid}`)).body).toEqual(record);
    expect((await create({ ...json, status: 'auto_disabled' })).status).toBe(400);
  });

  test('takes the version from the body, else from API-Version, else the latest', async () => {
    expect((await createEndpoint(api, { api_version: '2.2.8' })).api_version).toBe('2.2.8');
    const header = { 'api-version': '2.2.8' };
    const byHeader = await create({ ...valid, url: 'https://hooks.merchant.com/by-header' }, header);
    expect(byHeader.body.api_version).toBe('2.2.8');
    const both = { ...valid, url: 'https://hooks.merchant.com/both', api_version: '2.3.8' };
    expect((await create(both, header)).body.api_version).toBe('2.3.8');
  });

  test('takes a description of at most 255 characters, counted as people count them', async () => {
    expect((await createEndpoint(api, { description: '😀'.repeat(255) })).description).toBe('😀'.repeat(255));
    const over = await create({ ...valid, description: '😀'.repeat(256) });
    expect(over.body.errors).toEqual([
      expect.objectContaining({ pointer: '/description', code: 'too_long' }),
    ]);
  });
});

test('a create refuses a filter that can never match its version, and warns of types that are not sent', async () => {
  const json = { url: 'https://hooks.merchant.com/filter', description: 'A filter', api_version: '2.2.8' };
  const create = (filter: readonly string[]) =>
    api.call('POST', ENDPOINTS, { json: { ...json, subscribed_events: filter } });
  const never = await create(['AML']);
  expect([never.status, never.body.code]).toEqual([422, 'type_not_in_api_version']);
  const some = await create(['AML', 'KYC']);
  expect([some.status, some.body.subscribed_events]).toEqual([201, ['AML', 'KYC']]);
  expect(some.body.warnings).toMatchObject([{ code: 'type_not_in_api_version' }]);
});

describe('POST /merchant/webhook-endpoints with an invalid body', () => {
  test.each([
    ['nothing', {}, ['/url required', '/description required']],
    ['no description', { url: valid.url }, ['/description required']],
    ['url null', { ...valid, url: null }, ['/url invalid_type']],
    ['url a number', { ...valid, url: 5 }, ['/url invalid_type']],
    ['description an object', { ...valid, description: {} }, ['/description invalid_type']],
    ['a filter that is no list', { ...valid, subscribed_events: 'KYC' }, ['/subscribed_events invalid_type']],
    ['an unknown property', { ...valid, colour: 'red' }, ['/colour unknown_field']],
    ['a secret of their own', { ...valid, signing_secret: 'x' }, ['/signing_secret unknown_field']],
    ['a uuid of their own', { ...valid, uuid: 'x' }, ['/uuid unknown_field']],
    ['a status that only hookrail gives', { ...valid, status: 'auto_disabled' }, ['/status invalid_enum']],
    ['an array', [valid], [' invalid_type']],
    ['an unpaired surrogate', { ...valid, description: '\ud83d' }, ['/description invalid_format']],
  ])('answers 400 to %s', async (_what, json, expected) => {
    const answer = await create(json);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('validation_error');
    const found = answer.body.errors.map((e: { pointer: string; code: string }) => `${e.pointer} ${e.code}`);
    expect(found.sort()).toEqual([...expected].sort());
  });

  test('refuses __proto__ as a property like any other', async () => {
    const raw = '{"url":"https://hooks.merchant.com/p","description":"d","__proto__":{"status":"disabled"}}';
    const answer = await api.call('POST', ENDPOINTS, { raw });
    expect(answer.body.errors[0]).toMatchObject({ pointer: '/__proto__', code: 'unknown_field' });
  });

  test('has its own code for an unknown event type, and lists the known ones', async () => {
    const answer = await create({ ...valid, subscribed_events: ['KYC', 'kyc'] });
    expect([answer.status, answer.body.code]).toEqual([400, 'unknown_event_type']);
    expect(answer.body.errors[0].pointer).toBe('/subscribed_events/1');
    for (const type of EVENT_TYPES) expect(answer.body.detail).toContain(type);
  });

  test('refuses an empty filter, which would receive nothing', async () => {
    expect((await create({ ...valid, subscribed_events: [] })).body.code).toBe('empty_filter');
  });

  test('refuses an unknown version in the header or the body', async () => {
    expect((await create(valid, { 'api-version': '1.0' })).body.code).toBe('unsupported_api_version');
    expect((await create({ ...valid, api_version: '9' })).body.code).toBe('unsupported_api_version');
  });

  test('answers validation_error when a fault with its own code comes with other faults', async () => {
    const answer = await create({ url: valid.url, subscribed_events: ['nope'] });
    expect(answer.body.code).toBe('validation_error');
    expect(answer.body.errors.map((e: { code: string }) => e.code).sort()).toEqual([
      'required',
      'unknown_event_type',
    ]);
  });

  test('refuses a URL that is not https', async () => {
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

describe('POST /merchant/webhook-endpoints with a URL that is not allowed or taken', () => {
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
  ])('names in errors[0] the rule that %s breaks', async (url, ...rules) => {
    const answer = await create({ ...valid, url });
    expect([answer.status, answer.body.code]).toEqual([422, 'url_not_allowed']);
    expect(rules).toContain(answer.body.errors[0].code);
  });

  test('refuses a URL that an endpoint has already, however it is written', async () => {
    const url = 'https://hooks.merchant.com/once';
    const first = await create({ ...valid, url });
    const again = await create({ ...valid, url: 'https://hooks.MERCHANT.com:443/once' });
    expect([again.status, again.body.code]).toEqual([409, 'url_already_registered']);
    expect(again.body.existing_uuid).toBe(first.body.uuid);
    const foreign = await api.call('POST', ENDPOINTS, { json: { ...valid, url }, key: api.keys.foreign });
    expect(foreign.status).toBe(201);
  });

  test('refuses more endpoints than the operator allows a merchant', async () => {
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
