/**
 * Every URL of the list of hostile ones gets its verdict when an endpoint is created with it, moved to it, or set as
 * the single webhook.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../support/api/test-api.ts';
import inputs from '../support/ssrf-inputs.json' with { type: 'json' };

let api: TestApi;
let moving: { uuid: string; url: string };
beforeAll(async () => {
  api = await startTestApi({ endpointQuota: 1000 });
  moving = await createEndpoint(api);
});
afterAll(() => api.close());

const secret = 'chosen-by-the-merchant';
const WAYS = {
  'at create': (url: string) => api.call('POST', ENDPOINTS, { json: { url, description: 'd' } }),
  'at update': (url: string) => api.call('PATCH', `${ENDPOINTS}/${moving.uuid}`, { json: { url } }),
  'as the single URL': async (url: string) => {
    // No endpoint may have the same one.
    const json = { url: 'https://hooks.merchant.com/elsewhere' };
    await api.call('PATCH', `${ENDPOINTS}/${moving.uuid}`, { json });
    return api.call('PATCH', '/merchant', { json: { webhook_url: url, webhook_secret: secret } });
  },
} as const;

/** What is in force after the request, however it was answered. */
const IN_FORCE = {
  'at create': async (url: string) => {
    const { data } = (await api.call('GET', `${ENDPOINTS}?limit=1`)).body;
    return data[0]?.url === url;
  },
  'at update': async (url: string) => (await api.call('GET', `${ENDPOINTS}/${moving.uuid}`)).body.url === url,
  'as the single URL': async (url: string) => (await api.call('GET', '/merchant')).body.webhook_url === url,
} as const;

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('an endpoint URL %s', (way) => {
  test.each(inputs)('has the verdict $expected: $url ($class)', async ({ url, expected }) => {
    const answer = await WAYS[way](url);
    // A name that leads to a bad address may be stored: the connection is refused (test/sender/http/address-guard.test.ts).
    if (expected === 'ACCEPT' || expected === 'BLOCK-AT-DIAL') {
      expect([answer.status, answer.body.code]).toEqual([way === 'at create' ? 201 : 200, undefined]);
      expect(await IN_FORCE[way](new URL(url).href)).toBe(true);
      // So that the next way of writing the same URL is judged by itself.
      if (way === 'at create') await api.call('DELETE', `${ENDPOINTS}/${answer.body.uuid}`);
      return;
    }
    // U+0000 is refused in every text, before anything is read as a URL.
    const codes = url.includes('\0') ? ['validation_error'] : ['url_scheme_not_https', 'url_not_allowed'];
    expect(codes).toContain(answer.body.code);
    expect(answer.status).toBe(answer.body.code === 'url_not_allowed' ? 422 : 400);
    expect(answer.body.errors[0].pointer).toBe(way === 'as the single URL' ? '/webhook_url' : '/url');
    expect(await IN_FORCE[way](url)).toBe(false);
  });
});
