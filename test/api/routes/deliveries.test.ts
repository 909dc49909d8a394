/** The delivery log as merchants read it: what was sent byte for byte, what came back, and never a secret. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import { type DomainEvent, eventAsText } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import type { Attempted, Routed } from '../../../services/domain/journal.ts';
import type { DeliveryTask } from '../../../services/domain/task.ts';
import { renderBody } from '../../../services/domain/versions/render.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventOf } from '../../support/records/events.ts';

let api: TestApi;
let endpoint: { uuid: string; signing_secret: string };
let position = 0;
const events: DomainEvent[] = [];
const at = Date.UTC(2030, 0, 2);

/** As the router writes it: one event, for one endpoint of ours and past another. */
function routedEntry(event: DomainEvent, index: number): Routed {
  const rendered = renderBody(event, '2.3.8', { senderAccountDetails: false });
  if (rendered.kind !== 'rendered') throw new Error(rendered.kind);
  return {
    kind: 'routed',
    at: at + index,
    acceptedAt: at + index - 1,
    event: eventAsText(event),
    subjectId: subjectIdOf(event),
    bodies: [{ apiVersion: '2.3.8', body: rendered.body }],
    trace: [
      {
        endpointId: endpoint.uuid,
        verdict: 'delivered_to',
        deliveryId: deliveryId(event.eventId, endpoint.uuid),
        apiVersion: '2.3.8',
      },
      { endpointId: '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10', verdict: 'filtered' },
    ],
  };
}

function attemptedEntry(event: DomainEvent, attempt: number, change: Partial<Attempted>): Attempted {
  const delivery: Omit<DeliveryTask, 'dueAt' | 'hop' | 'body'> = {
    deliveryId: deliveryId(event.eventId, endpoint.uuid),
    eventId: event.eventId,
    merchantId: api.merchantId,
    endpointId: endpoint.uuid,
    entityId: event.entityId,
    subjectId: subjectIdOf(event),
    sequence: event.sequence ?? 0,
    type: event.type,
    subType: event.subType,
    apiVersion: '2.3.8',
    trigger: 'live',
    attempt,
    attemptsMax: 7,
    occurredAt: event.occurredAt,
    acceptedAt: at,
  };
  return {
    kind: 'attempted',
    delivery,
    endpointVersion: 1,
    startedAt: at + attempt * 10_000,
    durationMs: 25,
    outcome: { kind: 'delivered' },
    failureCode: null,
    failureDetail: null,
    response: null,
    signature: 'v1,c2lnbmF0dXJl',
    ...change,
  };
}

async function record(...entries: (Routed | Attempted)[]): Promise<void> {
  const first = position + 1;
  position += entries.length;
  await api.store.log.applyJournal([{ partition: 'test', first, last: position, entries }]);
}

beforeAll(async () => {
  api = await startTestApi();
  endpoint = await createEndpoint(api);
  for (let i = 0; i < 5; i += 1) events.push(eventOf(api.merchantId, `delivery-${i}`));
  await record(...events.map(routedEntry));
  const [failing, delivered] = events as [DomainEvent, DomainEvent];
  const response = {
    status: 500,
    headers: [
      ['content-type', 'text/plain'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ],
    body: new TextEncoder().encode('töö busy'),
    bodyTruncated: true,
  } as const;
  await record(
    attemptedEntry(failing, 1, {
      outcome: { kind: 'retry', dueAt: at + 13_025 },
      failureCode: 'http_5xx',
      failureDetail: 'the receiver answered 500',
      response,
    }),
    attemptedEntry(delivered, 1, { response: { ...response, status: 200, bodyTruncated: false } }),
  );
});
afterAll(() => api.close());

const deliveries = (query = '') => api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/deliveries${query}`);
const idOf = (index: number) => deliveryId(events[index]?.eventId ?? '', endpoint.uuid);

describe('the list of deliveries', () => {
  test('is newest first, page by page, each delivery once', async () => {
    const whole = (await deliveries()).body.data.map((d: { delivery_uuid: string }) => d.delivery_uuid);
    expect([...whole].sort()).toEqual(events.map((_, index) => idOf(index)).sort());
    const walked: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await deliveries(`?limit=2${cursor && `&cursor=${cursor}`}`);
      walked.push(...body.data.map((d: { delivery_uuid: string }) => d.delivery_uuid));
      cursor = body.next_cursor;
    }
    expect(walked).toEqual(whole);
  });

  test('is filtered by status and type', async () => {
    const statuses = { failed: [idOf(0)], delivered: [idOf(1)], exhausted: [], cancelled: [] };
    for (const [status, expected] of Object.entries(statuses)) {
      const { body } = await deliveries(`?status=${status}`);
      expect([status, body.data.map((d: { delivery_uuid: string }) => d.delivery_uuid)]).toEqual([
        status,
        expected,
      ]);
    }
    expect((await deliveries('?status=pending')).body.data).toHaveLength(3);
    expect((await deliveries('?type=fiatToCrypto')).body.data).toHaveLength(5);
    expect((await deliveries('?type=KYC')).body.data).toEqual([]);
  });

  test('is filtered by time, including since and excluding until', async () => {
    const created: string[] = (await deliveries()).body.data.map((d: { created_at: string }) => d.created_at);
    const newest = created[0] ?? '';
    expect((await deliveries(`?since=${newest}`)).body.data.length).toBeGreaterThan(0);
    expect((await deliveries(`?until=${newest}`)).body.data.length).toBeLessThan(5);
    expect((await deliveries('?since=2031-01-01T00:00:00Z')).body.data).toEqual([]);
    expect(
      (await deliveries(`?since=${encodeURIComponent('2029-12-31T00:00:00+14:00')}`)).body.data,
    ).toHaveLength(5);
  });

  test.each([
    ['?status=lost', 'invalid_enum'],
    ['?type=kyc', 'invalid_enum'],
    ['?since=yesterday', 'invalid_format'],
    ['?until=2030-13-01T00:00:00Z', 'invalid_format'],
    ['?since=2016-12-31T23:59:60Z', 'invalid_format'],
    ['?limit=1000', 'out_of_range'],
    ['?cursor=bm9wZQ', 'invalid_format'],
  ])('answers 400 to %s', async (query, code) => {
    const answer = await deliveries(query);
    expect([answer.status, answer.body.errors?.[0]?.code]).toEqual([400, code]);
  });
});

describe('the view of one delivery', () => {
  const get = (id: string, key?: string) =>
    api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/deliveries/${id}`, key ? { key } : {});

  test('shows its attempts: the request without the secret, the kept response, and the next due time', async () => {
    const { body } = await get(idOf(0));
    expect(body).toMatchObject({ status: 'failed', attempts_made: 1, attempts_max: 7, trigger: 'live' });
    expect(body.next_attempt_at).toBe(new Date(at + 13_025).toISOString());
    expect(body.attempts).toHaveLength(1);
    expect(body.attempts[0]).toMatchObject({
      number: 1,
      started_at: new Date(at + 10_000).toISOString(),
      duration_ms: 25,
      response_status: 500,
      response_headers: { 'content-type': 'text/plain', 'set-cookie': 'a=1, b=2' },
      response_body: 'töö busy',
      response_body_truncated: true,
      failure_code: 'http_5xx',
      failure_detail: 'the receiver answered 500',
      next_attempt_at: new Date(at + 13_025).toISOString(),
    });
    const headers = body.attempts[0].request_headers;
    expect(headers).toMatchObject({
      Authorization: 'API-Key [redacted]',
      'webhook-id': events[0]?.eventId,
      'webhook-attempt': '1',
      'webhook-timestamp': String((at + 10_000) / 1000),
      'webhook-signature': 'v1,c2lnbmF0dXJl',
      'webhook-delivery-id': idOf(0),
    });
  });

  test('shows the body as it was sent, byte for byte', async () => {
    const rendered = renderBody(events[0] as DomainEvent, '2.3.8', { senderAccountDetails: false });
    const { body } = await get(idOf(0));
    expect(rendered.kind === 'rendered' && Buffer.from(rendered.body).equals(Buffer.from(body.body))).toBe(
      true,
    );
  });

  test('is not found under an unknown id or another endpoint', async () => {
    expect((await get(crypto.randomUUID())).body.code).toBe('delivery_not_found');
    const other = await createEndpoint(api);
    const elsewhere = await api.call('GET', `${ENDPOINTS}/${other.uuid}/deliveries/${idOf(0)}`);
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'delivery_not_found']);
    expect((await get(idOf(0), api.keys.foreign)).body.code).toBe('webhook_endpoint_not_found');
  });
});

describe('the view of an event', () => {
  const get = (id: string, key?: string) => api.call('GET', `/merchant/events/${id}`, key ? { key } : {});

  test('shows where the event went, endpoint by endpoint', async () => {
    const event = events[2] as DomainEvent;
    const { body } = await get(event.eventId);
    expect(body).toMatchObject({
      event_uuid: event.eventId,
      type: 'fiatToCrypto',
      subType: 'SUCCESS',
      entity_uuid: event.entityId,
      simulated: true,
      endpoints: [
        {
          endpoint_uuid: endpoint.uuid,
          verdict: 'routed',
          delivery_uuid: idOf(2),
          api_version: '2.3.8',
        },
        { endpoint_uuid: '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10', verdict: 'filtered', delivery_uuid: null },
      ],
    });
  });

  test('has the status that each delivery has now, and none where nothing was routed', async () => {
    const seen: string[] = [];
    for (const [index, { eventId }] of events.entries()) {
      const delivery = await api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/deliveries/${idOf(index)}`);
      const [routed, filtered] = (await get(eventId)).body.endpoints;
      expect([routed.status, filtered.status]).toEqual([delivery.body.status, null]);
      seen.push(routed.status);
    }
    expect(seen.some((status) => status !== 'delivered')).toBe(true);
  });

  test('hides the sender’s bank details from a merchant who is not entitled to them', async () => {
    const event = events[2] as DomainEvent;
    expect(JSON.stringify(event.data)).toContain('accountDetails');
    expect((await get(event.eventId)).body.body).not.toContain('accountDetails');
    await api.store.merchants.update(api.merchantId, { senderAccountDetails: true });
    expect((await get(event.eventId)).body.body).toContain('accountDetails');
  });

  test('has the body in the version that the request asks for, and none where the version has no such event', async () => {
    const { eventId } = events[2] as DomainEvent;
    const bodyOf = async (query: string) => (await get(`${eventId}${query}`)).body.body;
    expect(await bodyOf('?api_version=2.3.8')).toBe(await bodyOf(''));
    expect(JSON.parse(await bodyOf('')).data).toHaveProperty('senderDetails');
    expect(JSON.parse(await bodyOf('?api_version=2.2.8')).data).not.toHaveProperty('senderDetails');
    const unknown = await get(`${eventId}?api_version=2.0.0`);
    expect([unknown.status, unknown.body.code]).toEqual([400, 'validation_error']);
  });

  test('gives the same answer for unknown and foreign events', async () => {
    const unknown = await get(crypto.randomUUID());
    const foreign = await get(events[0]?.eventId ?? '', api.keys.foreign);
    for (const answer of [unknown, foreign])
      expect([answer.status, answer.body.code]).toEqual([404, 'event_not_found']);
    const bytes = [unknown, foreign].map(({ text, body }) => text.replaceAll(body.request_id, ''));
    expect(bytes[0]).toBe(bytes[1]);
  });
});
