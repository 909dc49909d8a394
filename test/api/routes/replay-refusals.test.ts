/** Requests for a replay that are refused, each with its code. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';

let api: TestApi;
let endpoint: { uuid: string };
const SINCE = new Date(Date.now() - 3_600_000).toISOString();

beforeAll(async () => {
  api = await startTestApi({ replayPace: { afterChangeMs: 0 } });
  endpoint = await createEndpoint(api);
});
afterAll(() => api.close());

const start = (json: object) =>
  api.call('POST', `${ENDPOINTS}/${endpoint.uuid}/replay`, { json: { since: SINCE, ...json } });
const setStatus = (status: string) =>
  api.call('PATCH', `${ENDPOINTS}/${endpoint.uuid}`, { json: { status } });
const ended = (location: string) =>
  eventually('the replay has ended', async () => {
    const { body } = await api.call('GET', location);
    return body.status !== 'running';
  });

describe('a request for a replay', () => {
  test.each([
    [{ only: 'everything' }, 400, 'validation_error'],
    [{}, 400, 'validation_error'],
    [{ only: 'missing', since: undefined }, 400, 'validation_error'],
    [{ only: 'all', event_uuids: [] }, 400, 'validation_error'],
    [{ only: 'all', event_uuids: ['x'] }, 400, 'validation_error'],
    [{ only: 'all', subject_uuid: 'x'.repeat(129) }, 400, 'validation_error'],
    [{ only: 'missing', since: 'yesterday' }, 400, 'validation_error'],
    [{ only: 'missing', since: '2016-12-31T23:59:60Z' }, 400, 'validation_error'],
    [{ only: 'missing', types: [] }, 400, 'empty_filter'],
    [{ only: 'missing', types: ['kyc'] }, 400, 'unknown_event_type'],
    [{ only: 'missing', limit: 3 }, 400, 'validation_error'],
    [{ only: 'missing', since: '2999-01-01T00:00:00Z' }, 422, 'empty_period'],
    [{ only: 'missing', until: '2001-01-01T00:00:00Z' }, 422, 'empty_period'],
  ])('is refused for %j with %i %s', async (json, status, code) => {
    const answer = await start(json);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test('is refused for an endpoint that is not active, and for unknown and foreign ids', async () => {
    await setStatus('disabled');
    expect((await start({ only: 'missing' })).body.code).toBe('endpoint_not_active');
    await setStatus('active');
    const unknown = await api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/replays/${crypto.randomUUID()}`);
    expect([unknown.status, unknown.body.code]).toEqual([404, 'replay_not_found']);
    const answer = await start({ only: 'missing' });
    const location = answer.headers.get('location') ?? '';
    await ended(location);
    const other = await createEndpoint(api);
    const elsewhere = location.replace(endpoint.uuid, other.uuid);
    expect((await api.call('GET', elsewhere)).body.code).toBe('replay_not_found');
    const foreign = await api.call('GET', location, { key: api.keys.foreign });
    expect(foreign.body.code).toBe('webhook_endpoint_not_found');
  });

  test('is refused for a cursor that is not from its list', async () => {
    const answer = await api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/replays?cursor=bm9wZQ`);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/query/cursor']);
  });
});
