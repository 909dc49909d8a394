/**
 * The live stream: everything once, resumable after any event, bounded per key, and ended with a reason: a slow reader,
 * a revoked key, a stop, the time.
 */
import { afterEach, expect, test } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import { mismatch } from '../../support/api/openapi-check.ts';
import {
  createEndpoint,
  startTestApi,
  type TestApi,
  type TestApiOptions,
} from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import {
  cancelled,
  delivered,
  eventNumber,
  failed,
  head,
  journalOf,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import { openStream, type StreamEvent, type StreamReader } from '../../support/service/stream-client.ts';

let api: TestApi;
const readers: StreamReader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await api.close();
});

async function start(options: TestApiOptions = {}) {
  api = await startTestApi(options);
  return { apply: journalOf(api.store), one: (await createEndpoint(api)).uuid as string };
}

async function open(options: Parameters<typeof openStream>[2] = {}, key = api.keys.own) {
  const reader = await openStream(api.api.url, key, options);
  readers.push(reader);
  return reader;
}

const names = (events: readonly StreamEvent[]) => events.map(({ event }) => event);
const has = (reader: StreamReader, count: number) =>
  eventually(`${count} events came`, async () => reader.events.length >= count);
/** Reads what there is after an id. */
async function rest(lastEventId: string): Promise<readonly StreamEvent[]> {
  const reader = await open({ lastEventId, query: '?seconds=0' });
  await reader.over;
  return reader.events;
}

const SCHEMAS: Readonly<Record<string, string>> = {
  routed: 'StreamRouted',
  skipped: 'StreamSkipped',
  attempt: 'StreamAttempt',
  cancelled: 'StreamCancelled',
  endpoint_changed: 'StreamEndpointChanged',
  gap: 'StreamGap',
  end: 'StreamEnd',
};

test('sends what happens, live and as described, and only to the merchant it concerns', async () => {
  const { apply, one } = await start();
  const reader = await open();
  const foreign = await open({}, api.keys.foreign);
  const [event, other] = [eventNumber(api.merchantId, 1), eventNumber(api.merchantId, 2)];
  const two = (await createEndpoint(api)).uuid;
  await apply(routed(event, [one], [two]), failed(head(event, one)));
  await apply(routed(other, [two]), cancelled(head(other, two)));
  await apply(delivered({ ...head(event, one), attempt: 2 }));
  await has(reader, 7);
  expect(names(reader.events)).toEqual([
    'endpoint_changed',
    'routed',
    'skipped',
    'attempt',
    'routed',
    'cancelled',
    'attempt',
  ]);
  for (const { event: name, data } of reader.events)
    expect([name, mismatch(`/components/schemas/${SCHEMAS[name]}`, data)]).toEqual([name, undefined]);
  expect(reader.events[0]?.data).toMatchObject({ endpoint_uuid: two, change: 'created', status: null });
  expect(reader.events[2]?.data).toMatchObject({ endpoint_uuid: two, reason: 'filtered' });
  expect(reader.events[6]?.data).toMatchObject({
    delivery_uuid: deliveryId(event.eventId, one),
    attempt: 2,
    outcome: 'delivered',
    response_status: 200,
  });
  expect(foreign.events).toEqual([]);
});

test('resumes after any event, and after the opening, in this process or the next', async () => {
  const { apply, one } = await start();
  const reader = await open();
  await eventually('the stream is open', async () => reader.lastEventId !== undefined);
  const beginning = reader.lastEventId ?? '';
  for (let n = 0; n < 4; n += 1) {
    const event = eventNumber(api.merchantId, n);
    await apply(routed(event, [one], [crypto.randomUUID()]), delivered(head(event, one)));
  }
  await has(reader, 12);
  const whole = reader.events.slice(0, 12);
  for (const [index, id] of [beginning, ...whole.map(({ id }) => id ?? '')].entries()) {
    const found = await rest(id);
    expect(found.slice(0, -1)).toEqual(whole.slice(index));
    expect(found.at(-1)).toEqual({ id: undefined, event: 'end', data: { reason: 'time_is_up' } });
  }
});

test('cuts a slow reader off with the reason, and it resumes without loss or repeat', async () => {
  const { apply, one } = await start({ limits: { streamStallMs: 300, stopGraceMs: 60_000 } });
  const slow = await open();
  await eventually('the stream is open', async () => slow.lastEventId !== undefined);
  const beginning = slow.lastEventId ?? '';
  slow.pause();
  // More than the buffers of both ends of the connection take.
  const batches = 30;
  const perBatch = 1000;
  for (let batch = 0; batch < batches; batch += 1) {
    const events = Array.from({ length: perBatch }, (_, n) =>
      eventNumber(api.merchantId, batch * perBatch + n, { occurredAt: START }),
    );
    await apply(...events.map((event) => routed(event, [one])));
  }
  await eventually('the stream is cut off', async () =>
    api.logged.some((line) => line.includes('"stream_ended"') && line.includes('"too_slow"')),
  );
  slow.resume();
  await slow.over;
  expect(slow.events.at(-1)).toEqual({ id: undefined, event: 'end', data: { reason: 'too_slow' } });
  const got = slow.events.filter(({ event }) => event === 'routed');
  expect(got.length).toBeLessThan(batches * perBatch);
  const after = (await rest(slow.lastEventId ?? beginning)).filter(({ event }) => event === 'routed');
  const ids = [...got, ...after].map(({ data }) => data.event_uuid);
  expect(ids).toHaveLength(batches * perBatch);
  expect(new Set(ids).size).toBe(batches * perBatch);
}, 120_000);

test('ends when its key is revoked, also when nothing happens', async () => {
  await start({ limits: { streamHeartbeatMs: 1100 } });
  const reader = await open();
  await api.store.keys.revoke(api.keyIds.own, api.clock.wall());
  await reader.over;
  expect(reader.events).toEqual([{ id: undefined, event: 'end', data: { reason: 'key_revoked' } }]);
  expect((await openStream(api.api.url, api.keys.own)).status).toBe(401);
});

test('sends comments while nothing happens, and ends after the seconds asked for', async () => {
  await start({ limits: { streamHeartbeatMs: 100 } });
  const reader = await open({ query: '?seconds=1' });
  await reader.over;
  expect(reader.comments).toContain('heartbeat');
  expect(reader.events).toEqual([{ id: undefined, event: 'end', data: { reason: 'time_is_up' } }]);
});

test('ends with the reason when the process stops', async () => {
  await start();
  const reader = await open();
  await eventually('the stream is open', async () => reader.lastEventId !== undefined);
  await api.api.stop();
  await reader.over;
  expect(reader.events.at(-1)?.data).toEqual({ reason: 'shutting_down' });
});

test('tells of a gap where retention has deleted, and goes on with what is kept', async () => {
  const { apply, one } = await start();
  const events = [0, 1, 2, 100].map((n) => eventNumber(api.merchantId, n));
  await apply(...events.map((event) => routed(event, [one])));
  await api.store.feed.retain((events[3]?.occurredAt ?? 0) - 1, 100);
  const found = await rest('0');
  expect(found.map(({ event, data }) => data.reason ?? event)).toEqual(['retention', 'routed', 'time_is_up']);
  expect(found[1]?.data.event_uuid).toBe(events[3]?.eventId);
  const restored = await rest('4000000');
  expect(restored.map(({ data }) => data.reason)).toEqual(['restored', 'time_is_up']);
});

test('refuses a Last-Event-ID that is none of its ids', async () => {
  await start();
  for (const id of ['yesterday', '1.2.3', 'a b']) {
    const answer = await api.call('GET', '/merchant/stream?seconds=0', { headers: { 'last-event-id': id } });
    expect([id, answer.status, answer.body.errors?.[0]?.pointer]).toEqual([
      id,
      400,
      '/headers/last-event-id',
    ]);
  }
});

test('answers HEAD without a body, and leaves no stream open', async () => {
  await start({ streamsPerKey: 1 });
  for (let n = 0; n < 3; n += 1) {
    const headers = { authorization: `API-Key ${api.keys.own}` };
    const answer = await fetch(`${api.api.url}/merchant/stream`, { method: 'HEAD', headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  }
});
