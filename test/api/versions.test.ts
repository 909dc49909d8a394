/** The header API-Version on every operation, and how the version of an endpoint is chosen. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleBody, operations } from '../support/api/openapi-check.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
let uuid: string;
beforeAll(async () => {
  api = await startTestApi();
  ({ uuid } = await createEndpoint(api));
});
afterAll(() => api.close());

const ofMerchants = operations().filter(({ path }) => path.startsWith('/merchant'));

describe.each(ofMerchants.map((each) => [`${each.method} ${each.path}`, each] as const))(
  '%s',
  (_name, { method, path, operation }) => {
    const filled = () => path.replace('{id}', uuid).replaceAll(/\{\w+\}/g, crypto.randomUUID());
    // A second fault would hide the one that is looked for.
    const json = exampleBody(operation);
    const options = json === undefined ? {} : { json };

    test.each(['2.3', '2.3.9', 'latest', '2.2.8, 2.3.8'])('refuses API-Version: %s', async (version) => {
      const answer = await api.call(method, filled(), { ...options, headers: { 'api-version': version } });
      expect([answer.status, answer.body.code]).toEqual([400, 'unsupported_api_version']);
      expect(answer.body.errors[0].pointer).toBe('/headers/api-version');
      expect(answer.body.detail).toContain('2.3.8 or 2.2.8');
    });
  },
);

describe.each(['2.2.8', '2.3.8'])('the header API-Version: %s', (version) => {
  const headers = { 'api-version': version };

  test('changes no answer, and no version of an existing endpoint', async () => {
    const plain = await api.call('GET', `${ENDPOINTS}/${uuid}`);
    expect((await api.call('GET', `${ENDPOINTS}/${uuid}`, { headers })).body).toEqual(plain.body);
    const changed = await api.call('PATCH', `${ENDPOINTS}/${uuid}`, {
      json: { description: version },
      headers,
    });
    expect(changed.body.api_version).toBe('2.3.8');
    const json = {
      webhook_url: 'https://hooks.merchant.com/versions',
      webhook_secret: 'chosen-by-the-merchant',
    };
    const single = await api.call('PATCH', '/merchant', { json, headers });
    expect(single.body.webhook_endpoint.api_version).toBe('2.2.8');
  });

  test('sets the version of an endpoint that is created without one in its body', async () => {
    const json = { url: `https://hooks.merchant.com/by-header-${version}`, description: 'd' };
    const made = await api.call('POST', ENDPOINTS, { json, headers });
    expect(made.body.api_version).toBe(version);
  });
});

test('the version of an endpoint is changed by its field, to one that exists', async () => {
  const change = (api_version: string) =>
    api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json: { api_version } });
  expect((await change('2.2.8')).body.api_version).toBe('2.2.8');
  const refused = await change('1.0');
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/api_version']);
  expect((await change('2.3.8')).body.api_version).toBe('2.3.8');
});
