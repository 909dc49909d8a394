/** The kinds of endpoints: each takes types of its own, and keeps its kind. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { NOTICE_TYPES } from '../../../services/domain/notices/notice.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const create = (extra: object) =>
  api.call('POST', ENDPOINTS, {
    json: { url: `https://hooks.merchant.com/${crypto.randomUUID()}`, description: 'A test', ...extra },
  });
const patch = (uuid: string, json: object) => api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json });
const operational = (extra: object = {}) => createEndpoint(api, { kind: 'operational', ...extra });

describe('an endpoint', () => {
  test('gets events unless it is asked for as operational, in JSON unless for Slack', async () => {
    expect(await createEndpoint(api)).toMatchObject({ kind: 'events', format: null });
    expect(await operational()).toMatchObject({ kind: 'operational', format: 'json' });
    expect(await operational({ format: 'slack' })).toMatchObject({ kind: 'operational', format: 'slack' });
  });

  test('for events has no format of notices', async () => {
    for (const kind of [{}, { kind: 'events' }]) {
      const refused = await create({ ...kind, format: 'slack' });
      expect([refused.status, refused.body.code]).toEqual([422, 'format_not_of_kind']);
      expect(refused.body.detail).toContain('/format: slack');
    }
  });

  test('takes the types of its kind, at its creation and when it is changed', async () => {
    const { uuid } = await operational({ subscribed_events: ['events.lost'] });
    const changed = await patch(uuid, { subscribed_events: [...NOTICE_TYPES] });
    expect([changed.status, changed.body.subscribed_events]).toEqual([200, [...NOTICE_TYPES]]);
    const events = await createEndpoint(api, { subscribed_events: ['KYC'] });
    expect((await patch(events.uuid, { subscribed_events: [...EVENT_TYPES] })).status).toBe(200);
  });

  test('is refused the types of the other kind, at its creation and when it is changed', async () => {
    const notices = await operational();
    const events = await createEndpoint(api);
    for (const refused of [
      await create({ kind: 'operational', subscribed_events: ['events.lost', 'KYC'] }),
      await create({ subscribed_events: ['KYC', 'events.lost'] }),
      await patch(notices.uuid, { subscribed_events: ['KYC'] }),
      await patch(events.uuid, { subscribed_events: ['events.lost'] }),
    ])
      expect([refused.status, refused.body.code]).toEqual([422, 'type_not_of_kind']);
  });

  test('keeps its kind and its format', async () => {
    const { uuid } = await operational();
    for (const change of [{ kind: 'events' }, { format: 'slack' }])
      expect((await patch(uuid, change)).body.code).toBe('validation_error');
  });

  test('that is operational may have headers and a limit of requests as well', async () => {
    const controls = { headers: [{ name: 'X-Api-Key', value: 'canary-1' }], requests_per_second: 3 };
    const made = await operational({ ...controls, format: 'slack' });
    const kept = { kind: 'operational', format: 'slack', headers: [{ name: 'X-Api-Key' }] };
    expect(made).toMatchObject({ ...kept, requests_per_second: 3 });
    await patch(made.uuid, { requests_per_second: 5 });
    const read = await api.call('GET', `${ENDPOINTS}/${made.uuid}`);
    expect(read.body).toMatchObject({ ...kept, requests_per_second: 5 });
  });
});

test('an unknown type is refused with the known ones of both kinds', async () => {
  const { body } = await create({ kind: 'operational', subscribed_events: ['endpoint.failng'] });
  expect(body.code).toBe('unknown_event_type');
  for (const type of [...EVENT_TYPES, ...NOTICE_TYPES]) expect(body.detail).toContain(type);
});
