/**
 * When the broker or the store does not answer, the API answers 503 and says when to try again. A committed change
 * stays, and takes effect as soon as the broker is back.
 */
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { Directory } from '../../services/domain/directory.ts';
import { PublishedChanges } from '../../services/relay/published-changes.ts';
import { Relay } from '../../services/relay/relay.ts';
import { StoreUnavailable } from '../../services/store/store.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../support/api/test-api.ts';
import { eventually } from '../support/eventually.ts';
import { jsonEventOf } from '../support/records/events.ts';

let api: TestApi;
let uuid: string;
beforeEach(async () => {
  api = await startTestApi({ limits: { publishedWaitMs: 300 } });
  ({ uuid } = await createEndpoint(api));
  // What creating left in the outbox is on the stream before the broker goes away.
  await api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json: { description: 'before' } });
});
afterEach(() => api.close());

test('update, rotate and delete without a broker are committed and reported as pending', async () => {
  await api.broker.close();
  const path = `${ENDPOINTS}/${uuid}`;
  for (const [method, at, json] of [
    ['PATCH', path, { status: 'disabled' }],
    ['PATCH', `${path}/secret`, {}],
    ['DELETE', path, undefined],
  ] as const) {
    const answer = await api.call(method, at, json === undefined ? {} : { json });
    expect([answer.status, answer.body.code]).toEqual([503, 'change_committed_pending']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await api.call('GET', path)).status).toBe(404);
});

test('creating an endpoint does not need the broker', async () => {
  await api.broker.close();
  expect((await createEndpoint(api)).status).toBe('active');
});

test('the Idempotency-Key of a waiting rotation is in progress, and later gets the answer', async () => {
  await api.broker.close();
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const rotate = () => api.call('PATCH', `${ENDPOINTS}/${uuid}/secret`, { headers });
  const [first, second] = await Promise.all([rotate(), rotate()]);
  const codes = [first.body.code, second.body.code].sort();
  expect(codes).toEqual(['change_committed_pending', 'idempotency_key_in_progress']);
  expect((await rotate()).body.code).toBe('change_committed_pending');
  const { broker, relay, published, directory } = await anotherBroker();
  try {
    const pending = await api.store.outbox.pending(10);
    await published.published(pending.at(-1)?.outboxId ?? 0, 20_000);
    const answer = await rotate();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    const onStream = directory.endpoint(uuid);
    expect(onStream && api.keyRing.open(onStream.secret, uuid)).toBe(answer.body.signing_secret);
  } finally {
    await relay.stop();
    await broker.close();
  }
});

test('a change that the store cannot make says what became of it', async () => {
  const told = async (state: StoreUnavailable['state']) => {
    const update = () => Promise.reject(new StoreUnavailable('of the server', { state }));
    Object.assign(api.store.endpoints, { update });
    const answer = await api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json: { status: 'disabled' } });
    expect([answer.status, answer.body.code]).toEqual([503, 'temporarily_unavailable']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    return `${answer.body.detail}`;
  };
  expect(await told('unknown')).toMatch(/whether it was saved is not known.*Idempotency-Key/);
  expect(await told('reconciling')).toMatch(/nothing was saved/);
  expect(await told('away')).toMatch(/may or may not have been saved/);
});

/** A broker that is there again, and a relay that brings it what waited. */
async function anotherBroker() {
  const file = join(await mkdtemp(join(tmpdir(), 'hookrail-relay-')), 'broker.db');
  const broker = await openSqliteBroker({ file, clock: api.clock, retryScale: 1 });
  const directory = new Directory();
  await broker.followDirectory((change) => void directory.apply(change));
  const published = new PublishedChanges(api.store.outbox, api.clock);
  const log = pino({ level: 'silent' });
  const relay = new Relay({ store: api.store, broker, published, clock: api.clock, log });
  return { broker, relay, published, directory };
}

test('events and test webhooks without a broker are answered with 503, as it is unknown whether they were kept', async () => {
  await api.broker.close();
  const json = jsonEventOf(api.merchantId, 'lost');
  const events = await api.call('POST', '/producer/events', { json, key: api.keys.producer });
  expect([events.status, events.body.code]).toEqual([503, 'temporarily_unavailable']);
  expect(Number(events.headers.get('retry-after'))).toBeGreaterThan(0);
  const test = { type: 'KYC', subType: 'FULL_USER', user_uuid: uuid };
  const sent = await api.call('POST', `${ENDPOINTS}/${uuid}/test`, {
    json: test,
    headers: { prefer: 'wait=5' },
  });
  expect([sent.status, sent.body.code]).toEqual([503, 'temporarily_unavailable']);
});

test('without a store every request is answered with 503, and the reason is only in the log', async () => {
  await api.store.close();
  const answer = await api.call('GET', ENDPOINTS);
  expect([answer.status, answer.body.code]).toEqual([503, 'temporarily_unavailable']);
  const line = api.logged.map((text) => JSON.parse(text)).find(({ event }) => event === 'request_failed');
  expect(line).toMatchObject({ error: 'StoreUnavailable', request_id: answer.body.request_id });
});

test('more producer requests at a time than allowed are answered with 503', async () => {
  const narrow = await startTestApi({ limits: { producerInFlightMax: 0 } });
  try {
    const json = jsonEventOf(narrow.merchantId, 'narrow');
    const answer = await narrow.call('POST', '/producer/events', { json, key: narrow.keys.producer });
    expect([answer.status, answer.body.code]).toEqual([503, 'temporarily_unavailable']);
  } finally {
    await narrow.close();
  }
});

test('a start on a port in use fails in one clear line, and leaves nothing behind', async () => {
  await expect(startTestApi({ port: api.api.port })).rejects.toThrow(/is in use.*HOOKRAIL_API_PORT/);
});

test('the API may be stopped twice', async () => {
  await Promise.all([api.api.stop(), api.api.stop()]);
  await expect(fetch(api.api.url)).rejects.toThrow();
});

test('a stop of the API does not wait for a waiting test webhook, nor for a caller who does not read', async () => {
  // Enough for the answer of the waiting test on a busy machine; the deaf caller is cut off after it.
  const waiting = await startTestApi({ limits: { stopGraceMs: 2000 } });
  const endpoint = await createEndpoint(waiting);
  const body = { type: 'KYC', subType: 'FULL_USER', user_uuid: uuid };
  const path = `${ENDPOINTS}/${endpoint.uuid}/test`;
  const answer = waiting.call('POST', path, { json: body, headers: { prefer: 'wait=30' } });
  await eventually('the test webhook is on the stream', () => waiting.broker.status().backlog.tasks > 0);
  const deaf = await unreadAnswers(waiting.api.port);
  await waiting.api.stop();
  expect((await answer).status).toBe(202);
  deaf.destroy();
  await waiting.close();
});

/** A connection that asked for more than the buffers between here and there hold, and reads none of it. */
async function unreadAnswers(port: number) {
  const socket = connect(port, '127.0.0.1')
    .on('error', () => undefined)
    .pause();
  const request = 'GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n';
  await new Promise((resolve) => socket.write(request.repeat(30), resolve));
  return socket;
}
