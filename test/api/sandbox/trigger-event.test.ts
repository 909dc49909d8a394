/** POST /merchant/sandbox/events publishes an event with sample data, and does not exist in production. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entityKindsOf, SUB_TYPES } from '../../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';

const PATH = '/merchant/sandbox/events';
const user = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
const hold = { type: 'fiatToCrypto', subType: 'ON_HOLD', user_uuid: user };

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const trigger = (json: unknown, query = '') => api.call('POST', PATH + query, { json });

describe('triggering an event', () => {
  test('works for every type, subType and kind of entity', async () => {
    for (const type of EVENT_TYPES) {
      for (const subType of SUB_TYPES[type]) {
        for (const kind of entityKindsOf(type)) {
          const entity = kind === 'USER' ? { user_uuid: user } : { corporate_uuid: user };
          const answer = await trigger({ type, subType, ...entity });
          expect([type, subType, kind, answer.status]).toEqual([type, subType, kind, 202]);
          expect(answer.body).toMatchObject({ type, subType, entity_uuid: user });
        }
      }
    }
  });

  test('keeps the ids and amounts of a subject, and replaces the fields that are given', async () => {
    const first = await trigger({ ...hold, subType: 'PENDING', subject: 'order 7' });
    const next = await trigger({ ...hold, subject: 'order 7', data: { status: 'ON_HOLD_AML', chain: null } });
    const other = await trigger({ ...hold, subject: 'order 8' });
    expect(next.body.subject_uuid).toBe(first.body.subject_uuid);
    expect(next.body.subject_uuid).toBe(next.body.data.transactionUuid);
    expect(next.body.event_uuid).not.toBe(first.body.event_uuid);
    expect(next.body.data).toMatchObject({ status: 'ON_HOLD_AML', amountFiat: first.body.data.amountFiat });
    expect(next.body.data).not.toHaveProperty('chain');
    expect(other.body.subject_uuid).not.toBe(first.body.subject_uuid);
  });

  test('publishes once, in the name of the merchant and its key, and nothing in a dry run', async () => {
    const published: unknown[] = [];
    const { publishEvents } = api.broker;
    api.broker.publishEvents = (events, options) => {
      published.push(...events);
      return publishEvents.call(api.broker, events, options);
    };
    const dry = await trigger({ ...hold, subject: 'order 9' }, '?dry_run=true');
    expect([dry.status, published.length]).toEqual([200, 0]);
    const { status, body } = await trigger({ ...hold, subject: 'order 9' });
    api.broker.publishEvents = publishEvents;
    expect([status, body.data]).toEqual([202, dry.body.data]);
    expect(published).toEqual([
      expect.objectContaining({
        eventId: body.event_uuid,
        merchantId: api.merchantId,
        publishedBy: api.keyIds.own,
        simulated: true,
      }),
    ]);
  });

  test.each<readonly [string, unknown, number, string]>([
    ['a subType of another type', { ...hold, subType: 'ACTIVE' }, 422, 'subtype_type_mismatch'],
    [
      'a user where only corporates are concerned',
      { type: 'KYB', subType: 'ACTIVE', user_uuid: user },
      422,
      'entity_not_allowed_for_type',
    ],
    ['no entity', { type: 'KYC', subType: 'FULL_USER' }, 400, 'exactly_one_entity_required'],
    ['an unknown field of data', { ...hold, data: { amount: '1' } }, 400, 'validation_error'],
    ['an amount that is no decimal', { ...hold, data: { amountFiat: 'much' } }, 400, 'validation_error'],
    ['a merchant of its own choice', { ...hold, merchantId: 'other' }, 400, 'validation_error'],
  ])('refuses %s', async (_, json, status, code) => {
    const answer = await trigger(json);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test('names the field of data that is wrong', async () => {
    const { body } = await trigger({ ...hold, data: { amountFiat: 'much' } });
    expect(body.detail).toContain('/data/amountFiat');
    expect(body.errors).toEqual([expect.objectContaining({ pointer: '/data/amountFiat' })]);
  });

  test('refuses a misspelt parameter: it would have published', async () => {
    const answer = await trigger(hold, '?dry-run=true');
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
  });
});

test('production has no such operation, whatever the request holds', async () => {
  const production = await startTestApi({ environment: 'production' });
  try {
    for (const options of [{ json: hold }, { json: {} }, { json: hold, key: null }]) {
      const answer = await production.call('POST', PATH, options);
      expect([answer.status, answer.body.code]).toEqual([404, 'route_not_found']);
    }
  } finally {
    await production.close();
  }
});
