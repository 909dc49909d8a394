/** POST …/check: what is found is answered, kept with the endpoint until its URL changes, and changes nothing that is sent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CheckStep } from '../../../services/domain/checks/endpoint-check.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

const step = (name: CheckStep['step'], result: CheckStep['result']): CheckStep => ({
  ...{ step: name, result, says: `It is ${result}.`, remedy: result === 'ok' ? null : 'Mend it.' },
  ...{ durationMs: 1.26, facts: { names: ['hooks.merchant.com'] } },
});
let steps: readonly CheckStep[] = [];
let api: TestApi;
let during = async () => {};
beforeAll(async () => {
  const checkUrl = async () => {
    await during();
    return steps;
  };
  api = await startTestApi({ checkUrl });
});
afterAll(() => api.close());

const check = (uuid: string) => api.call('POST', `${ENDPOINTS}/${uuid}/check`);
const read = async (uuid: string) => (await api.call('GET', `${ENDPOINTS}/${uuid}`)).body;

test('a check answers with its steps and its worst result, and the endpoint keeps it', async () => {
  const made = await createEndpoint(api);
  expect((await read(made.uuid)).newest_check).toBeNull();
  steps = [step('dns', 'ok'), step('tcp', 'warning'), step('tls', 'failed'), step('answer', 'not_tried')];
  const { status, body } = await check(made.uuid);
  expect(status).toBe(200);
  expect(body).toMatchObject({ url: made.url, result: 'failed' });
  expect(body.steps[1]).toEqual({
    ...{ step: 'tcp', result: 'warning', says: 'It is warning.', remedy: 'Mend it.' },
    ...{ duration_ms: 1.3, facts: { names: ['hooks.merchant.com'] } },
  });
  const { newest_check, updated_at, status: kept } = await read(made.uuid);
  expect(newest_check).toEqual(body);
  expect([updated_at, kept]).toEqual([made.updated_at, 'active']);
  const [entry] = await api.store.audit.list({ endpointId: made.uuid, limit: 1 });
  expect(entry).toMatchObject({ action: 'check.run', details: { url: made.url } });
});

test('a check is forgotten when the URL changes, and kept through other changes', async () => {
  const { uuid } = await createEndpoint(api);
  steps = [step('dns', 'ok')];
  const { body } = await check(uuid);
  await api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json: { description: 'another' } });
  await api.call('PATCH', `${ENDPOINTS}/${uuid}/secret`);
  expect((await read(uuid)).newest_check).toEqual(body);
  const moved = await api.call('PATCH', `${ENDPOINTS}/${uuid}`, {
    json: { url: `https://m.merchant.com/${uuid}` },
  });
  expect(moved.body.newest_check).toBeNull();
});

test('a check of a URL that was changed meanwhile is answered, and not kept', async () => {
  const made = await createEndpoint(api);
  const moved = `https://m.merchant.com/${made.uuid}`;
  during = async () => {
    await api.call('PATCH', `${ENDPOINTS}/${made.uuid}`, { json: { url: moved } });
  };
  const { body } = await check(made.uuid);
  during = async () => {};
  expect(body.url).toBe(made.url);
  expect(await read(made.uuid)).toMatchObject({ url: moved, newest_check: null });
});

test('a check is allowed in production, where tests are not, and shares their rate limit', async () => {
  const production = await startTestApi({ environment: 'production', testRateLimitPerMinute: 1 });
  const { uuid } = await createEndpoint(production);
  const path = `${ENDPOINTS}/${uuid}/check`;
  const statuses = [await production.call('POST', path), await production.call('POST', path)];
  expect(statuses.map(({ status }) => status)).toEqual([200, 429]);
  expect(statuses[0]?.body.steps[0]).toMatchObject({ step: 'dns', result: 'failed' });
  await production.close();
});
