/** Resend: the same bytes once more as a delivery of its own, or a refusal with a clear reason. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DeliveryHead } from '../../../services/domain/journal.ts';
import { type RecordedApi, startRecorded } from '../../support/api/recorded-api.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { eventOf } from '../../support/records/events.ts';
import { bodyOf, failed, head, journalOf, requested, routed } from '../../support/records/journal-entries.ts';

let api: TestApi;
let recorded: RecordedApi;
let endpoint: { uuid: string };
let exhausted: DeliveryHead;
let event: ReturnType<typeof eventOf>;

beforeAll(async () => {
  api = await startTestApi();
  recorded = await startRecorded(api, ['test']);
  endpoint = await createEndpoint(api);
  event = eventOf(api.merchantId, 'resend', { occurredAt: Date.now() - 60_000 });
  exhausted = head(event, endpoint.uuid, { attempt: 7 });
  await journalOf(api.store)(routed(event, [endpoint.uuid]), failed(exhausted));
});
afterAll(async () => {
  await recorded.stop();
  await api.close();
});

const path = (deliveryId: string, uuid = endpoint.uuid) =>
  `${ENDPOINTS}/${uuid}/deliveries/${deliveryId}/resend`;

test('a resend sends the same bytes as a new delivery of one attempt, whose success leaves the failed one as it is', async () => {
  const answer = await api.call('POST', path(exhausted.deliveryId));
  expect(answer.status).toBe(202);
  const { delivery_uuid: id, event_uuid: eventId } = answer.body;
  expect(id).not.toBe(exhausted.deliveryId);
  expect(eventId).toBe(event.eventId);
  const task = await eventually('the task is on the stream', () =>
    recorded.sent.find(({ deliveryId }) => deliveryId === id),
  );
  expect(task).toMatchObject({ trigger: 'manual', attempt: 1, attemptsMax: 1, eventId, apiVersion: '2.3.8' });
  expect(Buffer.from(task.body).equals(bodyOf(event))).toBe(true);
  const location = answer.headers.get('location') ?? '';
  const made = await eventually('the attempt is in the delivery log', async () => {
    const read = await api.call('GET', location);
    return read.status === 200 && read.body.status === 'delivered' ? read.body : null;
  });
  expect(made).toMatchObject({ delivery_uuid: id, trigger: 'manual', attempts_max: 1, event_uuid: eventId });
  const before = await api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/deliveries/${exhausted.deliveryId}`);
  expect(before.body).toMatchObject({ status: 'exhausted', trigger: 'live' });
});

test('a failed resend does not count for the endpoint’s health', async () => {
  const other = await createEndpoint(api);
  const source = head(event, other.uuid, { attempt: 7 });
  await journalOf(api.store, 'health')(routed(event, [other.uuid]), failed(source, 'http_5xx'));
  const count = async () => (await api.call('GET', `${ENDPOINTS}/${other.uuid}`)).body.failure_count;
  const before = await count();
  recorded.settle = (task) => [failed(task, 'http_5xx')];
  const { body } = await api.call('POST', path(source.deliveryId, other.uuid));
  const deliveries = `${ENDPOINTS}/${other.uuid}/deliveries/${body.delivery_uuid}`;
  await eventually(
    'the resend has failed',
    async () => (await api.call('GET', deliveries)).body.status === 'exhausted',
  );
  expect(await count()).toBe(before);
});

test('a resend under the same Idempotency-Key makes one delivery, and another request under it is refused', async () => {
  const headers = { 'idempotency-key': 'once' };
  const first = await api.call('POST', path(exhausted.deliveryId), { headers });
  const again = await api.call('POST', path(exhausted.deliveryId), { headers });
  expect([first.status, again.status]).toEqual([202, 202]);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  const id = first.body.delivery_uuid;
  await eventually('the resend is sent', () => recorded.sent.some(({ deliveryId }) => deliveryId === id));
  const other = await api.call('POST', path(id), { headers });
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
  expect(recorded.sent.filter(({ deliveryId }) => deliveryId === id)).toHaveLength(1);
});

test('a resend is refused, with the reason, when the delivery cannot be sent again', async () => {
  const refused = async (url: string, key?: string) => {
    const answer = await api.call('POST', url, key ? { key } : {});
    return `${answer.status} ${answer.body.code}`;
  };
  expect(await refused(path(crypto.randomUUID()))).toBe('404 delivery_not_found');
  expect(await refused(path(exhausted.deliveryId), api.keys.foreign)).toBe('404 webhook_endpoint_not_found');
  const other = await createEndpoint(api);
  expect(await refused(path(exhausted.deliveryId, other.uuid))).toBe('404 delivery_not_found');
  const asked = head(event, endpoint.uuid, {
    trigger: 'test',
    attemptsMax: 1,
    deliveryId: crypto.randomUUID(),
  });
  await journalOf(api.store, 'tests')(requested(asked, bodyOf(event)));
  expect(await refused(path(asked.deliveryId))).toBe('422 test_not_resendable');
  // A delivery that is known by its attempt alone: its body is not there (yet).
  const unknown = eventOf(api.merchantId, 'without-a-body');
  const bodiless = head(unknown, endpoint.uuid, { attempt: 7 });
  await journalOf(api.store, 'bodiless')(failed(bodiless));
  expect(await refused(path(bodiless.deliveryId))).toBe('409 delivery_body_removed');
  await api.call('PATCH', `${ENDPOINTS}/${endpoint.uuid}`, { json: { status: 'disabled' } });
  expect(await refused(path(exhausted.deliveryId))).toBe('409 endpoint_not_active');
  await api.call('PATCH', `${ENDPOINTS}/${endpoint.uuid}`, { json: { status: 'active' } });
});
