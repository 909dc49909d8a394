/** POST …/test of an operational endpoint: a sample of a notice, which says that it is a test, in the endpoint's format. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NOTICE_TYPES } from '../../../services/domain/notices/notice.ts';
import { subTypesOfNotice } from '../../../services/domain/notices/notice-catalog.ts';
import { ACKNOWLEDGED, sendAndRecord } from '../../support/api/send-and-record.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
let sent: Awaited<ReturnType<typeof sendAndRecord>>;
beforeAll(async () => {
  api = await startTestApi();
  sent = await sendAndRecord(api.broker, api.store, () => ACKNOWLEDGED);
});
afterAll(() => api.close());

const USER = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
const HOUR_MS = 3_600_000;
const FAILING = { type: 'endpoint.failing', subType: 'AT_50' };
const operational = (extra: object = {}) => createEndpoint(api, { kind: 'operational', ...extra });
const send = (uuid: string, json: unknown) =>
  api.call('POST', `${ENDPOINTS}/${uuid}/test`, { json, headers: { prefer: 'wait=20' } });
/** Sends a test and returns the body of its webhook. */
async function webhookOf(uuid: string, json: object) {
  const { status, body } = await send(uuid, json);
  expect([status, body.status]).toEqual([200, 'delivered']);
  const task = sent.tasks.find(({ deliveryId }) => deliveryId === body.delivery_uuid);
  expect(task).toMatchObject({ trigger: 'test', attemptsMax: 1, type: Reflect.get(json, 'type') });
  return JSON.parse(Buffer.from(task?.body ?? []).toString('utf8'));
}

describe('a test of a notice', () => {
  test('is a sample of this moment, and its summary begins with Test', async () => {
    const { uuid } = await operational();
    const { type, subType, data } = await webhookOf(uuid, { ...FAILING, subType: 'AT_90' });
    expect([type, subType, data.percent]).toEqual(['endpoint.failing', 'AT_90', 90]);
    expect(data.summary).toMatch(/^Test: The endpoint https:/);
    expect(data.merchantUuid).toBe(api.merchantId);
    expect(Date.parse(data.disabledFrom) - Date.parse(data.at)).toBe(7 * HOUR_MS);
    expect(Math.abs(Date.parse(data.at) - api.clock.wall())).toBeLessThan(HOUR_MS);
    expect(data.endpointUuid).not.toBe(uuid);
  });

  test('is a message for Slack where the endpoint wants that, and the message says that it is a test', async () => {
    const { uuid } = await operational({ format: 'slack' });
    const { text, blocks } = await webhookOf(uuid, FAILING);
    expect(text).toMatch(/^Test: endpoint.failing: The endpoint /);
    expect(blocks[0].text.text).toBe('Test: endpoint.failing (AT_50)');
    expect(blocks[1].text.text).toMatch(/^Test: The endpoint /);
  });

  test('can be sent of every type and subType', async () => {
    const { uuid } = await operational();
    for (const type of NOTICE_TYPES)
      for (const subType of subTypesOfNotice(type))
        expect((await webhookOf(uuid, { type, subType })).subType).toBe(subType);
  });

  test('is sent whatever the filter is, with a warning, and is no notice of the store', async () => {
    const { uuid } = await operational({ subscribed_events: ['secret.rotated'] });
    const { body } = await send(uuid, FAILING);
    expect(body.warnings).toMatchObject([
      { code: 'filtered', detail: expect.stringContaining('real notices') },
    ]);
    expect(await api.store.notices.get(body.event_uuid)).toBeUndefined();
    expect(await api.store.notices.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });
});

test.each([
  ['an event', true, { type: 'KYC', subType: 'FULL_USER', user_uuid: USER }, 422, 'type_not_of_kind'],
  ['a notice to an endpoint for events', false, FAILING, 422, 'type_not_of_kind'],
  ['a subType of another type', true, { ...FAILING, subType: 'GONE' }, 422, 'subtype_type_mismatch'],
  ['a notice about a user', true, { ...FAILING, user_uuid: USER }, 422, 'entity_not_allowed_for_type'],
  [
    'both entities',
    true,
    { ...FAILING, user_uuid: USER, corporate_uuid: USER },
    400,
    'exactly_one_entity_required',
  ],
  ['no subType', true, { type: 'endpoint.failing' }, 400, 'validation_error'],
])('a test is refused of %s', async (_what, isOperational, json, status, code) => {
  const { uuid } = isOperational ? await operational() : await createEndpoint(api);
  const answer = await send(uuid, json);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
});
