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
  test('with `all` sends also what arrived, with one attempt and the same event, and nothing that is on its way', async () => {
    const under = eventOf(api.merchantId, `${endpoint.uuid} under way`, { occurredAt: Date.now() - 60_000 });
    const never = eventOf(api.merchantId, `${endpoint.uuid} never`, { occurredAt: Date.now() - 60_000 });
    await journalOf(api.store, `${endpoint.uuid} more`)(routed(under, [endpoint.uuid]), routed(never, []));
    const names = [...events, under, never].map(({ eventId }) => eventId);
    const counted = await start({ only: 'all', event_uuids: names, dry_run: true });
    expect(counted.body).toMatchObject({
      count: 7,
      by_type: { KYC: 1, fiatToCrypto: 6 },
      by_reason: { asked: 7 },
    });
    const answer = await start({ only: 'all', event_uuids: names });
    expect(await ended(answer.headers.get('location'))).toMatchObject({ published: 6, event_uuids: names });
    const tasks = sent();
    expect(tasks.map(({ eventId }) => eventId)).toEqual(names.filter((name) => name !== under.eventId));
    const [a, , , , e] = events as [DomainEvent, DomainEvent, DomainEvent, DomainEvent, DomainEvent];
    const taskOf = ({ eventId }: DomainEvent) => tasks.find((task) => task.eventId === eventId);
    // A delivery that arrived is sent with a new id and one attempt; one never sent keeps its id and has the whole schedule.
    expect(taskOf(e)).toMatchObject({ attemptsMax: 1, trigger: 'replay' });
    expect(taskOf(e)?.deliveryId).not.toBe(deliveryId(e.eventId, endpoint.uuid));
    for (const event of [a, never])
      expect(taskOf(event)).toMatchObject({
        attemptsMax: 7,
        deliveryId: deliveryId(event.eventId, endpoint.uuid),
      });
    // Again: everything has arrived, and is sent once more.
    const again = await start({ only: 'all', event_uuids: names });
    expect(await ended(again.headers.get('location'))).toMatchObject({ published: 6 });
    expect(
      sent()
        .slice(6)
        .every(({ attemptsMax }) => attemptsMax === 1),
    ).toBe(true);
  });

  test('of a transaction sends its events, oldest first', async () => {
    const about = events[0]?.data.transactionUuid;
    const answer = await start({ only: 'all', subject_uuid: about, since: undefined });
    expect(await ended(answer.headers.get('location'))).toMatchObject({ published: 1 });
    expect(sent().map(({ eventId }) => eventId)).toEqual([events[0]?.eventId]);
    const nothing = await start({ only: 'all', subject_uuid: 'unknown', dry_run: true });
    expect(nothing.body).toMatchObject({ count: 0, by_type: {}, event_uuids: [] });
  });

  test('is begun by the request that enables the endpoint, from a time on', async () => {
    await setStatus('disabled');
    const change = (json: object) => api.call('PATCH', `${ENDPOINTS}/${endpoint.uuid}`, { json });
    expect(await change({ replay_since: SINCE })).toMatchObject({ status: 409 });
    const { body } = await change({ status: 'active', replay_since: SINCE });
    expect(body).toMatchObject({ status: 'active', replay_uuid: expect.any(String) });
    expect(body).not.toHaveProperty('hint');
    const location = `${ENDPOINTS}/${endpoint.uuid}/replays/${body.replay_uuid}`;
    expect(await ended(location)).toMatchObject({ only: 'missing', published: 4 });
  });

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
    expect(answer.body).toMatchObject({
      dry_run: true,
      count: 4,
      by_reason: { skipped: 2, exhausted: 1, cancelled: 1 },
      endpoint_uuid: endpoint.uuid,
    });
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
    const means = { random: systemRandom, environment: 'sandbox', consoleUrl: null } as const;
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
