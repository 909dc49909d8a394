/** Replays: missed events are found, counted and sent once, with progress, or the refusal has a clear reason. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import { renderBody } from '../../../services/domain/versions/render.ts';
import { REPLAY_COMMANDS } from '../../../services/operator/commands/replays.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { type RecordedApi, startRecorded } from '../../support/api/recorded-api.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { eventOf } from '../../support/records/events.ts';
import {
  cancelled,
  delivered,
  failed,
  head,
  journalOf,
  routed,
} from '../../support/records/journal-entries.ts';

let api: TestApi;
let recorded: RecordedApi;
let endpoint: { uuid: string };
let events: DomainEvent[];
const SINCE = new Date(Date.now() - 3_600_000).toISOString();

beforeAll(async () => {
  api = await startTestApi({ replayPace: { afterChangeMs: 0 } });
  recorded = await startRecorded(api, ['replay']);
});
afterAll(async () => {
  await recorded.stop();
  await api.close();
});

/** An endpoint with five events: two skipped, then exhausted, cancelled and delivered ones. */
beforeEach(async () => {
  recorded.settle = (task) => [delivered(task)];
  endpoint = await createEndpoint(api);
  events = Array.from({ length: 5 }, (_, n) =>
    eventOf(api.merchantId, `${endpoint.uuid} ${n}`, {
      occurredAt: Date.now() - 60_000,
      ...(n === 1 ? { type: 'KYC', subType: 'KYC_PENDING' } : {}),
    }),
  );
  const [a, b, c, d, e] = events as [DomainEvent, DomainEvent, DomainEvent, DomainEvent, DomainEvent];
  const skip = { endpointId: endpoint.uuid, verdict: 'endpoint_disabled' } as const;
  await journalOf(api.store, endpoint.uuid)(
    ...[a, b].map((event) => ({ ...routed(event, []), trace: [skip] })),
    ...[c, d, e].map((event) => routed(event, [endpoint.uuid])),
    failed(head(c, endpoint.uuid, { attempt: 7 })),
    cancelled(head(d, endpoint.uuid)),
    delivered(head(e, endpoint.uuid)),
  );
});

const path = () => `${ENDPOINTS}/${endpoint.uuid}/replay`;
const start = (json: object, more = {}) =>
  api.call('POST', path(), { json: { since: SINCE, ...json }, ...more });
const sent = () => recorded.sent.filter(({ endpointId }) => endpointId === endpoint.uuid);
const setStatus = (status: string) =>
  api.call('PATCH', `${ENDPOINTS}/${endpoint.uuid}`, { json: { status } });

async function ended(location: string | null) {
  return eventually('the replay has ended', async () => {
    const { body } = await api.call('GET', location ?? '');
    return body.status === 'running' ? null : body;
  });
}

describe('a replay', () => {
  test('with `missing` sends skipped, exhausted and cancelled events once each, and tells its progress', async () => {
    const answer = await start({ only: 'missing' });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ status: 'running', count: 4, published: 0, types: null });
    const done = await ended(answer.headers.get('location'));
    expect(done).toMatchObject({
      status: 'completed',
      count: 4,
      published: 4,
      left_out: 0,
      cancel_reason: null,
    });
    const [a, b, c, d] = events as [DomainEvent, DomainEvent, DomainEvent, DomainEvent];
    expect(new Set(sent().map(({ eventId }) => eventId))).toEqual(
      new Set([a, b, c, d].map((e) => e.eventId)),
    );
    expect(sent()).toHaveLength(4);
    for (const task of sent()) {
      const isFirst = task.eventId === a.eventId || task.eventId === b.eventId;
      expect(task).toMatchObject({ trigger: 'replay', attempt: 1, attemptsMax: isFirst ? 7 : 1 });
      expect(task.deliveryId === deliveryId(task.eventId, endpoint.uuid)).toBe(isFirst);
    }
    // All of it has arrived: a second one finds nothing.
    const second = await start({ only: 'missing' });
    expect([second.status, second.body.count]).toEqual([202, 0]);
    await ended(second.headers.get('location'));
    expect(sent()).toHaveLength(4);
  });

  test('renders a skipped event as the merchant may see it now, and shows in the event’s trace', async () => {
    const answer = await start({ only: 'missing', types: ['fiatToCrypto'] });
    await ended(answer.headers.get('location'));
    const [event] = events as [DomainEvent];
    const task = sent().find(({ eventId }) => eventId === event.eventId);
    const rendered = renderBody(event, '2.3.8', { senderAccountDetails: false });
    if (rendered.kind !== 'rendered' || !task) throw new Error('not rendered, or not sent');
    expect(Buffer.from(task.body).equals(Buffer.from(rendered.body))).toBe(true);
    const { body } = await api.call('GET', `/merchant/events/${event.eventId}`);
    expect(body.endpoints).toEqual([
      {
        endpoint_uuid: endpoint.uuid,
        verdict: 'routed',
        delivery_uuid: task.deliveryId,
        status: expect.any(String),
        api_version: '2.3.8',
        trigger: 'replay',
      },
    ]);
    const delivery = await api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/deliveries/${task.deliveryId}`);
    expect(delivery.body).toMatchObject({ trigger: 'replay', attempts_max: 7, status: 'delivered' });
    expect(delivery.body.body).toBe(Buffer.from(rendered.body).toString());
  });

  test('with `failed` sends only exhausted events, narrowed by types and the endpoint’s filter', async () => {
    const dry = async (json: object) => (await start({ dry_run: true, ...json })).body.count;
    expect(await dry({ only: 'failed' })).toBe(1);
    expect(await dry({ only: 'missing' })).toBe(4);
    expect(await dry({ only: 'missing', types: ['KYC', 'KYC'] })).toBe(1);
    expect(await dry({ only: 'missing', until: SINCE, since: '2020-01-01T00:00:00Z' })).toBe(0);
    const filter = { subscribed_events: ['KYC'] };
    await api.call('PATCH', `${ENDPOINTS}/${endpoint.uuid}`, { json: filter });
    expect(await dry({ only: 'missing' })).toBe(1);
    const answer = await start({ only: 'missing' });
    await ended(answer.headers.get('location'));
    expect(sent().map(({ type }) => type)).toEqual(['KYC']);
  });

  test('as a dry run sends and keeps nothing, even while the endpoint is disabled', async () => {
    await setStatus('disabled');
    const answer = await start({ only: 'missing', dry_run: true });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ dry_run: true, count: 4, endpoint_uuid: endpoint.uuid });
    const list = await api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/replays`);
    expect(list.body).toEqual({ data: [], has_more: false, next_cursor: null });
    expect(sent()).toEqual([]);
  });

  test('ends as cancelled, with the reason, when the endpoint is disabled meanwhile', async () => {
    // Nothing is attempted until the endpoint is disabled, so the replay cannot be through before.
    const many = Array.from({ length: 200 }, (_, n) =>
      eventOf(api.merchantId, `${endpoint.uuid} many ${n}`, { occurredAt: Date.now() - 50_000 }),
    );
    const skip = { endpointId: endpoint.uuid, verdict: 'endpoint_disabled' } as const;
    const entries = many.map((event) => ({ ...routed(event, []), trace: [skip] }));
    await journalOf(api.store, `${endpoint.uuid} many`)(...entries);
    recorded.settle = () => [];
    const answer = await start({ only: 'missing' });
    await eventually('a page of events is published', () => sent().length > 0);
    expect((await start({ only: 'missing' })).body).toMatchObject({
      code: 'replay_running',
      replay_uuid: answer.body.replay_uuid,
    });
    await setStatus('disabled');
    // What is out is cancelled at its attempt, as the sender does; that makes room for the next page.
    const out = sent();
    const entriesOf = out.map((task) => cancelled(task, 'endpoint_disabled'));
    await journalOf(api.store, `${endpoint.uuid} held`)(...entriesOf);
    const done = await ended(answer.headers.get('location'));
    expect(done).toMatchObject({ status: 'cancelled', cancel_reason: 'endpoint_disabled', count: 204 });
    expect(sent().length).toBeLessThan(200);
    expect(done.finished_at).not.toBeNull();
  });

  test('by an operator covers all active endpoints, and skips the others', async () => {
    const disabled = endpoint.uuid;
    await setStatus('disabled');
    const other = await createEndpoint(api);
    endpoint = other;
    const late = eventOf(api.merchantId, other.uuid, { occurredAt: Date.now() - 50_000 });
    const trace = [{ endpointId: other.uuid, verdict: 'endpoint_disabled' }] as const;
    await journalOf(api.store, other.uuid)({ ...routed(late, []), trace });
    const means = { random: systemRandom, environment: 'sandbox' } as const;
    const deps = {
      ...means,
      store: api.store,
      clock: api.clock,
      keyRing: () => api.keyRing,
      actor: { kind: 'operator' } as const,
      withRecordStores: <T>(use: (recordStores: typeof api.broker) => Promise<T>) => use(api.broker),
    };
    const unset = { until: undefined, type: undefined, dryRun: undefined };
    const given = { ...unset, since: SINCE, only: 'missing', merchant: api.merchantId } as const;
    const started = await REPLAY_COMMANDS['replay start'].run(deps, given, undefined);
    const { replayId } = started as { replayId: string };
    const done = await eventually('the replay has ended', async () => {
      const replay = await api.store.replays.get(replayId);
      return replay?.status === 'running' ? null : replay;
    });
    expect(done).toMatchObject({ status: 'completed', published: done.count });
    expect(sent().map(({ eventId }) => eventId)).toEqual([late.eventId]);
    expect(recorded.sent.filter(({ endpointId }) => endpointId === disabled)).toEqual([]);
    // It is the operator's: merchants see its deliveries, not the replay.
    const { body } = await api.call('GET', `${ENDPOINTS}/${other.uuid}/replays`);
    expect(body.data).toEqual([]);
  });

  test('is started once by the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': endpoint.uuid };
    const first = await start({ only: 'missing' }, { headers });
    const again = await start({ only: 'missing' }, { headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    await ended(first.headers.get('location'));
    const { body } = await api.call('GET', `${ENDPOINTS}/${endpoint.uuid}/replays`);
    expect(body.data.map((replay: { replay_uuid: string }) => replay.replay_uuid)).toEqual([
      first.body.replay_uuid,
    ]);
  });
});

describe('a request for a replay', () => {
  test.each([
    [{ only: 'everything' }, 400, 'validation_error'],
    [{}, 400, 'validation_error'],
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
