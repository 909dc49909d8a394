/**
 * The places of streams: a new stream of a key ends its oldest, clients beyond the limit do not fight, an address has a
 * share, and a place is free as soon as its client has left.
 */
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import {
  createEndpoint,
  startTestApi,
  type TestApi,
  type TestApiOptions,
} from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { openStream, type StreamReader } from '../../support/service/stream-client.ts';

let api: TestApi;
const readers: StreamReader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await api.close();
});

async function start(options: TestApiOptions = {}): Promise<void> {
  api = await startTestApi(options);
}

async function open(options: Parameters<typeof openStream>[2] = {}, key = api.keys.own) {
  const reader = await openStream(api.api.url, key, options);
  readers.push(reader);
  return reader;
}

async function openAll(count: number, options: Parameters<typeof openStream>[2] = {}) {
  const opened: StreamReader[] = [];
  for (let n = 0; n < count; n += 1) opened.push(await open(options));
  return opened.map(({ status }) => status);
}

async function streams(): Promise<number> {
  const metric = await api.registry.getSingleMetric('hookrail_api_streams')?.get();
  return metric?.values[0]?.value ?? Number.NaN;
}

const lists = () => api.call('GET', '/merchant/webhook-endpoints');

test('a new stream of a key ends its oldest, which learns why and waits a minute', async () => {
  await start({ streamsPerKey: 2 });
  const [first, second] = [await open(), await open()];
  await eventually('the first stream is open', () => first.lastEventId !== undefined);
  expect(first.retryMs).toBe(1000);
  const third = await open();
  expect(third.status).toBe(200);
  await first.over;
  expect(first.events).toEqual([{ id: undefined, event: 'end', data: { reason: 'replaced' } }]);
  expect(first.retryMs).toBe(60_000);
  const foreign = await open({}, api.keys.foreign);
  await createEndpoint(api);
  for (const reader of [second, third])
    await eventually('the others go on', () =>
      reader.events.some(({ event }) => event === 'endpoint_changed'),
    );
  expect(foreign.events).toEqual([]);
  expect(await streams()).toBe(3);
});

test('a stream that was ended for another one resumes without loss or repeat', async () => {
  await start({ streamsPerKey: 1 });
  const first = await open();
  await eventually('the first stream is open', () => first.lastEventId !== undefined);
  const second = await open();
  await first.over;
  const { uuid } = await createEndpoint(api);
  await eventually('the second has it', () => second.events.length === 1);
  const again = await open({ lastEventId: first.lastEventId ?? '', query: '?seconds=0' });
  await again.over;
  expect(again.events.map(({ event, data }) => data.endpoint_uuid ?? event)).toEqual([uuid, 'end']);
  await second.over;
});

test('clients that come back at once do not end one another for ever', async () => {
  await start({ streamsPerKey: 1 });
  const statuses = await openAll(11);
  expect(statuses).toEqual(Array(11).fill(200));
  const refused = await api.call('GET', '/merchant/stream');
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_streams']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(6);
  expect((await open({}, api.keys.foreign)).status).toBe(200);
  readers[10]?.close();
  await eventually('the place of the one that left is free', async () => (await streams()) === 1);
  expect((await open()).status).toBe(200);
});

test('a key that opens streams at the same time keeps its newest', async () => {
  await start({ streamsPerKey: 3 });
  await Promise.all(Array.from({ length: 9 }, () => open()));
  await eventually('three are left', async () => (await streams()) === 3);
  await eventually('six were told', () => readers.flatMap(({ events }) => events).length === 6);
});

test('HEAD takes the place of no stream', async () => {
  await start({ streamsPerKey: 1 });
  const reader = await open();
  const headers = { authorization: `API-Key ${api.keys.own}` };
  for (let n = 0; n < 3; n += 1)
    expect((await fetch(`${api.api.url}/merchant/stream`, { method: 'HEAD', headers })).status).toBe(200);
  await createEndpoint(api);
  await eventually('the stream goes on', () => reader.events.length === 1);
  const wrong = { ...headers, 'last-event-id': 'yesterday' };
  expect((await fetch(`${api.api.url}/merchant/stream`, { method: 'HEAD', headers: wrong })).status).toBe(
    400,
  );
});

test('an address has half of its connections for streams, and its other requests are answered', async () => {
  // A quarter of them is an address's share, but at least 16.
  await start({ streamsPerKey: 1000, limits: { connectionsMax: 64 } });
  expect(await openAll(8)).toEqual(Array(8).fill(200));
  for (let n = 0; n < 20; n += 1) {
    const refused = await open({}, api.keys.foreign);
    expect(refused.status).toBe(429);
  }
  expect((await lists()).status).toBe(200);
  expect((await open({ localAddress: '127.0.0.2' })).status).toBe(200);
  const said = api.logged.filter((line) => line.includes('streams_of_address_full'));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('HOOKRAIL_TRUSTED_PROXIES');
  readers[0]?.close();
  await eventually('there is room again', async () => (await open()).status === 200);
});

test('an address that is full can still replace a stream of its own', async () => {
  await start({ streamsPerKey: 8, limits: { connectionsMax: 64 } });
  expect(await openAll(9)).toEqual(Array(9).fill(200));
  await readers[0]?.over;
  // One from elsewhere would leave with the place of another address.
  expect((await open({ localAddress: '127.0.0.2' })).status).toBe(200);
  expect(await streams()).toBe(8);
});

test('a trusted proxy is exempt, and the clients behind it have their own shares', async () => {
  await start({ streamsPerKey: 1000, trustedProxies: ['127.0.0.0/30'], limits: { connectionsMax: 128 } });
  const behind = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  expect(await openAll(16, behind('198.51.100.7'))).toEqual(Array(16).fill(200));
  expect((await open(behind('198.51.100.7'))).status).toBe(429);
  expect((await open(behind('203.0.113.9, 198.51.100.7'))).status).toBe(429);
  expect((await open(behind('198.51.100.8'))).status).toBe(200);
  // The share of an address is 32 connections, 16 of them streams.
  expect(await openAll(40)).toEqual(Array(40).fill(200));
  expect((await lists()).status).toBe(200);
  const direct = { localAddress: '127.0.0.9', ...behind('192.0.2.1') };
  expect(await openAll(7, direct)).toEqual(Array(7).fill(200));
  // Half of all connections may be streams.
  const full = await open(behind('192.0.2.2'));
  expect(full.status).toBe(503);
});

test('streams that were asked for at once on one connection leave no place behind', async () => {
  await start({ streamsPerKey: 2 });
  const { port } = new URL(api.api.url);
  const head = `GET /merchant/stream HTTP/1.1\r\nHost: x\r\nAuthorization: API-Key ${api.keys.own}\r\n\r\n`;
  for (const count of [1, 2, 5]) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}).resume();
    socket.write(head.repeat(count));
    await eventually('a place is taken', async () => (await streams()) > 0);
    socket.destroy();
    await eventually('no place is taken', async () => (await streams()) === 0);
  }
});
