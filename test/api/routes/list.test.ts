/** GET /merchant/webhook-endpoints: pages that stay in order while endpoints come and go. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
const uuids: string[] = [];
beforeAll(async () => {
  api = await startTestApi();
  for (let i = 0; i < 7; i += 1) uuids.unshift((await createEndpoint(api)).uuid);
});
afterAll(() => api.close());

const list = (query = '') => api.call('GET', ENDPOINTS + query);
const uuidsOf = (answer: { body: { data: { uuid: string }[] } }) => answer.body.data.map(({ uuid }) => uuid);

async function walk(
  limit: number,
  between: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await list(`?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(page.status).toBe(200);
    expect(page.body.data.length).toBeLessThanOrEqual(limit);
    expect(page.body.has_more).toBe(page.body.next_cursor !== null);
    seen.push(...uuidsOf(page));
    cursor = page.body.next_cursor;
    await between();
  }
  return seen;
}

test('the list of endpoints is newest first, each exactly once for any page size, and stable within a millisecond', async () => {
  const whole = uuidsOf(await list());
  expect([...whole].sort()).toEqual([...uuids].sort());
  const times = (await list()).body.data.map((record: { created_at: string }) => record.created_at);
  expect(times).toEqual([...times].sort().reverse());
  for (const limit of [1, 2, 3, 7, 100]) expect(await walk(limit)).toEqual(whole);
});

test('endpoints that come and go between pages neither hide nor repeat others in the list', async () => {
  const before = uuidsOf(await list());
  const doomed = (await createEndpoint(api)).uuid;
  let step = 0;
  const seen = await walk(2, async () => {
    step += 1;
    if (step === 1) await createEndpoint(api);
    if (step === 2) await api.call('DELETE', `${ENDPOINTS}/${doomed}`);
  });
  expect(seen.filter((uuid) => before.includes(uuid))).toEqual(before);
});

test('the list of endpoints is filtered by status', async () => {
  const { uuid } = await createEndpoint(api);
  await api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json: { status: 'disabled' } });
  expect(uuidsOf(await list('?status=disabled'))).toEqual([uuid]);
  expect(uuidsOf(await list('?status=active'))).not.toContain(uuid);
  expect((await list('?status=auto_disabled')).body).toEqual({
    data: [],
    has_more: false,
    next_cursor: null,
  });
});

test('the list of endpoints shows none to another merchant', async () => {
  expect((await api.call('GET', ENDPOINTS, { key: api.keys.foreign })).body.data).toEqual([]);
});

test.each([
  ['?limit=0', '/query/limit', 'out_of_range'],
  ['?limit=101', '/query/limit', 'out_of_range'],
  ['?limit=abc', '/query/limit', 'invalid_type'],
  ['?limit=1.5', '/query/limit', 'invalid_type'],
  ['?limit=', '/query/limit', 'too_short'],
  ['?limit=1&limit=2', '/query/limit', 'invalid_type'],
  ['?status=paused', '/query/status', 'invalid_enum'],
  ['?colour=red', '/query/colour', 'unknown_field'],
  ['?cursor=abc', '/query/cursor', 'invalid_format'],
  ['?cursor=MTIzL3h5eg', '/query/cursor', 'invalid_format'],
])('the list of endpoints answers 400 to %s', async (query, pointer, code) => {
  const answer = await list(query);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
  expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer, code }));
});
